// SPDX-License-Identifier: Apache-2.0
// Random PTX kernels: value instructions drawn from the op table (every row and modifier combination that the parser
// takes), inside divergent branches, loops with different trip counts by lane, early exits, breaks and jumps into
// loops; loads and stores of every class of address in global and shared memory, atomics, barriers. Every kernel ends:
// loops count down. In a third of them lanes mostly hold equal values, where they need not.
#pragma once
#include <cstdint>
#include <string>

namespace warplens::test {

/// Kernel `random(in, out)`: reads 4096 words at `in`; writes to 4096 words at `out`, then 40 words a thread behind
/// them.
std::string random_program(uint64_t seed);
constexpr unsigned kSharedWords = 4096, kDumpedWords = 40;

}  // namespace warplens::test
