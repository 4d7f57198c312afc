// SPDX-License-Identifier: Apache-2.0
#include "report/launch_selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/kernel_name.h"

namespace warplens::report {

LaunchSelection::LaunchSelection(const SessionFile& options)
    : obeys_profiler_(!options.profile_from_start), skip_(options.launch_skip), count_(options.launch_count) {
  const auto read = [this](const std::string& pattern, std::optional<std::regex>& to) {
    if (pattern.empty()) return;
    if (check_pattern(pattern))
      to.emplace(pattern);
    else
      nothing_ = true;
  };
  read(options.kernel_regex, pattern_);
  read(options.nvtx_regex, range_pattern_);
}

Status LaunchSelection::check_pattern(const std::string& pattern) {
  try {  // std::regex has no other way to refuse
    const std::regex made(pattern);
  } catch (const std::regex_error& error) {
    return make_error(fmt::format("'{}' is not a regular expression: {}", pattern, error.what()));
  }
  return Done{};
}

bool LaunchSelection::select(const std::string& mangled_name, const std::vector<std::string>& open_ranges) {
  if (nothing_ || (obeys_profiler_ && !profiling_)) return false;
  const auto wanted = [this](const std::string& range) { return std::regex_search(range, *range_pattern_); };
  if (range_pattern_ && std::none_of(open_ranges.begin(), open_ranges.end(), wanted)) return false;
  if (pattern_ && !std::regex_search(mangled_name, *pattern_) && !std::regex_search(demangled(mangled_name), *pattern_))
    return false;
  const std::lock_guard lock(mutex_);
  const uint64_t index = matched_++;
  return index >= skip_ && index - skip_ < count_;
}

}  // namespace warplens::report
