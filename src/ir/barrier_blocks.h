// SPDX-License-Identifier: Apache-2.0
// Blocks that end before a barrier: in kernels with spinning loops, lanes that come to a barrier of the thread block
// wait there for those of their warp that still spin (docs/divergence.md), and lanes wait at the beginning of blocks.
#pragma once
#include "ir/kernel.h"

namespace warplens::ir {

/// As build(), but a barrier of the thread block or cluster begins a block when something that others can see comes
/// before it.
Kernel build_with_barrier_blocks(const ptx::Function& function);

/// Whether no other thread can notice that the instruction runs: it only computes or reads.
bool is_unseen(const ptx::Instr& in);
bool is_barrier(const ptx::Instr& in);
/// Whether the manual asks of the barrier that all threads of a warp execute it together: bar, and what has .aligned.
bool is_aligned_barrier(const ptx::Instr& in);

}  // namespace warplens::ir
