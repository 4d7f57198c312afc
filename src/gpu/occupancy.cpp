// SPDX-License-Identifier: Apache-2.0
// The steps of the calculation, in its order: registers are given to warps in units, warps are spread over the SM's
// sub-partitions, shared memory is rounded up to its unit with what the system reserves for each block, and the pool it
// comes from is the carve-out.
#include "gpu/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bits.h"
#include "gpu/carveout.h"

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

uint32_t blocks_in(uint32_t kib, uint64_t shared_per_block) {
  return shared_per_block == 0 ? kNoLimit : static_cast<uint32_t>(kib * 1024ull / shared_per_block);
}

/// The smallest size of the SM's list that is not below what was asked for, and holds one block; or the driver's
/// choice.
uint32_t chosen_carveout(const Gpu& gpu, const OccupancyInput& input, uint32_t warps, Occupancy& o) {
  if (input.carveout_kib)
    return carveout_of_at_least(gpu, std::max(uint64_t{*input.carveout_kib} * 1024, o.shared_per_block));
  o.carveout_estimated = !gpu.spare_carveout_kib;
  const uint32_t by_warps = std::min(o.by_warps, o.by_blocks);
  const uint32_t fit = blocks_in(gpu.shared_carveouts_kib.back(), o.shared_per_block);
  return driver_carveout_kib(gpu, {.warps = warps,
                                   .blocks_by_warps = by_warps,
                                   .blocks = std::min({by_warps, o.by_registers, o.by_barriers, fit}),
                                   .shared_bytes = input.shared_bytes,
                                   .shared_per_block = o.shared_per_block});
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
  if (gpu.barriers_per_sm && input.barriers != 0) o.by_barriers = *gpu.barriers_per_sm / input.barriers;
  o.shared_per_block = round_up(input.shared_bytes + gpu.shared_reserved_per_block, gpu.shared_allocation_unit);
  o.carveout_kib = chosen_carveout(gpu, input, warps, o);
  const bool fits = input.shared_bytes <= gpu.shared_per_block_optin;
  o.by_shared = fits ? blocks_in(o.carveout_kib, o.shared_per_block) : 0;
  o.by_most_shared =
      !fits || input.carveout_kib ? o.by_shared : blocks_in(gpu.shared_carveouts_kib.back(), o.shared_per_block);
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
                                                                   {o.by_most_shared, "shared memory"},
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

double waves(const Gpu& gpu, const Occupancy& occupancy, uint64_t blocks) {
  const uint64_t at_once = uint64_t{occupancy.blocks_per_sm} * static_cast<uint64_t>(gpu.sms);
  return at_once == 0 ? 0 : static_cast<double>(blocks) / static_cast<double>(at_once);
}

uint64_t clusters_at_most(const Gpu& gpu, const Occupancy& occupancy, uint32_t blocks) {
  if (blocks == 0 || blocks > gpu.largest_cluster()) return 0;
  const uint64_t of_sm = std::min(occupancy.blocks_per_sm, gpu.cluster_blocks_per_sm.value_or(kNoLimit));
  if (gpu.cluster_groups.empty()) return of_sm * static_cast<uint64_t>(gpu.sms) / blocks;
  uint64_t clusters = 0;
  // A cluster could have each of its blocks on an SM of its own: smaller groups hold none (measured).
  for (const uint32_t sms : gpu.cluster_groups)
    if (sms >= blocks) clusters += of_sm * sms / blocks;
  return clusters;
}

uint64_t dynamic_shared_for(const Gpu& gpu, uint32_t blocks, uint64_t static_shared_bytes) {
  if (blocks == 0 || blocks > gpu.blocks_per_sm) return 0;
  const uint64_t share = gpu.shared_per_sm / blocks / gpu.shared_allocation_unit * gpu.shared_allocation_unit;
  const uint64_t used = static_shared_bytes + gpu.shared_reserved_per_block;
  if (share <= used) return 0;
  return std::min<uint64_t>(share - used, gpu.shared_per_block_optin - static_shared_bytes);
}

}  // namespace warplens::gpu
