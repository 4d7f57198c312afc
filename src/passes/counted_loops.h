// SPDX-License-Identifier: Apache-2.0
// The loops that the GPU's assembler unrolls by four, found in PTX. Whether it does was measured on an H200
// (ptxas 13.0) with some 900 loops whose trip count differs by thread, by their requests and sectors
// (docs/unrolling.md):
//
//   - innermost; one backward branch `@p bra header` at the end, taken when p is true; no other way out;
//   - p comes from a comparison of a register that each round adds a constant to, after that addition, with something
//     that the loop leaves alone;
//   - no atomics, barriers, fences, instructions for the whole warp, calls (also hidden ones: div.rn, sqrt.rn), and no
//     stores to a place that stays the same;
//   - at most 50 instructions, where some count more than once and some nothing;
//   - not behind .pragma "nounroll".
#pragma once
#include <cstdint>
#include <vector>

#include "ptx/module.h"

namespace warplens::passes {

struct CountedLoop {
  uint32_t first = 0, last = 0;  ///< instructions of Function::body: the first of the loop, and its backward branch
  ptx::RegId counter = 0;        ///< the register that each round adds `step` to
  int64_t step = 1;
  ptx::Operand bound;                ///< a register or an immediate
  ptx::Type type = ptx::Type::kS32;  ///< of the comparison
  enum class Goes : uint8_t { kBelow, kTo, kAbove, kDownTo, kUntil } goes = Goes::kBelow;  ///< <, <=, >, >=, != bound
};

std::vector<CountedLoop> find_counted_loops(const ptx::Function& function);

}  // namespace warplens::passes
