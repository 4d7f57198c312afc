// SPDX-License-Identifier: Apache-2.0
// Launch functions of the runtime, and questions about kernels. A kernel is named by the address of its host function;
// that same address serves as cudaKernel_t.
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "cuda/entry.h"
#include "cuda/kernel_occupancy.h"
#include "cuda/launch.h"

namespace warplens::cuda {
namespace {

cudaError_t launch_with(const LaunchCall& call) {
  return with_device([&](Device& device) { return launch(device, call); });
}

/// Attributes that say how a launch shares the device with others change nothing here; a cluster shape matters.
cudaError_t read_attributes(const cudaLaunchConfig_t& config, LaunchCall& call) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeCooperative) call.cooperative = attribute.val.cooperative != 0;
    if (attribute.id != cudaLaunchAttributeClusterDimension) continue;
    const auto& c = attribute.val.clusterDim;
    if (c.x == 0 || c.y == 0 || c.z == 0) return cudaErrorInvalidValue;
    call.cluster = {c.x, c.y, c.z};
  }
  return cudaSuccess;
}

cudaError_t set_dynamic_shared(Device& device, Function& function, int value) {
  const exec::LoadedKernel& kernel = kernel_of(device, function);
  const int64_t most = int64_t{device.gpu().shared_per_block_optin} - kernel.static_shared_bytes;
  if (value < 0 || value > most) return cudaErrorInvalidValue;
  function.dynamic_shared_allowed = static_cast<uint32_t>(value);
  return cudaSuccess;
}

cudaError_t set_attribute(Device& device, Function& function, cudaFuncAttribute attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: return set_dynamic_shared(device, function, value);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) return cudaErrorInvalidValue;
      function.carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed: function.any_cluster_size = value != 0; return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference: return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t fill_attributes(Device& device, Function& function, cudaFuncAttributes& to) {
  const exec::LoadedKernel& kernel = kernel_of(device, function);
  const ptx::Function& ptx = *function.ptx;
  std::memset(&to, 0, offsetof(cudaFuncAttributes, reserved));
  to.sharedSizeBytes = kernel.static_shared_bytes;
  to.localSizeBytes = kernel.local_bytes;
  for (const ptx::Variable& v : function.binary->parsed->variables)
    if (v.space == ptx::Space::kConst) to.constSizeBytes += v.bytes;
  const auto& bound = ptx.maxntid[0] != 0 ? ptx.maxntid : ptx.reqntid;
  to.maxThreadsPerBlock = static_cast<int>(device.gpu().threads_per_block);
  if (bound[0] != 0)
    to.maxThreadsPerBlock = static_cast<int>(bound[0] * std::max(bound[1], 1u) * std::max(bound[2], 1u));
  to.numRegs = static_cast<int>(resources_of(device, function).registers);
  to.ptxVersion = static_cast<int>(device.target());
  to.binaryVersion = static_cast<int>(device.target());
  const int free_shared =
      static_cast<int>(device.gpu().shared_per_block) - static_cast<int>(kernel.static_shared_bytes);
  to.maxDynamicSharedSizeBytes =
      function.dynamic_shared_allowed != 0 ? static_cast<int>(function.dynamic_shared_allowed) : free_shared;
  to.preferredShmemCarveout = function.carveout;
  to.nonPortableClusterSizeAllowed = function.any_cluster_size;
  if (const auto& cluster = ptx.reqcluster; cluster[0] != 0) {
    to.clusterDimMustBeSet = 1;
    to.requiredClusterWidth = static_cast<int>(cluster[0]);
    to.requiredClusterHeight = static_cast<int>(std::max(cluster[1], 1u));
    to.requiredClusterDepth = static_cast<int>(std::max(cluster[2], 1u));
  }
  return cudaSuccess;
}

/// <<<...>>> pushes, the compiler's stub pops: per thread, and nested in launches whose arguments launch.
struct Configuration {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> t_configurations;

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

WARPLENS_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
  t_configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

WARPLENS_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream) {
  if (t_configurations.empty()) return remember(cudaErrorMissingConfiguration);
  const Configuration& top = t_configurations.back();
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  t_configurations.pop_back();
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* func, dim3 grid, dim3 block, void** args, size_t shared_bytes,
                             cudaStream_t stream) {
  return launch_with({func, grid, block, {0, 0, 0}, args, shared_bytes, stream});
}
cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 grid, dim3 block, void** args, size_t shared_bytes,
                                        cudaStream_t stream) {
  return launch_with({func, grid, block, {0, 0, 0}, args, shared_bytes, stream, true});
}
WARPLENS_ALIAS(cudaLaunchCooperativeKernel_ptsz, cudaLaunchCooperativeKernel);
WARPLENS_ALIAS(cudaLaunchKernel_ptsz, cudaLaunchKernel);
WARPLENS_ALIAS(__cudaLaunchKernel, cudaLaunchKernel);
WARPLENS_ALIAS(__cudaLaunchKernel_ptsz, cudaLaunchKernel);

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
  if (!config) return remember(cudaErrorInvalidValue);
  LaunchCall call = {func, config->gridDim,          config->blockDim, {0, 0, 0},
                     args, config->dynamicSmemBytes, config->stream};
  if (const cudaError_t error = read_attributes(*config, call); error != cudaSuccess) return remember(error);
  return launch_with(call);
}
WARPLENS_ALIAS(cudaLaunchKernelExC_ptsz, cudaLaunchKernelExC);

WARPLENS_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  Function* function = nullptr;
  if (!kernel) return remember(cudaErrorInvalidValue);
  if (const cudaError_t error = find_function(host, function); error != cudaSuccess) return remember(error);
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(host));
  return cudaSuccess;
}
cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host) { return __cudaGetKernel(kernel, host); }

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* to, const void* symbol) {
  Function* function = nullptr;
  if (!to) return remember(cudaErrorInvalidValue);
  if (const cudaError_t error = find_function(symbol, function); error != cudaSuccess) return remember(error);
  *to = reinterpret_cast<cudaFunction_t>(const_cast<void*>(symbol));
  return cudaSuccess;
}

cudaError_t cudaFuncGetName(const char** name, const void* func) {
  Function* function = nullptr;
  if (!name) return remember(cudaErrorInvalidValue);
  if (const cudaError_t error = find_function(func, function); error != cudaSuccess) return remember(error);
  *name = function->name.c_str();
  return cudaSuccess;
}

/// Where parameter `index` lies in the kernel's parameters, and how many bytes it has.
WARPLENS_EXPORT cudaError_t cudaFuncGetParamInfo(const void* func, size_t index, size_t* offset, size_t* bytes) {
  return with_device([&](Device& device) {
    Function* function = nullptr;
    if (!offset) return cudaErrorInvalidValue;
    if (const cudaError_t error = find_function(func, function); error != cudaSuccess) return error;
    const auto& params = ptx_of(device, *function).params;
    if (index >= params.size()) return cudaErrorInvalidValue;
    *offset = params[index].offset;
    if (bytes) *bytes = params[index].bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* func, cudaFuncAttribute attribute, int value) {
  const cudaError_t error = with_device([&](Device& device) {
    Function* function = nullptr;
    const cudaError_t found = find_function(func, function);
    return found != cudaSuccess ? found : set_attribute(device, *function, attribute, value);
  });
  // Where it succeeds it takes the thread's last error with it (observed on an H200, 2026-11-30).
  if (error == cudaSuccess) cudaGetLastError();
  return error;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* func) {
  return with_device([&](Device& device) {
    Function* function = nullptr;
    if (!attributes) return cudaErrorInvalidValue;
    if (const cudaError_t error = find_function(func, function); error != cudaSuccess) return error;
    return fill_attributes(device, *function, *attributes);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* func, cudaFuncCache config) {
  return with_device([&](Device&) {
    Function* function = nullptr;
    if (static_cast<unsigned>(config) > cudaFuncCachePreferEqual) return cudaErrorInvalidValue;
    return find_function(func, function);
  });
}
cudaError_t cudaFuncSetSharedMemConfig(const void* func, cudaSharedMemConfig) {
  return with_device([&](Device&) {
    Function* function = nullptr;
    return find_function(func, function);
  });
}
