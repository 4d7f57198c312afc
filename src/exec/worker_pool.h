// SPDX-License-Identifier: Apache-2.0
// Threads that run blocks. They are kept between launches, because small launches are frequent; a launch takes as many
// as it asks for, and launches that run at the same time get different threads.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>

namespace warplens::exec {

/// Calls work(worker) for every worker in [0, workers), each on its own thread, worker 0 on the calling thread; returns
/// when all have returned.
void run_on_workers(unsigned workers, const std::function<void(unsigned)>& work);

/// While it lives, copies a change of `from` (0 to something) to `to`, within some milliseconds.
class SignalForwarder {
 public:
  SignalForwarder(const std::atomic<uint32_t>* from, std::atomic<uint32_t>* to);
  ~SignalForwarder();
  SignalForwarder(const SignalForwarder&) = delete;
  SignalForwarder& operator=(const SignalForwarder&) = delete;

 private:
  const std::atomic<uint32_t>* from_;
  std::atomic<uint32_t>* to_;
};

}  // namespace warplens::exec
