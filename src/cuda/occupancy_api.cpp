// SPDX-License-Identifier: Apache-2.0
// The occupancy functions of the runtime and the driver. The calculation is src/gpu/occupancy.h; what they answer for
// clusters is an upper bound, because how SMs are grouped is not documented (docs/occupancy.md).
#include <algorithm>

#include "cuda/driver_calls.h"
#include "cuda/kernel_occupancy.h"
#include "cuda/launch.h"

namespace warplens::cuda {
namespace {

/// Runs `call(device, function)` for the kernel of a host address.
template <typename F>
cudaError_t about_kernel(const void* host, F&& call) {
  return with_device([&](Device& device) {
    Function* function = nullptr;
    if (const cudaError_t error = find_function(host, function); error != cudaSuccess) return error;
    return call(device, *function);
  });
}

cudaError_t active_blocks(int* blocks, const void* host, int threads, size_t dynamic_shared) {
  if (!blocks || threads <= 0) return remember(cudaErrorInvalidValue);
  return about_kernel(host, [&](Device& device, Function& function) {
    *blocks =
        static_cast<int>(occupancy_of(device, function, static_cast<uint64_t>(threads), dynamic_shared).blocks_per_sm);
    return cudaSuccess;
  });
}

cudaError_t available_shared(size_t* bytes, const void* host, int blocks, int threads) {
  if (!bytes || blocks <= 0 || threads <= 0) return remember(cudaErrorInvalidValue);
  return about_kernel(host, [&](Device& device, Function& function) {
    *bytes = gpu::dynamic_shared_for(device.gpu(), static_cast<uint32_t>(blocks),
                                     kernel_of(device, function).static_shared_bytes);
    return cudaSuccess;
  });
}

/// Of the configuration, else of the kernel (__cluster_dims__).
dim3 cluster_of(const cudaLaunchConfig_t& config, const ptx::Function& function) {
  const auto& demanded = function.reqcluster;
  dim3 cluster(std::max(demanded[0], 1u), std::max(demanded[1], 1u), std::max(demanded[2], 1u));
  for (unsigned i = 0; i < config.numAttrs; ++i)
    if (config.attrs[i].id == cudaLaunchAttributeClusterDimension)
      cluster =
          dim3(config.attrs[i].val.clusterDim.x, config.attrs[i].val.clusterDim.y, config.attrs[i].val.clusterDim.z);
  return cluster;
}

gpu::Occupancy occupancy_of(Device& device, Function& function, const cudaLaunchConfig_t& config) {
  const uint64_t threads = uint64_t{config.blockDim.x} * config.blockDim.y * config.blockDim.z;
  return occupancy_of(device, function, threads, config.dynamicSmemBytes);
}

/// The largest power of two of blocks that may form a cluster of this kernel.
cudaError_t largest_cluster(int* size, const void* host, const cudaLaunchConfig_t* config) {
  if (!size || !config) return remember(cudaErrorInvalidValue);
  return about_kernel(host, [&](Device& device, Function& function) {
    const uint32_t most = function.any_cluster_size ? device.gpu().largest_cluster() : device.gpu().cluster_blocks;
    if (most <= 1) return cudaErrorNotSupported;
    *size = occupancy_of(device, function, *config).blocks_per_sm == 0 ? 0 : static_cast<int>(most);
    return cudaSuccess;
  });
}

cudaError_t active_clusters(int* clusters, const void* host, const cudaLaunchConfig_t* config) {
  if (!clusters || !config) return remember(cudaErrorInvalidValue);
  return about_kernel(host, [&](Device& device, Function& function) {
    const dim3 c = cluster_of(*config, ptx_of(device, function));
    const uint64_t blocks = uint64_t{c.x} * c.y * c.z;
    const uint32_t most = function.any_cluster_size ? device.gpu().largest_cluster() : device.gpu().cluster_blocks;
    if (blocks == 0 || blocks > most) return cudaErrorInvalidClusterSize;
    *clusters = static_cast<int>(
        gpu::clusters_at_most(device.gpu(), occupancy_of(device, function, *config), static_cast<uint32_t>(blocks)));
    return cudaSuccess;
  });
}

/// A driver function about `function`.
template <typename F>
CUresult in_function(CUfunction function, F&& call) {
  if (!function || !Registry::instance().function(function)) return CUDA_ERROR_INVALID_HANDLE;
  return in_context(call);
}

/// The driver's configuration as the runtime's: shape, shared memory and the cluster's dimension.
struct RuntimeConfig {
  explicit RuntimeConfig(const CUlaunchConfig& from) {
    config.gridDim = dim3(from.gridDimX, from.gridDimY, from.gridDimZ);
    config.blockDim = dim3(from.blockDimX, from.blockDimY, from.blockDimZ);
    config.dynamicSmemBytes = from.sharedMemBytes;
    for (unsigned i = 0; i < from.numAttrs; ++i) {
      if (from.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
      const auto& c = from.attrs[i].value.clusterDim;
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {c.x, c.y, c.z};
      config.attrs = &attribute;
      config.numAttrs = 1;
    }
  }
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
};

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* func, int threads, size_t shared) {
  return active_blocks(blocks, func, threads, shared);
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* func, int threads,
                                                                   size_t shared, unsigned int) {
  return active_blocks(blocks, func, threads, shared);
}
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* func, int blocks, int threads) {
  return available_shared(bytes, func, blocks, threads);
}
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* func, const cudaLaunchConfig_t* config) {
  return largest_cluster(size, func, config);
}
cudaError_t cudaOccupancyMaxActiveClusters(int* count, const void* func, const cudaLaunchConfig_t* config) {
  return active_clusters(count, func, config);
}

WARPLENS_DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                            size_t shared_bytes) {
  return in_function(function, [&] { return active_blocks(blocks, function, threads, shared_bytes); });
}
WARPLENS_DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads,
                                                                     size_t shared_bytes, unsigned int) {
  return in_function(function, [&] { return active_blocks(blocks, function, threads, shared_bytes); });
}
WARPLENS_DRIVER cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks, int threads) {
  return in_function(function, [&] { return available_shared(bytes, function, blocks, threads); });
}
WARPLENS_DRIVER cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function, const CUlaunchConfig* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  const RuntimeConfig runtime(*config);
  return in_function(function, [&] { return largest_cluster(size, function, &runtime.config); });
}
WARPLENS_DRIVER cuOccupancyMaxActiveClusters(int* count, CUfunction function, const CUlaunchConfig* config) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  const RuntimeConfig runtime(*config);
  return in_function(function, [&] { return active_clusters(count, function, &runtime.config); });
}

/// The block size (a multiple of a warp) with the most resident threads; the largest of equals.
WARPLENS_DRIVER cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                                 CUoccupancyB2DSize shared_of, size_t shared_bytes, int limit) {
  if (!grid || !block) return CUDA_ERROR_INVALID_VALUE;
  int most = 0;
  if (const CUresult error = cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
      error != CUDA_SUCCESS)
    return error;
  if (limit > 0) most = std::min(most, limit);
  int best = 0;
  for (int threads = most / 32 * 32; threads >= 32; threads -= 32) {
    int blocks = 0;
    const size_t shared = shared_of ? shared_of(threads) : shared_bytes;
    const CUresult error = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads, shared);
    if (error != CUDA_SUCCESS) return error;
    if (blocks * threads <= best) continue;
    best = blocks * threads;
    *block = threads;
    *grid = blocks * Device::instance().gpu().sms;
  }
  return best > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
WARPLENS_DRIVER cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                          CUoccupancyB2DSize shared_of, size_t shared_bytes, int limit,
                                                          unsigned int) {
  return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, shared_bytes, limit);
}
