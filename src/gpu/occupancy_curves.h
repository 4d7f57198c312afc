// SPDX-License-Identifier: Apache-2.0
// Occupancy against one of its inputs, the others held: what a change of the block's size, of registers or of shared
// memory would give.
#pragma once
#include <vector>

#include "gpu/occupancy.h"

namespace warplens::gpu {

/// From this value of the input on (up to the next point's) the occupancy is so.
struct CurvePoint {
  uint64_t value = 0;
  uint32_t blocks_per_sm = 0;
  double share = 0;
};
using Curve = std::vector<CurvePoint>;

/// Every whole number of warps up to the largest block.
Curve over_block_size(const Gpu& gpu, const OccupancyInput& input);
/// Where the number of blocks changes, from 1 register to the most a thread has; value 1 comes first.
Curve over_registers(const Gpu& gpu, const OccupancyInput& input);
/// The same from 0 bytes to the most a block may have.
Curve over_shared(const Gpu& gpu, const OccupancyInput& input);

}  // namespace warplens::gpu
