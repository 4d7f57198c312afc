// SPDX-License-Identifier: Apache-2.0
// Spinning loops: a loop whose branching depends on what an atomic, a volatile or a synchronising load in it read. Its
// lanes may wait for each other (a lock) or for another warp (a flag), so that running it until all lanes have left it
// may never end. Both executors give such loops a budget (docs/divergence.md); all other loops keep strict
// reconvergence.
#pragma once
#include <vector>

#include "analysis/loops.h"
#include "ir/kernel.h"

namespace warplens::analysis {

/// By loop of `forest`: whether it spins. Found by following registers, flow-insensitively, from the results of such
/// instructions inside the loop to a guard inside the loop.
std::vector<bool> find_spinning_loops(const ir::Kernel& kernel, const LoopForest& forest);

/// Whether a barrier of the thread block or cluster comes before anything in the block that others can see: lanes that
/// wait for it can do nothing for those in a spinning loop.
bool begins_with_barrier(const ir::Kernel& kernel, ir::BlockId block);

/// What generated code keeps of a warp: the lanes that wait, a word a position of the layout; where loops spin, behind
/// it three words a loop, and whether other warps should run before the next block does.
struct SpinWords {
  uint32_t positions = 0, loops = 0;
  uint32_t parked(uint32_t loop) const { return positions + loop; }
  uint32_t rounds(uint32_t loop) const { return positions + loops + loop; }
  uint32_t turns(uint32_t loop) const { return positions + 2 * loops + loop; }
  uint32_t yields() const { return positions + 3 * loops; }
  uint32_t count() const { return yields() + 1; }
};

/// Rounds that a spinning loop may make while lanes outside of it wait; every so many rounds other warps run.
constexpr uint32_t kSpinBudget = 64;

}  // namespace warplens::analysis
