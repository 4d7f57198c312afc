// SPDX-License-Identifier: Apache-2.0
// Which launches are counted: --profile-from-start, --nvtx, --kernel, --launch-skip and --launch-count, in this order:
// what an earlier one leaves out is not numbered by the later ones. The same for launches of a program and of a bare
// kernel.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/session_file.h"

namespace warplens::report {

class LaunchSelection {
 public:
  /// A pattern that check_pattern() refuses selects nothing.
  explicit LaunchSelection(const SessionFile& options);
  /// Fails for what is no regular expression.
  static Status check_pattern(const std::string& pattern);
  /// Whether ranges matter, so that the caller has to say which are open.
  bool wants_ranges() const { return range_pattern_.has_value(); }
  /// cudaProfilerStart and cudaProfilerStop.
  void set_profiling(bool on) { profiling_ = on; }
  /// Whether this launch is to be counted, with the names of the ranges that are open. Called once a launch, in the
  /// order of launches, from any thread.
  bool select(const std::string& mangled_name, const std::vector<std::string>& open_ranges = {});

 private:
  bool obeys_profiler_ = false;
  std::atomic<bool> profiling_{false};
  std::optional<std::regex> pattern_, range_pattern_;
  bool nothing_ = false;
  uint64_t skip_ = 0, count_ = 0;
  std::mutex mutex_;
  uint64_t matched_ = 0;
};

}  // namespace warplens::report
