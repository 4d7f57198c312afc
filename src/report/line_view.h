// SPDX-License-Identifier: Apache-2.0
// View 2: source lines of one launch group, those that waste most first, each with its source text and its accesses:
//
//   matmul_naive.cu:21  sum += A[row * n + k] * B[k * n + col];
//       read A     4,194,304  134,217,728         32.0    4.0  4.29 GB    88 %
//       read B     4,194,304    4,194,304          1.0    1.0   134 MB     0 %
//     each thread of a warp reads from a sector of its own, so 32 bytes are moved for every 4 used
#pragma once
#include <string>

#include "report/line_table.h"
#include "report/text_style.h"

namespace warplens::report {

struct LineLimits {
  size_t memory_lines = 8;       ///< lines with memory accesses
  size_t instruction_lines = 3;  ///< lines that execute most instructions
};

std::string lines_text(const LineTable& table, const LineLimits& limits, const TextStyle& style);
/// "matmul_naive.cu:21", "PTX line 80 of k.ptx"
std::string place_text(const LineTable& table, const LineRow& row);

}  // namespace warplens::report
