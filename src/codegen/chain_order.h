// SPDX-License-Identifier: Apache-2.0
// The order of multiply-adds in long basic blocks. A register tile (8 x 8 sums a thread, say) unrolled over k reads as
// "for k: for all sums", which keeps every sum for 32 lanes in memory: a load and a store of all of them each round.
// Here the sums are taken a few at a time through all rounds, so that those few stay in registers.
#pragma once

namespace llvm {
class Function;
}

namespace warplens::codegen {

/// Reorders independent instructions within basic blocks; changes no value. `registers`: vector registers that sums may
/// fill, of `register_bits` each.
void order_chains(llvm::Function& function, unsigned registers, unsigned register_bits);

}  // namespace warplens::codegen
