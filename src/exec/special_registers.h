// SPDX-License-Identifier: Apache-2.0
// Values of the special registers for one lane, as both executors see them.
#pragma once
#include <cstdint>

#include "exec/warp_context.h"
#include "ptx/types.h"

namespace warplens::exec {

/// `index` is the number of an %envreg.
uint64_t special_register(const WarpContext& warp, ptx::SpecialReg which, uint32_t index, unsigned lane);

}  // namespace warplens::exec
