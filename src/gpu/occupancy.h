// SPDX-License-Identifier: Apache-2.0
// Occupancy: how many blocks of a kernel an SM holds at once, and what limits it. The rules are those of NVIDIA's
// occupancy calculation for compute capability 7.0 to 12.x; docs/occupancy.md has them in words, with their source.
#pragma once
#include <limits>
#include <optional>
#include <string>

#include "gpu/gpu.h"

namespace warplens::gpu {

struct OccupancyInput {
  uint32_t threads = 0;       ///< per block
  uint32_t registers = 0;     ///< per thread
  uint64_t shared_bytes = 0;  ///< static + dynamic, per block
  /// Shared memory that the driver is asked to set aside in the SM, KiB; absent: it chooses (gpu/carveout.h).
  std::optional<uint32_t> carveout_kib = std::nullopt;
  uint32_t barriers = 1;  ///< hardware barriers that a block uses; counts where the GPU has barriers_per_sm
};

/// A limit that does not apply, such as shared memory for a kernel that uses none.
constexpr uint32_t kNoLimit = std::numeric_limits<uint32_t>::max();

struct Occupancy {
  uint32_t blocks_per_sm = 0;  ///< the least of the limits below; 0: such a block cannot run
  uint32_t warps_per_sm = 0;   ///< of so many blocks
  double share = 0;            ///< warps_per_sm of the most an SM holds, 0..1: "theoretical occupancy"
  // Blocks that each resource alone would allow, or kNoLimit.
  uint32_t by_warps = 0, by_blocks = 0, by_registers = 0, by_shared = 0, by_barriers = kNoLimit;
  uint32_t registers_per_block = 0;  ///< allocated
  uint64_t shared_per_block = 0;     ///< allocated: with what is reserved, rounded up
  uint32_t carveout_kib = 0;         ///< of the SM's sizes, the one that was calculated with
  /// As by_shared, but with the most shared memory where the carve-out is the driver's choice: it sets aside what the
  /// blocks need, so it is what they need that limits.
  uint32_t by_most_shared = 0;
  bool carveout_estimated = false;  ///< the driver's choice, by a rule that was not measured on this GPU
};

/// Threads of 0, or more than a block may have, give 0 blocks.
Occupancy occupancy(const Gpu& gpu, const OccupancyInput& input);

/// What limits it, in words: every resource whose own limit is the answer. "registers", "warps and shared memory",
/// "the size of the block" when a block cannot run at all because of its threads.
std::string limiters(const Occupancy& occupancy);

/// Why a block cannot run though each of its extents is within the limits: its threads need more registers than a block
/// may have. Empty when they do not.
std::string too_many_registers(const Gpu& gpu, uint64_t threads, uint32_t registers);

/// How often all SMs of the GPU are filled until `blocks` blocks are done, as profilers say it: 1.5 is one full GPU and
/// then half of it. 0 when such a block cannot run.
double waves(const Gpu& gpu, const Occupancy& occupancy, uint64_t blocks);

/// Clusters of `blocks` blocks that the GPU holds at once. A cluster stays in one group of SMs: where the GPU's file
/// has the groups (as measured on one device), the number that cudaOccupancyMaxActiveClusters answered there; else an
/// upper bound. 0 when clusters of that size do not exist.
uint64_t clusters_at_most(const Gpu& gpu, const Occupancy& occupancy, uint32_t blocks);

/// Dynamic shared memory that each of `blocks` resident blocks of an SM may use beside its static part, bytes.
uint64_t dynamic_shared_for(const Gpu& gpu, uint32_t blocks, uint64_t static_shared_bytes);

}  // namespace warplens::gpu
