// SPDX-License-Identifier: Apache-2.0
// Loops as the GPU's assembler lays them out. It unrolls counted loops by four and puts the remaining rounds behind:
// two at once where the number of rounds has that bit set, then one. A thread with 7 rounds and one with 8 are then not
// together in the last rounds, so that a loop whose trip count differs by thread makes other warp-level requests than
// its PTX. What counts is which threads run a round together: the round's body stands here twice, once for the rounds
// in fours and once for those behind, each run as often as the unrolled code would run it (docs/unrolling.md).
#pragma once
#include <span>

#include "passes/counted_loops.h"
#include "ptx/module.h"

namespace warplens::passes {

/// `function` with `loops` (of find_counted_loops, in ascending order) laid out so.
ptx::Function unroll_loops(const ptx::Function& function, std::span<const CountedLoop> loops,
                           const ptx::OpTable& table);

}  // namespace warplens::passes
