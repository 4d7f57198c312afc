// SPDX-License-Identifier: Apache-2.0
// Work that may be done early on other threads, and may as well never be done: code for launches that wait in their
// streams. At most one thread a core, started when there is work for it.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace warplens::exec {

class TaskQueue {
 public:
  TaskQueue() = default;
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;
  void push(std::function<void()> task);
  /// Forgets the tasks that have not begun and waits for the others. More may be pushed afterwards.
  void finish();

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  size_t running_ = 0;
  bool ends_ = false;
};

}  // namespace warplens::exec
