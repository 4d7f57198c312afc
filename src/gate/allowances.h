// SPDX-License-Identifier: Apache-2.0
// Exceptions that the source itself makes, where a reviewer sees them:
//
//   out[i * n] = x;  // warplens: allow(excessive-sectors) the reader needs columns
//
// The comment stands on the line it speaks of, or alone on a line before it. It names one or more rules and must give a
// reason. What it allows is still counted and shown, but no limit counts it. One that allows nothing is reported, as it
// would otherwise outlive what it was for.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gate/issue.h"
#include "report/run_record.h"

namespace warplens::gate {

struct Allowance {
  std::vector<std::string_view> rules;  ///< names of rules()
  std::string reason;
  uint32_t at_line = 0, at_column = 0;  ///< of the comment
  uint32_t line = 0;                    ///< that it speaks of
};

/// The allowances in `text`. Faults (an unknown rule, no reason) are appended to `faults` with places in `file`.
std::vector<Allowance> find_allowances(std::string_view text, const std::string& file, Diagnostics& faults);

/// All allowances in the sources of a run's kernels, and which of them something was allowed by.
class Allowances {
 public:
  explicit Allowances(const report::RunRecord& run);
  /// The reason that allows `rule` at a line, or null. It counts as used.
  const std::string* find(std::string_view rule, const std::string& file, uint32_t line);
  bool any() const;
  const Diagnostics& faults() const { return faults_; }
  /// Those of the rules `judged` at lines that ran in a launch that was counted to its end, and that find() never gave.
  /// Warnings, in order. Of a limit that is not set, or a baseline that is not given, nothing can be said.
  std::vector<Issue> unused(const std::set<std::string_view>& judged) const;

 private:
  struct Entry {
    Allowance allowance;
    std::set<std::string_view> used;
  };
  /// Lines of which a launch that was counted to its end executed an instruction.
  const std::set<std::pair<std::string, uint32_t>>& executed() const;

  const report::RunRecord& run_;
  std::map<std::string, std::deque<Entry>> by_file_;
  Diagnostics faults_;
  mutable std::optional<std::set<std::pair<std::string, uint32_t>>> executed_;  ///< made when first asked for
};

}  // namespace warplens::gate
