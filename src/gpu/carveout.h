// SPDX-License-Identifier: Apache-2.0
// The carve-out of a launch: how much of an SM's on-chip memory the driver sets aside as shared memory; what is left
// caches. The driver's choice is not documented. The rule here gives every choice of an H200 that was measured
// (truth/h200/carveouts.csv, made by truth/src/carveouts.cu with a profiler, and the launches of the probes); on other
// GPUs it is an estimate. docs/occupancy.md has it in words.
#pragma once
#include "gpu/gpu.h"

namespace warplens::gpu {

/// What the choice depends on.
struct CarveoutInput {
  uint32_t warps = 0;             ///< of a block
  uint32_t blocks_by_warps = 0;   ///< blocks that an SM holds by warps and blocks alone
  uint32_t blocks = 0;            ///< blocks that it holds by all limits, with the most shared memory
  uint64_t shared_bytes = 0;      ///< that a block asks for: static and dynamic
  uint64_t shared_per_block = 0;  ///< that a block gets: with what is reserved, rounded up
};

/// KiB, one of the SM's sizes, for a kernel without a preference.
uint32_t driver_carveout_kib(const Gpu& gpu, const CarveoutInput& input);
/// KiB to ask for (OccupancyInput::carveout_kib) for a kernel that prefers so many percent of the most
/// (cudaFuncAttributePreferredSharedMemoryCarveout); nothing: as without a preference.
std::optional<uint32_t> preferred_carveout_kib(const Gpu& gpu, int percent, uint64_t shared_bytes);
/// The smallest of the SM's sizes that is not below so many bytes, else the largest; KiB.
uint32_t carveout_of_at_least(const Gpu& gpu, uint64_t bytes);

}  // namespace warplens::gpu
