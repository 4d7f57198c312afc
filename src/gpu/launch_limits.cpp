// SPDX-License-Identifier: Apache-2.0
// A launch against the limits of a GPU, and what to tell whoever broke one. Limits are the GPU file's; they are checked
// in the order in which a user would want to hear of them.
#include <fmt/ranges.h>

#include "gpu/gpu.h"

namespace warplens::gpu {

LaunchFault check_launch(const Gpu& gpu, const LaunchShape& shape) {
  for (int i = 0; i < 3; ++i)
    if (shape.grid[i] == 0 || shape.block[i] == 0) return LaunchFault::kZero;
  for (int i = 0; i < 3; ++i)
    if (shape.block[i] > gpu.block_dim[i]) return LaunchFault::kBlockTooLarge;
  const uint64_t threads = shape.block[0] * shape.block[1] * shape.block[2];
  if (threads > gpu.threads_per_block) return LaunchFault::kBlockTooLarge;
  for (int i = 0; i < 3; ++i)
    if (shape.grid[i] > gpu.grid_dim[i]) return LaunchFault::kGridTooLarge;
  const uint64_t total = shape.static_shared_bytes + shape.dynamic_shared_bytes;
  const bool opted_in = shape.dynamic_shared_bytes <= shape.dynamic_shared_allowed;
  if (total > (opted_in ? gpu.shared_per_block_optin : gpu.shared_per_block)) return LaunchFault::kSharedTooLarge;
  if (shape.max_threads != 0 && threads > shape.max_threads) return LaunchFault::kThreadsOverBound;
  const auto& c = shape.cluster;
  const uint64_t most = shape.any_cluster_size ? gpu.largest_cluster() : gpu.cluster_blocks;
  if (c[0] * c[1] * c[2] == 0 || c[0] * c[1] * c[2] > most) return LaunchFault::kClusterTooLarge;
  for (int i = 0; i < 3; ++i)
    if (shape.grid[i] % c[i] != 0) return LaunchFault::kClusterDoesNotDivide;
  return LaunchFault::kNone;
}

std::string explain(LaunchFault fault, const Gpu& gpu, const LaunchShape& shape) {
  const uint64_t threads = shape.block[0] * shape.block[1] * shape.block[2];
  const std::string block = fmt::format("{} x {} x {}", shape.block[0], shape.block[1], shape.block[2]);
  const std::string grid = fmt::format("{} x {} x {}", shape.grid[0], shape.grid[1], shape.grid[2]);
  const std::string cluster = fmt::format("{} x {} x {}", shape.cluster[0], shape.cluster[1], shape.cluster[2]);
  switch (fault) {
    case LaunchFault::kNone: return "the launch is within the limits";
    case LaunchFault::kZero: return fmt::format("the grid ({}) or the block ({}) has a zero extent", grid, block);
    case LaunchFault::kBlockTooLarge:
      return fmt::format("the block ({} = {} threads) is over the limits of {}: {} threads, {}", block, threads,
                         gpu.name, gpu.threads_per_block, fmt::join(gpu.block_dim, " x "));
    case LaunchFault::kGridTooLarge:
      return fmt::format("the grid ({}) is over the limits of {}: {}", grid, gpu.name, fmt::join(gpu.grid_dim, " x "));
    case LaunchFault::kSharedTooLarge:
      return fmt::format(
          "{} bytes of static and {} of dynamic shared memory are over the limit of {}: {} bytes, or {} after "
          "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)",
          shape.static_shared_bytes, shape.dynamic_shared_bytes, gpu.name, gpu.shared_per_block,
          gpu.shared_per_block_optin);
    case LaunchFault::kThreadsOverBound:
      return fmt::format("the block has {} threads, the kernel was compiled for at most {} (__launch_bounds__)",
                         threads, shape.max_threads);
    case LaunchFault::kClusterTooLarge:
      if (gpu.cluster_blocks <= 1)
        return fmt::format("a cluster ({}) is asked for, and {} (compute capability {}) has none", cluster, gpu.name,
                           fmt::join(gpu.compute_capability, "."));
      return fmt::format(
          "the cluster ({}) is over the limit of {}: {} blocks, or {} after "
          "cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)",
          cluster, gpu.name, gpu.cluster_blocks, gpu.largest_cluster());
    case LaunchFault::kClusterDoesNotDivide:
      return fmt::format("the grid ({}) is not a multiple of the cluster ({})", grid, cluster);
  }
  return {};
}

}  // namespace warplens::gpu
