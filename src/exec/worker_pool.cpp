// SPDX-License-Identifier: Apache-2.0
#include "exec/worker_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace warplens::exec {
namespace {

/// Waits for what comes soon without sleeping: to be woken takes 75 us on a virtual machine, as long as the last blocks
/// of a launch, or as the program between two launches.
template <class Condition>
void watch(const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  while (!condition() && std::chrono::steady_clock::now() < until) {
  }
}

/// Cores for a launch's workers, each another than the calling thread's. Linux may wake a thread on the core of the one
/// that wakes it, which is busy, and take milliseconds to move it (measured on a virtual machine: in a third of cases).
class Cores {
 public:
  Cores() {
    CPU_ZERO(&allowed_);
    known_ = sched_getaffinity(0, sizeof allowed_, &allowed_) == 0 && CPU_COUNT(&allowed_) > 1;
    here_ = sched_getcpu();
  }
  bool known() const { return known_ && here_ >= 0; }
  const cpu_set_t& allowed() const { return allowed_; }
  /// The `index`-th allowed one behind the caller's, round and round.
  cpu_set_t behind(unsigned index) const {
    int core = here_;
    for (unsigned left = (index - 1) % static_cast<unsigned>(CPU_COUNT(&allowed_)) + 1; left != 0;) {
      core = (core + 1) % CPU_SETSIZE;
      left -= CPU_ISSET(core, &allowed_) ? 1 : 0;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return one;
  }

 private:
  cpu_set_t allowed_;
  int here_ = -1;
  bool known_ = false;
};

struct Job {
  const std::function<void(unsigned)>* work = nullptr;
  unsigned index = 0;
  std::atomic<unsigned>* left = nullptr;
  const Cores* cores = nullptr;
};

/// One kept thread: sleeps until it is given a job.
class Worker {
 public:
  Worker() : thread_([this] { loop(); }), handle_(thread_.native_handle()) { thread_.detach(); }

  void give(const Job& job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = job;
      given_.store(true, std::memory_order_release);
      placed_ = sleeps_ && job.cores->known();
      if (placed_) {
        const cpu_set_t one = job.cores->behind(job.index);
        pthread_setaffinity_np(handle_, sizeof one, &one);
      }
    }
    wake_.notify_one();
  }

 private:
  void loop();
  Job wait();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> given_{false};        ///< has a job
  bool sleeps_ = false, placed_ = false;  ///< under the mutex
  Job job_;
  std::thread thread_;
  pthread_t handle_;
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

Job Worker::wait() {
  watch([this] { return given_.load(std::memory_order_acquire); });
  std::unique_lock lock(mutex_);
  sleeps_ = true;
  wake_.wait(lock, [this] { return given_.load(std::memory_order_relaxed); });
  sleeps_ = false;
  given_.store(false, std::memory_order_relaxed);
  // It was told where to begin, and may go where it likes from there.
  if (placed_) pthread_setaffinity_np(pthread_self(), sizeof(cpu_set_t), &job_.cores->allowed());
  return job_;
}

void Worker::loop() {
  for (;;) {
    const Job job = wait();
    (*job.work)(job.index);
    const std::lock_guard lock(pool().mutex);
    pool().idle.push_back(this);
    if (job.left->fetch_sub(1) == 1) pool().finished.notify_all();
  }
}

}  // namespace

void run_on_workers(unsigned workers, const std::function<void(unsigned)>& work) {
  if (workers == 1) return work(0);
  std::atomic<unsigned> left{workers - 1};
  const Cores cores;
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
    worker->give({&work, i, &left, &cores});
  }
  work(0);
  watch([&] { return left.load(std::memory_order_acquire) == 0; });
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
