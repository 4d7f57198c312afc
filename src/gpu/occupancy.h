// SPDX-License-Identifier: Apache-2.0
// Occupancy: how many blocks of a kernel an SM holds at once, and what limits it. The rules are those of NVIDIA's
// occupancy calculation for compute capability 7 to 12, written down in docs/memory-model.md with their source.
#pragma once
#include "gpu/gpu.h"

namespace warplens::gpu {

struct OccupancyInput {
  uint32_t threads = 0;       ///< per block
  uint32_t registers = 0;     ///< per thread
  uint64_t shared_bytes = 0;  ///< static + dynamic, per block
};

struct Occupancy {
  uint32_t blocks_per_sm = 0;
  uint32_t by_threads = 0, by_blocks = 0, by_registers = 0, by_shared = 0;  ///< each limit alone
  uint32_t warps_per_sm = 0;
};

Occupancy occupancy(const Gpu& gpu, const OccupancyInput& input);

/// Registers per thread when nothing is known but a kernel's own bound (.maxnreg, 0: none): an assumption, since only
/// the assembler decides it. 32 never limits a full SM.
constexpr uint32_t assumed_registers(uint32_t maxnreg) { return maxnreg != 0 && maxnreg < 32 ? maxnreg : 32; }

}  // namespace warplens::gpu
