// SPDX-License-Identifier: Apache-2.0
// The steps of the calculation, in its order: registers are given to warps in units, warps are spread over the SM's
// four sub-partitions, shared memory is rounded up to its unit with what the system reserves for each block.
#include "gpu/occupancy.h"

#include <algorithm>

#include "base/bits.h"

namespace warplens::gpu {

Occupancy occupancy(const Gpu& gpu, const OccupancyInput& input) {
  Occupancy o;
  if (input.threads == 0 || input.threads > gpu.threads_per_block) return o;
  const uint32_t warps = static_cast<uint32_t>(round_up(input.threads, gpu.warp_size)) / gpu.warp_size;
  o.by_threads = gpu.threads_per_sm / gpu.warp_size / warps;
  o.by_blocks = gpu.blocks_per_sm;

  const uint64_t per_warp =
      round_up(uint64_t{std::max(input.registers, 1u)} * gpu.warp_size, gpu.register_allocation_unit);
  const bool fits = input.registers <= gpu.registers_per_thread &&
                    per_warp * round_up(warps, gpu.sub_partitions) <= gpu.registers_per_block;
  const uint64_t warps_by_registers = gpu.registers_per_sm / gpu.sub_partitions / per_warp * gpu.sub_partitions;
  o.by_registers = fits ? static_cast<uint32_t>(warps_by_registers / warps) : 0;

  const uint64_t shared = round_up(input.shared_bytes + gpu.shared_reserved_per_block, gpu.shared_allocation_unit);
  o.by_shared = input.shared_bytes > gpu.shared_per_block_optin ? 0 : static_cast<uint32_t>(gpu.shared_per_sm / shared);

  o.blocks_per_sm = std::min({o.by_threads, o.by_blocks, o.by_registers, o.by_shared});
  o.warps_per_sm = o.blocks_per_sm * warps;
  return o;
}

}  // namespace warplens::gpu
