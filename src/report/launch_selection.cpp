// SPDX-License-Identifier: Apache-2.0
#include "report/launch_selection.h"

#include <fmt/format.h>

#include "report/kernel_name.h"

namespace warplens::report {

LaunchSelection::LaunchSelection(const SessionFile& options)
    : skip_(options.launch_skip), count_(options.launch_count) {
  if (options.kernel_regex.empty()) return;
  nothing_ = !check_pattern(options.kernel_regex);
  if (!nothing_) pattern_.emplace(options.kernel_regex);
}

Status LaunchSelection::check_pattern(const std::string& pattern) {
  try {  // std::regex has no other way to refuse
    const std::regex made(pattern);
  } catch (const std::regex_error& error) {
    return make_error(fmt::format("'{}' is not a regular expression: {}", pattern, error.what()));
  }
  return Done{};
}

bool LaunchSelection::select(const std::string& mangled_name) {
  if (nothing_) return false;
  if (pattern_ && !std::regex_search(mangled_name, *pattern_) && !std::regex_search(demangled(mangled_name), *pattern_))
    return false;
  const std::lock_guard lock(mutex_);
  const uint64_t index = matched_++;
  return index >= skip_ && index - skip_ < count_;
}

}  // namespace warplens::report
