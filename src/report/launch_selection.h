// SPDX-License-Identifier: Apache-2.0
// Which launches are counted: --kernel, --launch-skip and --launch-count. The same for launches of a program and of a
// bare kernel.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <regex>
#include <string>

#include "base/result.h"
#include "report/session_file.h"

namespace warplens::report {

class LaunchSelection {
 public:
  /// A pattern that check_pattern() refuses selects nothing.
  explicit LaunchSelection(const SessionFile& options);
  /// Fails for what is no regular expression.
  static Status check_pattern(const std::string& pattern);
  /// Whether this launch is to be counted. Called once a launch, in the order of launches, from any thread.
  bool select(const std::string& mangled_name);

 private:
  std::optional<std::regex> pattern_;
  bool nothing_ = false;
  uint64_t skip_ = 0, count_ = 0;
  std::mutex mutex_;
  uint64_t matched_ = 0;
};

}  // namespace warplens::report
