// SPDX-License-Identifier: Apache-2.0
// What we count under the names that profilers give it: Nsight Compute's, and as aliases nvprof's and those of older
// Nsight Compute. `warplens metrics` lists the table; --csv writes a column for each. Definitions are our own words for
// what we count; whether a number equals the hardware's is said for each (docs/metrics.md).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/run_record.h"
#include "report/traffic.h"

namespace warplens::report {

/// A launch, or several added up, as metrics look at it.
struct MetricInput {
  LaunchShape shape;
  std::optional<LaunchOccupancy> occupancy;
  uint64_t counted_blocks = 0;  ///< fewer than there are: counts are scaled from a sample
  uint64_t instructions = 0, thread_instructions = 0;
  Traffic by[kMemories][4];  ///< by memory and events::Access
  Traffic of(Memory m, events::Access a) const { return by[static_cast<int>(m)][static_cast<int>(a)]; }
  Traffic all(Memory m) const;
};
/// `launch` must have counts.
MetricInput metric_input(const KernelRecord& kernel, const LaunchRecord& launch);

struct Metric {
  std::string_view name, unit, definition;
  bool estimate = false;  ///< modelled, or not shown equal to the hardware's yet
  std::vector<std::string_view> aliases;
  /// Nothing: the launch has no such number (a ratio without requests, no occupancy known).
  std::optional<double> (*value)(const MetricInput&) = nullptr;
};

/// All, by name.
std::span<const Metric> metrics();
/// By name or alias, with or without ".sum"; null: there is none.
const Metric* find_metric(std::string_view name);
/// The metrics that a comma-separated list names; an unknown one is told the nearest.
Result<std::vector<const Metric*>> metric_list(std::string_view names);

}  // namespace warplens::report
