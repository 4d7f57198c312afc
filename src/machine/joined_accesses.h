// SPDX-License-Identifier: Apache-2.0
// Neighbouring loads from shared memory, and neighbouring stores to it, that the GPU's assembler makes one wider
// access: two or four words at one base that together fill 8 or 16 aligned bytes, in one basic block, with nothing
// between them that may change the memory (loads) or look at it (stores). It joins them when it can prove the
// alignment. Not documented; measured on an H200: loads in the tiled products of truth/src/ladder.cu (joined in
// straight tiles, not in padded ones); stores, and accesses to variables by name, in public programs
// (docs/public-programs.md).
#pragma once
#include <vector>

#include "ir/kernel.h"
#include "machine/access_list.h"

namespace warplens::machine {

/// What the address of an access to shared memory is relative to.
struct AddressBase {
  uint32_t base = 0;      ///< equal for equal bases: the register, or one number for all places that are known
  int64_t begin = 0;      ///< added to the instruction's offset: where the variable is
  uint8_t alignment = 0;  ///< log2 of what the base is known to be a multiple of in every lane
};

/// The access of the lowest address becomes the wider one, the others are folded into it. `bases`: by instruction.
void join_accesses(AccessList& list, const ptx::Function& function, const ir::Kernel& graph,
                   const std::vector<AddressBase>& bases);

}  // namespace warplens::machine
