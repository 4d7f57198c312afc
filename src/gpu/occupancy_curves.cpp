// SPDX-License-Identifier: Apache-2.0
#include "gpu/occupancy_curves.h"

namespace warplens::gpu {
namespace {

void add_if_new(Curve& curve, uint64_t value, const Occupancy& o) {
  if (curve.empty() || curve.back().blocks_per_sm != o.blocks_per_sm)
    curve.push_back({value, o.blocks_per_sm, o.share});
}

}  // namespace

Curve over_block_size(const Gpu& gpu, const OccupancyInput& input) {
  Curve curve;
  OccupancyInput at = input;
  for (at.threads = gpu.warp_size; at.threads <= gpu.threads_per_block; at.threads += gpu.warp_size) {
    const Occupancy o = occupancy(gpu, at);
    curve.push_back({at.threads, o.blocks_per_sm, o.share});
  }
  return curve;
}

Curve over_registers(const Gpu& gpu, const OccupancyInput& input) {
  Curve curve;
  OccupancyInput at = input;
  for (at.registers = 1; at.registers <= gpu.registers_per_thread; ++at.registers)
    add_if_new(curve, at.registers, occupancy(gpu, at));
  return curve;
}

Curve over_shared(const Gpu& gpu, const OccupancyInput& input) {
  Curve curve;
  OccupancyInput at = input;
  at.shared_bytes = 0;
  add_if_new(curve, 0, occupancy(gpu, at));
  // It can only change one byte behind a multiple of the allocation unit.
  const uint64_t unit = gpu.shared_allocation_unit;
  for (at.shared_bytes = 1; at.shared_bytes <= gpu.shared_per_block_optin;) {
    add_if_new(curve, at.shared_bytes, occupancy(gpu, at));
    const uint64_t used = at.shared_bytes + gpu.shared_reserved_per_block;
    at.shared_bytes = (used + unit - 1) / unit * unit + 1 - gpu.shared_reserved_per_block;
  }
  return curve;
}

}  // namespace warplens::gpu
