// SPDX-License-Identifier: Apache-2.0
// How a loop ends in clang's PTX. clang leaves `setp.eq p; @p bra out; bra loop; out:` where nvcc writes
// `setp.ne p; @p bra loop;`. The GPU's assembler unrolls the second form and not the first (docs/unrolling.md), so that
// the same source would be counted differently; ours is written as nvcc's.
#pragma once
#include <string>

namespace warplens {

/// PTX with each such end of a block turned round where p is an integer comparison of the same block and used nowhere
/// else.
std::string turn_loop_branches(const std::string& ptx);

}  // namespace warplens
