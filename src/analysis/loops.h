// SPDX-License-Identifier: Apache-2.0
// Loops and the order of blocks in generated code. Loops are nested strongly connected components, so that irreducible
// ones (several entries) are found as well: such a component is a loop whose header is its entry that comes first in
// reverse post-order; edges into the header are taken away and the rest is searched again.
//
// `layout` keeps every loop contiguous, header first, and is topological otherwise: every edge goes forward, or back to
// the header of a loop that contains its source. (In an irreducible loop an edge from outside may enter behind the
// header; it goes forward too.) A warp that executes blocks in this order, each lane waiting for its block, reconverges
// as early as the graph allows.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace warplens::analysis {

constexpr uint32_t kNoLoop = ~uint32_t{0};

struct Loop {
  ir::BlockId header = 0;
  uint32_t parent = kNoLoop;
  uint32_t depth = 1;            ///< 1 = outermost
  uint32_t first = 0, last = 0;  ///< its blocks (nested loops included) are layout[first, last)
  bool irreducible = false;      ///< has an entry besides the header
};

struct LoopForest {
  std::vector<Loop> loops;            ///< outer before inner
  std::vector<uint32_t> loop_of;      ///< by block: its innermost loop, or kNoLoop
  std::vector<ir::BlockId> layout;    ///< all blocks
  std::vector<uint32_t> position_of;  ///< by block: its index in layout

  bool contains(uint32_t loop, ir::BlockId block) const {
    return position_of[block] >= loops[loop].first && position_of[block] < loops[loop].last;
  }
  /// True when the edge goes backward in the layout; then it enters the header of a loop that contains `from`.
  bool is_back_edge(ir::BlockId from, ir::BlockId to) const { return position_of[to] <= position_of[from]; }
};

LoopForest find_loops(const ir::Kernel& kernel);

}  // namespace warplens::analysis
