// SPDX-License-Identifier: Apache-2.0
// Loops that get another copy of their code, for warps whose lanes happen to hold equal values where they enter it:
// there the values that steer its branches are computed once a warp, and its branches are those of a scalar.
//
// A loop qualifies when lanes may take one of its branches differently, and none would if the vectors that its branches
// depend on (`compared`) were equal in all lanes at its header. Others keep their classes. Loops with barriers, calls,
// fences or traps, and those that spin, have one copy.
#pragma once
#include <vector>

#include "codegen/lane_analysis.h"

namespace warplens::codegen {

struct EqualLoop {
  uint32_t loop = 0;            ///< of KernelSource::loops
  std::vector<WebId> compared;  ///< vectors alive at the header; in the copy each is one scalar
  std::vector<WebInfo> info;    ///< by web, within the copy
};

/// The outermost loops that qualify. `lanes`: the analysis of the same source.
std::vector<EqualLoop> find_equal_loops(const KernelSource& source, const LaneAnalysis& lanes);

}  // namespace warplens::codegen
