// SPDX-License-Identifier: Apache-2.0
// View 1: kernels. A table of all launch groups, and for one group its traffic by kind of memory:
//
//   matmul_naive   grid 16 x 16, block 32 x 32, 1 launch
//     memory            requests      sectors  per request  ideal    moved  wasted
//     global read      8,396,800  138,674,176         16.5    2.5  4.44 GB    85 %
#pragma once
#include <string>
#include <vector>

#include "report/fold.h"
#include "report/text_style.h"
#include "report/text_table.h"

namespace warplens::report {

/// "16 x 16", "64"
std::string dim_text(const events::Dim3& d);
/// "grid 16 x 16, block 32 x 32, 3 launches"
std::string shape_text(const FoldedLaunch& group);
/// How bad a share of waste is.
Tone tone_of_waste(double share);
/// The name under which the report shows kernel `index`: short, or with parameters where short names are equal.
std::string shown_name(const RunRecord& run, size_t index);

/// Columns, and the cells of a row, of a table whose numbers are scaled from a sample: with the error of the third
/// column, `share` of its number, behind that.
constexpr int kErrorColumn = 3;
std::vector<Column> with_error(std::vector<Column> columns, bool sampled);
std::vector<Cell> with_error(std::vector<Cell> cells, bool sampled, double share);

/// Tables of accesses to global and local memory, and to shared memory; `what` heads the first column.
TextTable sector_table(const char* what, bool sampled);
TextTable wavefront_table(const char* what, bool sampled);

std::string kernels_text(const RunRecord& run, const std::vector<FoldedLaunch>& groups,
                         const std::vector<size_t>& order, const TextStyle& style);
std::string kernel_text(const RunRecord& run, const FoldedLaunch& group, const TextStyle& style);

}  // namespace warplens::report
