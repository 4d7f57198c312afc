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

}  // namespace warplens::analysis
