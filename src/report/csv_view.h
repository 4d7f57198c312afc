// SPDX-License-Identifier: Apache-2.0
// A table for other programs, in the layout of `ncu --csv --page raw`: a line of column names, a line of units, and a
// line for each launch that was counted; every cell in quotes. Scripts that read the profiler's table read this one.
#pragma once
#include <string>
#include <vector>

#include "report/metrics.h"

namespace warplens::report {

/// `columns`: what to write; empty: all metrics. Numbers have no thousands separators; a number that a launch does not
/// have is an empty cell.
std::string csv_text(const RunRecord& run, const std::vector<const Metric*>& columns);

}  // namespace warplens::report
