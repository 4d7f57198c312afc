// SPDX-License-Identifier: Apache-2.0
#include "gpu/carveout.h"

#include <algorithm>

#include "base/bits.h"

namespace warplens::gpu {
namespace {

constexpr uint64_t kKib = 1024;
// Of kernels without shared memory: room for others that have some, it seems (measured).
constexpr uint64_t kRoomPerBlock = 4 * kKib, kMostRoom = 32 * kKib, kLeastRoom = 8 * kKib;

/// Up to here the driver sets aside more than the blocks need. Where it was not measured: half of the memory.
uint64_t spare_limit(const Gpu& gpu) {
  return gpu.spare_carveout_kib ? *gpu.spare_carveout_kib * kKib
                                : carveout_of_at_least(gpu, gpu.l1_and_shared_bytes / 2) * kKib;
}

}  // namespace

uint32_t carveout_of_at_least(const Gpu& gpu, uint64_t bytes) {
  for (const uint32_t size : gpu.shared_carveouts_kib)
    if (size * kKib >= bytes) return size;
  return gpu.shared_carveouts_kib.back();
}

uint32_t driver_carveout_kib(const Gpu& gpu, const CarveoutInput& in) {
  if (in.shared_bytes == 0) {
    const uint64_t room = in.blocks <= 1 ? kLeastRoom : std::min(kRoomPerBlock * in.blocks_by_warps, kMostRoom);
    return carveout_of_at_least(gpu, std::max(room, in.shared_per_block));
  }
  // Twice the blocks that fit; a single block gets no spare room, and blocks beyond `most` none either.
  const uint32_t most = gpu.blocks_per_sm - std::min(gpu.blocks_per_sm, in.warps);
  const uint32_t wanted = in.blocks <= 1 ? 1 : std::max(in.blocks, std::min(2 * in.blocks, most));
  const uint64_t needed = std::max(in.blocks, 1u) * in.shared_per_block;
  const uint64_t roomy = std::min(wanted * in.shared_per_block, spare_limit(gpu));
  return carveout_of_at_least(gpu, std::max(needed, roomy));
}

std::optional<uint32_t> preferred_carveout_kib(const Gpu& gpu, int percent, uint64_t shared_bytes) {
  if (percent < 0 || (percent == 0 && shared_bytes == 0)) return std::nullopt;
  uint64_t bytes = uint64_t{gpu.shared_per_sm} * static_cast<uint64_t>(percent) / 100;
  if (shared_bytes != 0) {
    // The preference is of what kernels ask for: with each block comes what is reserved.
    const uint64_t blocks = bytes / shared_bytes;
    const uint64_t with_reserved =
        round_up(shared_bytes + gpu.shared_reserved_per_block, uint64_t{gpu.shared_allocation_unit});
    bytes = std::max(bytes, blocks * with_reserved);
  }
  return static_cast<uint32_t>(std::min<uint64_t>((bytes + kKib - 1) / kKib, gpu.shared_carveouts_kib.back()));
}

}  // namespace warplens::gpu
