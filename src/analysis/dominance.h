// SPDX-License-Identifier: Apache-2.0
// Dominators and post-dominators of a control-flow graph (Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
// Algorithm"). The immediate post-dominator of a divergent branch is where its lanes are together again.
#pragma once
#include <vector>

#include "ir/kernel.h"

namespace warplens::analysis {

struct DominatorTree {
  ir::BlockId root = 0;
  std::vector<ir::BlockId> parent;  ///< immediate (post-)dominator; of the root: itself
  std::vector<uint32_t> depth;      ///< the root has 0

  /// True also for a == b.
  bool dominates(ir::BlockId a, ir::BlockId b) const;
  ir::BlockId common(ir::BlockId a, ir::BlockId b) const;
};

DominatorTree dominators(const ir::Kernel& kernel);

/// The root is a virtual exit with number blocks.size(): behind every block that exits, and behind the last block of
/// every loop that nothing leaves.
DominatorTree post_dominators(const ir::Kernel& kernel);

}  // namespace warplens::analysis
