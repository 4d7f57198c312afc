// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM while a kernel runs: the launch is asked to end, what it counted so far is recorded, and the
// process then ends by the same signal. With no kernel running the signal does what it would do without us. A handler
// that the program installed itself before its first launch is called; only a second signal interrupts the kernel then.
// A SIGTERM sent by sigqueue(3) with value 2 means a time limit: the launch ends as a timeout.
#pragma once
#include <atomic>
#include <cstdint>

namespace warplens::cuda {

/// Lives while a launch runs.
class RunningLaunch {
 public:
  RunningLaunch();
  ~RunningLaunch();
  RunningLaunch(const RunningLaunch&) = delete;
  RunningLaunch& operator=(const RunningLaunch&) = delete;
  /// 1: interrupted, 2: timeout (exec::LaunchRequest::interrupt).
  const std::atomic<uint32_t>* flag() const;
};

/// Ends the process by the signal that interrupted the launch, with the signal's default action; returns when there
/// was none.
void end_by_signal();

}  // namespace warplens::cuda
