// SPDX-License-Identifier: Apache-2.0
// A program launches the same kernel hundreds of times; the report shows launches of one kernel and one shape as one
// row with their number and sums, and the smallest and largest of the headline figures. Launches that were not counted,
// or did not run to their end, or were counted by a sample of their blocks, stay apart so that sums mean what they say.
#pragma once
#include <optional>
#include <vector>

#include "report/run_record.h"
#include "report/traffic.h"

namespace warplens::report {

enum class Folding { kByShape, kNone };

struct Spread {
  double min = 0, max = 0, sum = 0;
};

struct FoldedLaunch {
  size_t kernel = 0;
  LaunchShape shape;
  uint64_t first_id = 0, launches = 0, param_bytes = 0;
  bool counted = false, complete = false;
  std::optional<LaunchOccupancy> occupancy;       ///< of the first launch
  Spread seconds, requests, sectors, wavefronts;  ///< requests and sectors of global memory, wavefronts of shared
  events::LaunchCounts counts;                    ///< summed
  std::optional<events::LaunchSample> sample;     ///< summed; none: every block was counted
  const events::LaunchSample* sampled() const { return sample ? &*sample : nullptr; }
  Totals totals;  ///< of the sums
  std::vector<events::Finding> findings;
};

/// Groups in order of first launch.
std::vector<FoldedLaunch> fold(const RunRecord& run, Folding folding);
/// Indices of `groups`, worst first: sectors and passes that better addresses would save, then sectors moved.
std::vector<size_t> worst_first(const std::vector<FoldedLaunch>& groups);

}  // namespace warplens::report
