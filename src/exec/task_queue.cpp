// SPDX-License-Identifier: Apache-2.0
#include "exec/task_queue.h"

#include <algorithm>

namespace warplens::exec {

TaskQueue::~TaskQueue() {
  {
    const std::lock_guard lock(mutex_);
    tasks_.clear();
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void TaskQueue::push(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    const size_t most = std::max(1u, std::thread::hardware_concurrency());
    if (threads_.size() < most && running_ + tasks_.size() > threads_.size()) threads_.emplace_back([this] { loop(); });
  }
  changed_.notify_all();
}

void TaskQueue::finish() {
  std::unique_lock lock(mutex_);
  tasks_.clear();
  changed_.wait(lock, [this] { return running_ == 0; });
}

void TaskQueue::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
    if (ends_) return;
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    ++running_;
    lock.unlock();
    task();
    lock.lock();
    --running_;
    changed_.notify_all();
  }
}

}  // namespace warplens::exec
