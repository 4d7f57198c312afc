// SPDX-License-Identifier: Apache-2.0
// Driver functions for modules, kernels and launches. A module is PTX text, or a fat binary that holds some; its
// kernels become known to the runtime by addresses of their own, so that a CUfunction is launched like any other
// kernel.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text_file.h"
#include "compile/fatbin.h"
#include "cuda/driver_calls.h"
#include "cuda/launch.h"

namespace warplens::cuda {
namespace {

CUfunction handle_of(Function& function) { return reinterpret_cast<CUfunction>(&function); }

/// The log buffer that the options name, if any.
struct Log {
  char* text = nullptr;
  size_t bytes = 0;
  Log(unsigned count, const CUjit_option* options, void* const* values) {
    for (unsigned i = 0; options && values && i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER) text = static_cast<char*>(values[i]);
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) bytes = reinterpret_cast<size_t>(values[i]);
    }
  }
  void write(const std::string& what) const {
    if (!text || bytes == 0) return;
    const size_t n = std::min(what.size(), bytes - 1);
    std::memcpy(text, what.data(), n);
    text[n] = 0;
  }
};

/// The PTX of an image: text, or what a fat binary holds.
CUresult ptx_in(const void* image, uint32_t target, std::string& text) {
  const auto bytes = mapped_image(image);
  if (bytes.empty()) {
    const char* chars = static_cast<const char*>(image);
    if (std::memcmp(chars,
                    "\x7f"
                    "ELF",
                    4) == 0)
      return CUDA_ERROR_NO_BINARY_FOR_GPU;  // machine code
    text = chars;
    return CUDA_SUCCESS;
  }
  const auto binary = read_fat_binary(bytes);
  if (!binary) return CUDA_ERROR_INVALID_IMAGE;
  const PtxImage* chosen = choose_image(*binary, target);
  if (!chosen) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  text = chosen->text;
  return CUDA_SUCCESS;
}

/// Says on stderr what is wrong with a module: programs seldom print the log.
CUresult refuse(const Diagnostics& errors, const std::string& text, const Log& log) {
  std::string all;
  for (const Diagnostic& error : errors) all += render(error, text);
  log.write(all);
  say(all);
  return CUDA_ERROR_INVALID_PTX;
}

CUresult load(CUmodule* to, const void* image, const std::string& name, const Log& log) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  if (!to || !image) return CUDA_ERROR_INVALID_VALUE;
  Device& device = Device::instance();
  if (device.sticky() != cudaSuccess) return result_of(device.sticky());
  std::string text;
  if (const CUresult error = ptx_in(image, device.target(), text); error != CUDA_SUCCESS) return error;
  const auto loaded = Registry::instance().load_ptx(text, name, device.arena());
  if (!loaded) return refuse(loaded.error(), text, log);
  *to = reinterpret_cast<CUmodule>(*loaded);
  return CUDA_SUCCESS;
}

template <typename F>
CUresult with_module(CUmodule handle, F&& f) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  Binary* binary = Registry::instance().loaded(handle);
  return binary ? f(*binary) : CUDA_ERROR_INVALID_HANDLE;
}

/// Arguments given as one buffer (CU_LAUNCH_PARAM_BUFFER_POINTER), laid out as the kernel's parameters are.
CUresult arguments_of(const Function& function, void** params, void** extra, std::vector<void*>& to) {
  const ptx::Function* ptx = function.binary->parsed->find_function(function.name);
  if (params) {
    to.assign(params, params + ptx->params.size());
    return CUDA_SUCCESS;
  }
  char* buffer = nullptr;
  size_t bytes = 0;
  for (void** at = extra; at && *at != CU_LAUNCH_PARAM_END; at += 2) {
    if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<char*>(at[1]);
    if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<size_t*>(at[1]);
  }
  for (const ptx::Param& param : ptx->params) {
    if (!buffer || param.offset + param.bytes > bytes) return CUDA_ERROR_INVALID_VALUE;
    to.push_back(buffer + param.offset);
  }
  return CUDA_SUCCESS;
}

CUresult launch_driver(CUfunction handle, LaunchCall call, void** params, void** extra) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!has_context()) return CUDA_ERROR_INVALID_CONTEXT;
  const Function* function = handle ? Registry::instance().function(handle) : nullptr;
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  std::vector<void*> arguments;
  if (const CUresult error = arguments_of(*function, params, extra, arguments); error != CUDA_SUCCESS) return error;
  call.function = handle;
  call.arguments = arguments.data();
  return result_of(quietly([&] { return with_device([&](Device& device) { return launch(device, call); }); }));
}

CUresult attribute_of(const cudaFuncAttributes& a, CUfunction_attribute attribute, int& value) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: value = a.maxThreadsPerBlock; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: value = static_cast<int>(a.sharedSizeBytes); break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: value = static_cast<int>(a.constSizeBytes); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: value = static_cast<int>(a.localSizeBytes); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: value = a.numRegs; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: value = a.ptxVersion; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: value = a.binaryVersion; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: value = a.cacheModeCA; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: value = a.maxDynamicSharedSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: value = a.preferredShmemCarveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: value = a.clusterDimMustBeSet; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: value = a.requiredClusterWidth; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: value = a.requiredClusterHeight; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: value = a.requiredClusterDepth; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: value = a.nonPortableClusterSizeAllowed; break;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

WARPLENS_DRIVER cuModuleLoadData(CUmodule* module, const void* image) {
  return load(module, image, "<module>", Log(0, nullptr, nullptr));
}
WARPLENS_DRIVER cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* options,
                                   void** values) {
  return load(module, image, "<module>", Log(count, options, values));
}
WARPLENS_DRIVER cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(module, image, "<module>", Log(0, nullptr, nullptr));
}
WARPLENS_DRIVER cuModuleLoad(CUmodule* module, const char* path) {
  if (!path) return CUDA_ERROR_INVALID_VALUE;
  const auto text = warplens::read_file(path);
  if (!text) return CUDA_ERROR_FILE_NOT_FOUND;
  return load(module, text->c_str(), path, Log(0, nullptr, nullptr));
}
WARPLENS_DRIVER cuModuleUnload(CUmodule module) {
  return with_module(module, [](Binary& binary) {
    Device& device = Device::instance();
    device.queues().drain_all();
    Registry::instance().unload(binary, device.arena());
    return CUDA_SUCCESS;
  });
}
WARPLENS_DRIVER cuModuleGetFunction(CUfunction* to, CUmodule module, const char* name) {
  return with_module(module, [&](Binary& binary) {
    if (!to || !name) return CUDA_ERROR_INVALID_VALUE;
    Function* function = Registry::instance().function_named(binary, name);
    if (!function) return CUDA_ERROR_NOT_FOUND;
    *to = handle_of(*function);
    return CUDA_SUCCESS;
  });
}
WARPLENS_DRIVER cuModuleGetGlobal_v2(CUdeviceptr* pointer, size_t* bytes, CUmodule module, const char* name) {
  return with_module(module, [&](Binary& binary) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    const auto variable = Registry::instance().variable_named(binary, name);
    if (!variable) return CUDA_ERROR_NOT_FOUND;
    if (pointer) *pointer = variable->address;
    if (bytes) *bytes = variable->bytes;
    return CUDA_SUCCESS;
  });
}

// Linking several modules into one is lacking.
WARPLENS_DRIVER cuLinkCreate_v2(unsigned int, CUjit_option*, void**, CUlinkState*) { return CUDA_ERROR_NOT_SUPPORTED; }
WARPLENS_DRIVER cuLinkAddData_v2(CUlinkState, CUjitInputType, void*, size_t, const char*, unsigned int, CUjit_option*,
                                 void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
WARPLENS_DRIVER cuLinkAddFile_v2(CUlinkState, CUjitInputType, const char*, unsigned int, CUjit_option*, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
WARPLENS_DRIVER cuLinkComplete(CUlinkState, void**, size_t*) { return CUDA_ERROR_NOT_SUPPORTED; }
WARPLENS_DRIVER cuLinkDestroy(CUlinkState) { return CUDA_ERROR_NOT_SUPPORTED; }

WARPLENS_DRIVER cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                               unsigned int block_x, unsigned int block_y, unsigned int block_z,
                               unsigned int shared_bytes, CUstream stream, void** params, void** extra) {
  LaunchCall call;
  call.grid = dim3(grid_x, grid_y, grid_z);
  call.block = dim3(block_x, block_y, block_z);
  call.shared_bytes = shared_bytes;
  call.stream = stream_of(stream);
  return launch_driver(function, call, params, extra);
}
WARPLENS_DRIVER cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                          unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                          unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                          void** params) {
  LaunchCall call;
  call.grid = dim3(grid_x, grid_y, grid_z);
  call.block = dim3(block_x, block_y, block_z);
  call.shared_bytes = shared_bytes;
  call.stream = stream_of(stream);
  call.cooperative = true;
  return launch_driver(function, call, params, nullptr);
}
WARPLENS_DRIVER cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params, void** extra) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  LaunchCall call;
  call.grid = dim3(config->gridDimX, config->gridDimY, config->gridDimZ);
  call.block = dim3(config->blockDimX, config->blockDimY, config->blockDimZ);
  call.shared_bytes = config->sharedMemBytes;
  call.stream = stream_of(config->hStream);
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute& a = config->attrs[i];
    if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) call.cooperative = a.value.cooperative != 0;
    if (a.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    call.cluster = dim3(a.value.clusterDim.x, a.value.clusterDim.y, a.value.clusterDim.z);
    if (call.cluster.x == 0 || call.cluster.y == 0 || call.cluster.z == 0) return CUDA_ERROR_INVALID_VALUE;
  }
  return launch_driver(function, call, params, extra);
}

WARPLENS_DRIVER cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  cudaFuncAttributes all;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  if (!function || !Registry::instance().function(function)) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult error = in_context([&] { return cudaFuncGetAttributes(&all, function); });
  return error == CUDA_SUCCESS ? attribute_of(all, attribute, *value) : error;
}
WARPLENS_DRIVER cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (!function || !Registry::instance().function(function)) return CUDA_ERROR_INVALID_HANDLE;
  return in_context([&] { return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(attribute), value); });
}
WARPLENS_DRIVER cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  if (!function || !Registry::instance().function(function)) return CUDA_ERROR_INVALID_HANDLE;
  return in_context([&] { return cudaFuncSetCacheConfig(function, static_cast<cudaFuncCache>(config)); });
}
