// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernel_occupancy.h"

#include <algorithm>

#include "cuda/launch.h"
#include "gpu/carveout.h"

namespace warplens::cuda {
namespace {

/// cudaFuncAttributePreferredSharedMemoryCarveout is in percent of the most; -1: no preference.
std::optional<uint32_t> carveout_kib(const gpu::Gpu& gpu, int percent) {
  if (percent < 0) return std::nullopt;
  return (gpu.shared_per_sm / 1024 * static_cast<uint32_t>(percent) + 99) / 100;
}

gpu::OccupancyInput input_of(Device& device, Function& function, uint64_t threads, uint64_t dynamic_shared_bytes) {
  const machine::ResourceUse& use = resources_of(device, function);
  return {.threads = static_cast<uint32_t>(std::min<uint64_t>(threads, ~0u)),
          .registers = use.registers,
          .shared_bytes = kernel_of(device, function).static_shared_bytes + dynamic_shared_bytes,
          .barriers = use.barriers};
}

}  // namespace

const machine::ResourceUse& resources_of(Device& device, Function& function) {
  if (!function.resources) {
    function.resources = machine::resource_use(kernel_of(device, function).graph);
    const auto& told = device.session().options().registers;
    if (const auto it = told.find(function.name); it != told.end()) function.resources->set_registers(it->second);
  }
  return *function.resources;
}

report::LaunchOccupancy launch_occupancy(Device& device, Function& function, uint64_t blocks, uint64_t threads,
                                         uint64_t dynamic_shared_bytes) {
  const machine::ResourceUse& use = resources_of(device, function);
  const gpu::Gpu& gpu = device.gpu();
  const uint32_t registers = std::max(use.registers, gpu.least_registers_per_thread.value_or(0));
  gpu::OccupancyInput input = input_of(device, function, threads, dynamic_shared_bytes);
  input.carveout_kib = gpu::preferred_carveout_kib(gpu, function.carveout, input.shared_bytes);
  const gpu::Occupancy of = gpu::occupancy(gpu, input);
  return {of, registers, use.estimated, gpu::waves(gpu, of, blocks)};
}

gpu::Occupancy occupancy_of(Device& device, Function& function, uint64_t threads, uint64_t dynamic_shared_bytes) {
  const gpu::Gpu& gpu = device.gpu();
  gpu::OccupancyInput input = input_of(device, function, threads, dynamic_shared_bytes);
  input.carveout_kib = carveout_kib(gpu, function.carveout);
  const bool opted_in = dynamic_shared_bytes <= function.dynamic_shared_allowed;
  if (!opted_in && input.shared_bytes > gpu.shared_per_block) return {};
  return gpu::occupancy(gpu, input);
}

}  // namespace warplens::cuda
