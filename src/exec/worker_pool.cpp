// SPDX-License-Identifier: Apache-2.0
#include "exec/worker_pool.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace warplens::exec {
namespace {

/// One kept thread: sleeps until it is given a job.
class Worker {
 public:
  Worker() : thread_([this] { loop(); }) { thread_.detach(); }

  void give(const std::function<void(unsigned)>* work, unsigned index, std::atomic<unsigned>* left) {
    {
      const std::lock_guard lock(mutex_);
      work_ = work;
      index_ = index;
      left_ = left;
    }
    wake_.notify_one();
  }

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  const std::function<void(unsigned)>* work_ = nullptr;
  unsigned index_ = 0;
  std::atomic<unsigned>* left_ = nullptr;
  std::thread thread_;
};

/// Never destroyed: its threads live as long as the process, also while static objects are being destroyed.
struct Pool {
  std::mutex mutex;
  std::vector<Worker*> idle;
  std::condition_variable finished;
};
Pool& pool() {
  static Pool* const p = new Pool;
  return *p;
}

void Worker::loop() {
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return work_ != nullptr; });
    const auto* work = work_;
    work_ = nullptr;
    lock.unlock();
    (*work)(index_);
    const std::lock_guard pool_lock(pool().mutex);
    pool().idle.push_back(this);
    if (left_->fetch_sub(1) == 1) pool().finished.notify_all();
  }
}

}  // namespace

void run_on_workers(unsigned workers, const std::function<void(unsigned)>& work) {
  std::atomic<unsigned> left{workers - 1};
  for (unsigned i = 1; i < workers; ++i) {
    Worker* worker = nullptr;
    {
      const std::lock_guard lock(pool().mutex);
      if (!pool().idle.empty()) {
        worker = pool().idle.back();
        pool().idle.pop_back();
      }
    }
    if (worker == nullptr) worker = new Worker;
    worker->give(&work, i, &left);
  }
  work(0);
  std::unique_lock lock(pool().mutex);
  pool().finished.wait(lock, [&] { return left.load() == 0; });
}

namespace {

/// The one thread that looks at all forwarded signals.
struct Watch {
  std::mutex mutex;
  std::condition_variable wake;
  std::vector<std::pair<const std::atomic<uint32_t>*, std::atomic<uint32_t>*>> signals;
  bool running = false;

  void loop() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return !signals.empty(); });
      for (const auto& [from, to] : signals)
        if (const uint32_t value = from->load(std::memory_order_relaxed); value != 0) {
          uint32_t none = 0;
          to->compare_exchange_strong(none, value);
        }
      wake.wait_for(lock, std::chrono::milliseconds(5));
    }
  }
};
Watch& watch() {
  static Watch* const w = new Watch;
  return *w;
}

}  // namespace

SignalForwarder::SignalForwarder(const std::atomic<uint32_t>* from, std::atomic<uint32_t>* to) : from_(from), to_(to) {
  if (from_ == nullptr) return;
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  if (w.signals.empty()) w.wake.notify_one();
  w.signals.emplace_back(from_, to_);
  if (!w.running) {
    w.running = true;
    std::thread([&w] { w.loop(); }).detach();
  }
}

SignalForwarder::~SignalForwarder() {
  if (from_ == nullptr) return;
  Watch& w = watch();
  const std::lock_guard lock(w.mutex);
  const auto it = std::find(w.signals.begin(), w.signals.end(), std::make_pair(from_, to_));
  if (it != w.signals.end()) w.signals.erase(it);
}

}  // namespace warplens::exec
