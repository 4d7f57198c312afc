// SPDX-License-Identifier: Apache-2.0
// Limits: what kernels must keep to for a run to count as good, checked against each counted launch. Counts are exact
// and repeat, so a limit never fails by chance; numbers that are estimates are held against nobody unless asked for:
// then the limit is "not checked", and says why.
#pragma once
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gate/allowances.h"
#include "gate/issue.h"
#include "report/metrics.h"
#include "report/run_record.h"

namespace warplens::gate {

enum class LimitKind : uint8_t {
  kSectorsPerRequest,    ///< of each access of each line to global memory
  kExcessiveSectors,     ///< summed over a launch, global memory
  kExcessiveWavefronts,  ///< summed over a launch, shared memory
  kOccupancy,            ///< warps an SM holds, of the most: 0..1
  kLocalBytes,           ///< moved to and from local memory by a launch
  kMetric,               ///< any of report::metrics()
};

struct Limit {
  std::string kernel;  ///< ECMAScript pattern, searched in the mangled and the demangled name; empty: every kernel
  std::string name;    ///< as written: "max_sectors_per_request", or a metric's name
  LimitKind kind = LimitKind::kMetric;
  const report::Metric* metric = nullptr;  ///< of kMetric
  bool minimum = false;                    ///< the number must not be less; else not more
  double bound = 0;
  bool allow_estimates = false;
  std::string file;  ///< where it is written; empty: the command line
  SourcePos pos;
};

/// The names that are not metrics', in order: "max_sectors_per_request", ...
std::span<const std::string_view> limit_names();
/// A limit by name, without its bound: one of limit_names(). Unknown names are told the nearest.
Result<Limit> named_limit(std::string_view name);
/// The limit on a metric, by any name that `warplens metrics` lists.
Result<Limit> metric_limit(std::string_view metric, bool minimum);
/// Refuses bounds that no number can keep or break: below 0, and an occupancy above 1.
Status check_bound(const Limit& limit, double bound);
/// "NAME=NUMBER" of the command line; NAME is one of limit_names(), or "max:" or "min:" with a metric's name.
Result<Limit> parse_limit(std::string_view text);
/// "excessive_sectors = 0", "min launch__registers_per_thread = 2".
std::string limit_text(const Limit& limit);
/// The rule that it breaks when it fails.
std::string_view rule_of(const Limit& limit);

enum class Outcome : uint8_t { kPassed, kFailed, kNotChecked };

/// One limit on one kernel, by the launch that is worst for it.
struct Checked {
  const Limit* limit = nullptr;
  size_t kernel = 0;  ///< into RunRecord::kernels
  Outcome outcome = Outcome::kPassed;
  double value = 0;           ///< of the worst launch; without a meaning when not checked
  std::string launch;         ///< its shape: "grid 16 x 16, block 32 x 32"
  std::string why;            ///< not checked: a sentence's end: "the registers are an estimate"
  std::vector<Issue> issues;  ///< failed: one for each line to blame, worst first, or one without a place
};

struct LimitsReport {
  std::vector<Checked> checked;
  /// Limits whose pattern no counted kernel matched: nothing was checked, which must not pass for good.
  Diagnostics faults;
  bool failed() const;
};

/// `limits` must outlive the result.
LimitsReport check_limits(const report::RunRecord& run, const std::vector<Limit>& limits, Allowances& allowances);

/// The report for a terminal: a line for each limit that failed or was not checked, and one that sums up.
std::string limits_text(const report::RunRecord& run, const LimitsReport& report);

}  // namespace warplens::gate
