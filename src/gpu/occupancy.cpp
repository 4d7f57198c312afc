// SPDX-License-Identifier: Apache-2.0
// The steps of the calculation, in its order: registers are given to warps in units, warps are spread over the SM's
// sub-partitions, shared memory is rounded up to its unit with what the system reserves for each block, and the pool it
// comes from is the carve-out.
#include "gpu/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bits.h"

namespace warplens::gpu {
namespace {

uint32_t blocks_by_registers(const Gpu& gpu, uint32_t registers, uint32_t warps, Occupancy& o) {
  registers = std::max(registers, gpu.least_registers_per_thread.value_or(0));
  if (registers == 0) return kNoLimit;
  const uint64_t per_warp = round_up(uint64_t{registers} * gpu.warp_size, gpu.register_allocation_unit);
  const uint64_t allocated = per_warp * round_up(warps, gpu.sub_partitions);
  if (registers > gpu.registers_per_thread || allocated > gpu.registers_per_block) return 0;
  o.registers_per_block = static_cast<uint32_t>(per_warp * warps);
  const uint64_t warps_of_sm = gpu.registers_per_sm / gpu.sub_partitions / per_warp * gpu.sub_partitions;
  return static_cast<uint32_t>(warps_of_sm / warps);
}

/// The smallest size of the SM's list that is not below what was asked for, and holds one block.
uint32_t chosen_carveout(const Gpu& gpu, std::optional<uint32_t> wanted_kib, uint64_t block_bytes) {
  const uint32_t largest = gpu.shared_carveouts_kib.back();
  if (!wanted_kib) return largest;
  for (const uint32_t size : gpu.shared_carveouts_kib)
    if (size >= *wanted_kib && uint64_t{size} * 1024 >= block_bytes) return size;
  return largest;
}

uint32_t blocks_by_shared(const Gpu& gpu, const OccupancyInput& input, Occupancy& o) {
  o.shared_per_block = round_up(input.shared_bytes + gpu.shared_reserved_per_block, gpu.shared_allocation_unit);
  o.carveout_kib = chosen_carveout(gpu, input.carveout_kib, o.shared_per_block);
  if (input.shared_bytes > gpu.shared_per_block_optin) return 0;
  return o.shared_per_block == 0 ? kNoLimit : static_cast<uint32_t>(o.carveout_kib * 1024ull / o.shared_per_block);
}

}  // namespace

Occupancy occupancy(const Gpu& gpu, const OccupancyInput& input) {
  Occupancy o;
  o.by_blocks = gpu.blocks_per_sm;
  const uint32_t warps = static_cast<uint32_t>(round_up(input.threads, gpu.warp_size)) / gpu.warp_size;
  const bool possible = input.threads != 0 && input.threads <= gpu.threads_per_block;
  if (possible) {
    o.by_warps = gpu.threads_per_sm / gpu.warp_size / warps;
    o.by_registers = blocks_by_registers(gpu, input.registers, warps, o);
  }
  o.by_shared = blocks_by_shared(gpu, input, o);
  if (gpu.barriers_per_sm && input.barriers != 0) o.by_barriers = *gpu.barriers_per_sm / input.barriers;
  if (!possible) return o;
  o.blocks_per_sm = std::min({o.by_warps, o.by_blocks, o.by_registers, o.by_shared, o.by_barriers});
  o.warps_per_sm = o.blocks_per_sm * warps;
  o.share = static_cast<double>(o.warps_per_sm) / (gpu.threads_per_sm / gpu.warp_size);
  return o;
}

std::string limiters(const Occupancy& o) {
  if (o.by_warps == 0) return "the size of the block";
  const std::array<std::pair<uint32_t, const char*>, 5> limits = {{{o.by_warps, "warps"},
                                                                   {o.by_blocks, "blocks"},
                                                                   {o.by_registers, "registers"},
                                                                   {o.by_shared, "shared memory"},
                                                                   {o.by_barriers, "barriers"}}};
  std::string text;
  for (const auto& [limit, name] : limits) {
    if (limit != o.blocks_per_sm) continue;
    if (!text.empty()) text += " and ";
    text += name;
  }
  return text;
}

std::string too_many_registers(const Gpu& gpu, uint64_t threads, uint32_t registers) {
  const Occupancy o = occupancy(gpu, {static_cast<uint32_t>(threads), registers, 0});
  if (o.by_warps == 0 || o.by_registers != 0) return {};
  return fmt::format(
      "a block of {} threads with {} registers each needs more than the {} registers that {} has for one", threads,
      registers, gpu.registers_per_block, gpu.name);
}

uint64_t clusters_at_most(const Gpu& gpu, const Occupancy& occupancy, uint32_t blocks) {
  if (blocks == 0 || blocks > gpu.largest_cluster()) return 0;
  return uint64_t{occupancy.blocks_per_sm} * static_cast<uint64_t>(gpu.sms) / blocks;
}

uint64_t dynamic_shared_for(const Gpu& gpu, uint32_t blocks, uint64_t static_shared_bytes) {
  if (blocks == 0 || blocks > gpu.blocks_per_sm) return 0;
  const uint64_t share = gpu.shared_per_sm / blocks / gpu.shared_allocation_unit * gpu.shared_allocation_unit;
  const uint64_t used = static_shared_bytes + gpu.shared_reserved_per_block;
  if (share <= used) return 0;
  return std::min<uint64_t>(share - used, gpu.shared_per_block_optin - static_shared_bytes);
}

}  // namespace warplens::gpu
