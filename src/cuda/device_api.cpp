// SPDX-License-Identifier: Apache-2.0
// Runtime functions about the device: which one, what it is, waiting for it, resetting it. There is one device, number
// 0; its answers come from the GPU file.
#include <algorithm>
#include <cstring>

#include "cuda/capture.h"
#include "cuda/entry.h"
#include "cuda/properties.h"

namespace warplens::cuda {
namespace {

constexpr char kBusId[] = "0000:00:00.0";
constexpr int kCudaVersion13 = 13000, kCudaVersion12 = 12090;

template <typename T>
cudaError_t answer(T* to, T value) {
  if (!to) return remember(cudaErrorInvalidValue);
  *to = value;
  return cudaSuccess;
}

/// What cudaDeviceSetLimit may set; only kept, since nothing here runs out of these.
struct Limits {
  std::mutex mutex;
  size_t value[7] = {1024, size_t{1} << 20, size_t{8} << 20, 2, 2048, 64, 0};
};
Limits& limits() {
  static Limits* const all = new Limits;
  return *all;
}

std::atomic<unsigned> g_flags{0};

/// A question that the GPU's file does not answer: said once for each attribute, when there is one of that number.
cudaError_t unknown_attribute(Device& device, int number) {
  constexpr int kAttributes = 145;  // CUDA 13.0 has so many
  if (number < 1 || number > kAttributes) return cudaErrorInvalidValue;
  static std::atomic<bool> said[kAttributes + 1];
  if (said[number].exchange(true)) return cudaErrorInvalidValue;
  const std::string text = "cudaDeviceGetAttribute: what " + device.gpu().name + " answers for attribute " +
                           std::to_string(number) + " is not known";
  if (auto* records = device.session().records())
    records->notice("unknown_attribute", text);
  else
    say(text);
  return cudaErrorInvalidValue;
}

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

cudaError_t cudaGetDeviceCount(int* count) { return answer(count, 1); }
cudaError_t cudaGetDevice(int* device) { return answer(device, 0); }
cudaError_t cudaSetDevice(int device) { return remember(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) { return cudaSetDevice(device); }
cudaError_t cudaSetValidDevices(int* devices, int count) {
  const bool fits =
      count >= 0 && (count == 0 || devices) && std::all_of(devices, devices + count, [](int d) { return d == 0; });
  return remember(fits ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  if (!wanted) return remember(cudaErrorInvalidValue);
  return answer(device, 0);
}
cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  if (flags & ~(cudaDeviceMask | cudaDeviceSyncMemops)) return remember(cudaErrorInvalidValue);
  g_flags = flags;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned int* flags) { return answer(flags, g_flags.load()); }

cudaError_t cudaDeviceSynchronize(void) {
  return wait_on_device([](Device& device) {
    if (const cudaError_t error = Captures::instance().refuse_unsafe(); error != cudaSuccess) return error;
    device.queues().drain_all();
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceReset(void) {
  return ask_device([](Device& device) {
    device.reset();
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!properties) return remember(cudaErrorInvalidValue);
  if (device != 0) return remember(cudaErrorInvalidDevice);
  return ask_device([&](Device& d) {
    if (kRuntimeMajor >= 13)
      fill_properties(d.gpu(), *properties);
    else
      fill_properties_11(d.gpu(), properties);
    return cudaSuccess;
  });
}
/// The name that CUDA 12's headers give to cudaGetDeviceProperties.
WARPLENS_EXPORT cudaError_t cudaGetDeviceProperties_v2(void* properties, int device) {
  if (!properties) return remember(cudaErrorInvalidValue);
  if (device != 0) return remember(cudaErrorInvalidDevice);
  return ask_device([&](Device& d) {
    fill_properties_12(d.gpu(), properties);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!value) return remember(cudaErrorInvalidValue);
  if (device != 0) return remember(cudaErrorInvalidDevice);
  return ask_device([&](Device& d) {
    const auto known = d.gpu().known_attribute(static_cast<int>(attribute));
    if (!known) return unknown_attribute(d, static_cast<int>(attribute));
    *value = *known;
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return answer(version, kRuntimeMajor >= 13 ? kCudaVersion13 : kCudaVersion12);
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return answer(version, kRuntimeMajor >= 13 ? kCudaVersion13 : kCudaVersion12);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if (static_cast<unsigned>(limit) >= std::size(limits().value)) return remember(cudaErrorUnsupportedLimit);
  const std::lock_guard lock(limits().mutex);
  limits().value[limit] = value;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  if (static_cast<unsigned>(limit) >= std::size(limits().value)) return remember(cudaErrorUnsupportedLimit);
  const std::lock_guard lock(limits().mutex);
  return answer(value, limits().value[limit]);
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) { return answer(config, cudaFuncCachePreferNone); }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return remember(static_cast<unsigned>(config) > cudaFuncCachePreferEqual ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return answer(config, cudaSharedMemBankSizeFourByte);
}
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return remember(static_cast<unsigned>(config) > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue : cudaSuccess);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (device != 0 || peer != 0) return remember(cudaErrorInvalidDevice);
  return answer(can, 0);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return remember(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int) { return remember(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceGetP2PAttribute(int*, cudaDeviceP2PAttr, int, int) {
  return remember(cudaErrorInvalidDevice);  // it takes two devices
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!text || length < static_cast<int>(sizeof kBusId)) return remember(cudaErrorInvalidValue);
  if (device != 0) return remember(cudaErrorInvalidDevice);
  std::memcpy(text, kBusId, sizeof kBusId);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  if (!device || !text) return remember(cudaErrorInvalidValue);
  // With or without the domain and the function: "0000:00:00.0", "00:00".
  const std::string_view asked(text), known(kBusId);
  const bool fits =
      asked == known || asked == known.substr(0, 10) || asked == known.substr(5) || asked == known.substr(5, 5);
  if (!fits) return remember(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaCtxResetPersistingL2Cache(void) { return cudaSuccess; }
// Filters of what is counted (--profile-from-start off); otherwise without effect.
cudaError_t cudaProfilerStart(void) {
  Device::instance().session().set_profiling(true);
  return cudaSuccess;
}
cudaError_t cudaProfilerStop(void) {
  Device::instance().session().set_profiling(false);
  return cudaSuccess;
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
