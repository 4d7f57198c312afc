// SPDX-License-Identifier: Apache-2.0
// Driver functions for starting, errors, the device and contexts. There is one device, and all contexts stand for it:
// memory and modules are the device's, whichever context was current.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "cuda/driver_calls.h"

struct CUctx_st {
  bool alive = true;
};

namespace warplens::cuda {
namespace {

std::atomic<bool> g_started{false};
CUctx_st g_primary;
thread_local std::vector<CUcontext> t_contexts;

/// Contexts are few and never freed, so that a handle that was destroyed is known as such.
struct Contexts {
  std::mutex mutex;
  std::vector<std::unique_ptr<CUctx_st>> all;
  bool knows(CUcontext context) {
    const std::lock_guard lock(mutex);
    if (context == &g_primary) return true;
    for (const auto& known : all)
      if (known.get() == context) return known->alive;
    return false;
  }
};
Contexts& contexts() {
  static Contexts* const all = new Contexts;
  return *all;
}

void set_current(CUcontext context) {
  if (!t_contexts.empty()) t_contexts.pop_back();
  if (context) t_contexts.push_back(context);
}

CUresult create_context(CUcontext* to, unsigned flags, CUdevice device) {
  if (!g_started) return CUDA_ERROR_NOT_INITIALIZED;
  if (!to || (flags & ~0xffu)) return CUDA_ERROR_INVALID_VALUE;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  Device::instance();
  const std::lock_guard lock(contexts().mutex);
  contexts().all.push_back(std::make_unique<CUctx_st>());
  *to = contexts().all.back().get();
  t_contexts.push_back(*to);
  return CUDA_SUCCESS;
}

/// `call` answers a question about a device, for which no context is needed.
template <typename F>
CUresult about_device(CUdevice device, F&& call) {
  if (!g_started) return CUDA_ERROR_NOT_INITIALIZED;
  if (device != 0) return CUDA_ERROR_INVALID_DEVICE;
  return call(Device::instance());
}

struct Name {
  CUresult result;
  const char* name;
};
constexpr Name kNames[] = {
#define DRIVER_ERROR(result) {result, #result},
#include "cuda/driver_errors.def"
#undef DRIVER_ERROR
};

}  // namespace

CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    default: return static_cast<CUresult>(error);
  }
}

bool driver_started() { return g_started; }
bool has_context() { return !t_contexts.empty() && contexts().knows(t_contexts.back()); }

}  // namespace warplens::cuda

using namespace warplens::cuda;

WARPLENS_DRIVER cuInit(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  g_started = true;
  return CUDA_SUCCESS;
}
WARPLENS_DRIVER cuDriverGetVersion(int* version) {
  return result_of(quietly([&] { return cudaDriverGetVersion(version); }));
}
WARPLENS_DRIVER cuGetErrorName(CUresult error, const char** name) {
  if (!name) return CUDA_ERROR_INVALID_VALUE;
  *name = nullptr;
  for (const Name& known : kNames)
    if (known.result == error) *name = known.name;
  return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
WARPLENS_DRIVER cuGetErrorString(CUresult error, const char** text) {
  const char* name = nullptr;
  if (!text) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  if (cuGetErrorName(error, &name) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
  *text = cudaGetErrorString(static_cast<cudaError_t>(error));
  return CUDA_SUCCESS;
}

WARPLENS_DRIVER cuDeviceGetCount(int* count) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  *count = 1;
  return CUDA_SUCCESS;
}
WARPLENS_DRIVER cuDeviceGet(CUdevice* device, int ordinal) {
  return about_device(ordinal, [&](Device&) {
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = 0;
    return CUDA_SUCCESS;
  });
}
WARPLENS_DRIVER cuDeviceGetName(char* name, int length, CUdevice device) {
  return about_device(device, [&](Device& d) {
    if (!name || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::strncpy(name, d.gpu().name.c_str(), static_cast<size_t>(length));
    name[length - 1] = 0;
    return CUDA_SUCCESS;
  });
}
WARPLENS_DRIVER cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return about_device(device, [&](Device& d) {
    if (!uuid) return CUDA_ERROR_INVALID_VALUE;
    std::memset(uuid, 0, sizeof *uuid);
    std::memcpy(uuid, d.gpu().name.data(), std::min(sizeof *uuid, d.gpu().name.size()));
    return CUDA_SUCCESS;
  });
}
WARPLENS_DRIVER cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return about_device(device, [&](Device& d) {
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    *bytes = d.gpu().memory_bytes;
    return CUDA_SUCCESS;
  });
}
WARPLENS_DRIVER cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return about_device(device, [&](Device&) {
    const auto number = static_cast<cudaDeviceAttr>(attribute);
    return result_of(quietly([&] { return cudaDeviceGetAttribute(value, number, 0); }));
  });
}
WARPLENS_DRIVER cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return about_device(device, [&](Device& d) {
    if (!major || !minor) return CUDA_ERROR_INVALID_VALUE;
    *major = d.gpu().compute_capability[0];
    *minor = d.gpu().compute_capability[1];
    return CUDA_SUCCESS;
  });
}
WARPLENS_DRIVER cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return about_device(device, [&](Device&) {
    if (!can) return CUDA_ERROR_INVALID_VALUE;
    *can = 0;
    return peer == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  });
}

WARPLENS_DRIVER cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return about_device(device, [&](Device&) {
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = &g_primary;
    return CUDA_SUCCESS;
  });
}
WARPLENS_DRIVER cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return about_device(device, [](Device&) { return CUDA_SUCCESS; });
}
WARPLENS_DRIVER cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return about_device(device, [](Device& d) {
    d.reset();
    return CUDA_SUCCESS;
  });
}
WARPLENS_DRIVER cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
  return about_device(device, [&](Device&) { return flags & ~0xffu ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; });
}
WARPLENS_DRIVER cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  return about_device(device, [&](Device&) {
    if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
    *flags = 0;
    *active = 1;
    return CUDA_SUCCESS;
  });
}

WARPLENS_DRIVER cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  return create_context(context, flags, device);
}
WARPLENS_DRIVER cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* params, unsigned int flags, CUdevice device) {
  // Confining a context would change what its kernels may count on; refused instead of ignored.
  if (params && (params->numExecAffinityParams != 0 || params->cigParams)) return CUDA_ERROR_NOT_SUPPORTED;
  return create_context(context, flags, device);
}
WARPLENS_DRIVER cuCtxDestroy_v2(CUcontext context) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!context || context == &g_primary || !contexts().knows(context)) return CUDA_ERROR_INVALID_CONTEXT;
  Device::instance().queues().drain_all();
  if (!t_contexts.empty() && t_contexts.back() == context) t_contexts.pop_back();
  const std::lock_guard lock(contexts().mutex);
  context->alive = false;
  return CUDA_SUCCESS;
}
WARPLENS_DRIVER cuCtxPushCurrent_v2(CUcontext context) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!contexts().knows(context)) return CUDA_ERROR_INVALID_CONTEXT;
  t_contexts.push_back(context);
  return CUDA_SUCCESS;
}
WARPLENS_DRIVER cuCtxPopCurrent_v2(CUcontext* context) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  if (t_contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context) *context = t_contexts.back();
  t_contexts.pop_back();
  return CUDA_SUCCESS;
}
WARPLENS_DRIVER cuCtxSetCurrent(CUcontext context) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  if (context && !contexts().knows(context)) return CUDA_ERROR_INVALID_CONTEXT;
  set_current(context);
  return CUDA_SUCCESS;
}
WARPLENS_DRIVER cuCtxGetCurrent(CUcontext* context) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!context) return CUDA_ERROR_INVALID_VALUE;
  *context = t_contexts.empty() ? nullptr : t_contexts.back();
  return CUDA_SUCCESS;
}
WARPLENS_DRIVER cuCtxGetDevice(CUdevice* device) {
  return in_context([&] { return cudaGetDevice(device); });
}
WARPLENS_DRIVER cuCtxSynchronize(void) {
  return in_context([] { return cudaDeviceSynchronize(); });
}
WARPLENS_DRIVER cuCtxSetLimit(CUlimit limit, size_t value) {
  return in_context([&] { return cudaDeviceSetLimit(static_cast<cudaLimit>(limit), value); });
}
WARPLENS_DRIVER cuCtxGetLimit(size_t* value, CUlimit limit) {
  return in_context([&] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(limit)); });
}
WARPLENS_DRIVER cuCtxSetCacheConfig(CUfunc_cache config) {
  return in_context([&] { return cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(config)); });
}
WARPLENS_DRIVER cuCtxEnablePeerAccess(CUcontext, unsigned int) {
  return in_context([] { return cudaErrorPeerAccessUnsupported; });
}
WARPLENS_DRIVER cuProfilerStart(void) {
  return in_context([] { return cudaProfilerStart(); });
}
WARPLENS_DRIVER cuProfilerStop(void) {
  return in_context([] { return cudaProfilerStop(); });
}

/// The function of a name, in its newest form that we have ("cuMemAlloc" is cuMemAlloc_v2).
WARPLENS_DRIVER cuGetProcAddress_v2(const char* symbol, void** function, int, cuuint64_t, int* status) {
  if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
  *function = nullptr;
  for (const char* version : {"_v2", ""})
    if (!*function) *function = dlsym(RTLD_DEFAULT, (std::string(symbol) + version).c_str());
  if (status) *status = *function ? 0 : 1;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/// The runtime's way to ask for driver functions.
WARPLENS_EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                                             unsigned long long,
                                                             cudaDriverEntryPointQueryResult* status) {
  int found = 0;
  const CUresult result = cuGetProcAddress_v2(symbol, function, 0, 0, &found);
  if (result == CUDA_ERROR_INVALID_VALUE) return remember(cudaErrorInvalidValue);
  if (status) *status = found == 0 ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return result == CUDA_SUCCESS || status ? cudaSuccess : remember(cudaErrorSymbolNotFound);
}
WARPLENS_ALIAS(cudaGetDriverEntryPointByVersion_ptsz, cudaGetDriverEntryPointByVersion);
WARPLENS_EXPORT cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, 0, flags, status);
}
WARPLENS_ALIAS(cudaGetDriverEntryPoint_ptsz, cudaGetDriverEntryPoint);
