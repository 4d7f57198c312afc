// SPDX-License-Identifier: Apache-2.0
// Which lanes of a warp are missing at a barrier that is for whole warps. Threads that have ended are not, and a
// program that returns early says nothing of when: compilers jump to one `ret` for all, or to code of the early return
// that they put behind the rest. So lanes that wait elsewhere are missing when they have a barrier before them, or
// are to come together again with those that are there.
#pragma once
#include <vector>

#include "analysis/dominance.h"
#include "ir/kernel.h"

namespace warplens::analysis {

class BarrierPaths {
 public:
  /// `kernel` must outlive it.
  explicit BarrierPaths(const ir::Kernel& kernel);
  /// Whether lanes that wait for block `at` are missing at a barrier in block `barrier`.
  bool missing(ir::BlockId barrier, ir::BlockId at) const;
  const ir::Kernel& kernel() const { return *kernel_; }

 private:
  const ir::Kernel* kernel_;
  DominatorTree post_dominators_;
  std::vector<bool> only_ends_;  ///< all that its lanes still do is to compute and to end
  std::vector<bool> meets_;      ///< a barrier comes in or behind the block
};

}  // namespace warplens::analysis
