// SPDX-License-Identifier: Apache-2.0
// View 5: two kernels side by side, and in words what makes the difference:
//
//                          matmul_naive  matmul_coalesced
//   sectors                 138,936,320        21,028,864  6.6x
//   ...
//   Why: matmul_naive.cu:21, reading A: each thread of a warp reads from a sector of its own, ...
#pragma once
#include <string>

#include "report/fold.h"
#include "report/text_style.h"

namespace warplens::report {

/// One side: a run and the launch group to compare.
struct Side {
  const RunRecord* run = nullptr;
  FoldedLaunch group;
};

/// The counted launch group of `run` that moves most through global memory; false when nothing was counted.
bool pick_side(const RunRecord& run, Side& side);

std::string comparison_text(const Side& a, const Side& b, const TextStyle& style);

}  // namespace warplens::report
