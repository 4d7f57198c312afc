// SPDX-License-Identifier: Apache-2.0
// Threads that run blocks. They are kept between launches, because small launches are frequent; a launch takes as many
// as it asks for, and launches that run at the same time get different threads.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>

namespace warplens::exec {

/// Calls work(worker) for every worker in [0, workers), worker 0 on the calling thread, the others on kept threads (one
/// that has ended may serve the next); returns when all have returned. They begin on other cores than the caller's
/// where it may use several, and may move wherever it may.
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
