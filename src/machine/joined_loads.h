// SPDX-License-Identifier: Apache-2.0
// Neighbouring loads from shared memory that the GPU's assembler makes one wider load: two or four words at one base
// register that together fill 8 or 16 aligned bytes, in one basic block with nothing between them that may change the
// memory. It joins them when it can prove the alignment. Not documented; measured on an H200 (the tiled products of
// truth/src/ladder.cu: joined in straight tiles, not in padded ones).
#pragma once
#include <vector>

#include "ir/kernel.h"
#include "machine/access_list.h"

namespace warplens::machine {

/// The load of the lowest address becomes the wider access, the others are folded into it. `base_alignment`: by
/// instruction, log2 of what the base register of its address is known to be a multiple of in every lane.
void join_loads(AccessList& list, const ptx::Function& function, const ir::Kernel& graph,
                const std::vector<uint8_t>& base_alignment);

}  // namespace warplens::machine
