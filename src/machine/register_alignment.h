// SPDX-License-Identifier: Apache-2.0
// How registers are aligned as far as the GPU's assembler can see: through sums, products and shifts by constants, from
// the places of shared variables, whatever the thread. Alignment is what lets it join neighbouring loads.
#pragma once
#include <functional>
#include <vector>

#include "ptx/module.h"

namespace warplens::machine {

/// By register: log2 of what its value is always a multiple of (at most 63). `place_of`: the address of a variable.
std::vector<uint8_t> register_alignments(const ptx::Function& function,
                                         const std::function<uint64_t(const ptx::SymbolRef&)>& place_of);

}  // namespace warplens::machine
