// SPDX-License-Identifier: Apache-2.0
// The frame around runtime functions: with_device() for those that a sticky error fails, ask_device() for questions
// that are answered all the same (observed on an H200: cudaGetDevice, cudaGetDeviceCount, cudaSetDevice, properties).
#pragma once
#include <functional>

#include "cuda/device.h"

namespace warplens::cuda {

template <typename F>
cudaError_t with_device(F&& f) {
  Device& device = Device::instance();
  if (const cudaError_t sticky = device.sticky(); sticky != cudaSuccess) return remember(sticky);
  return remember(f(device));
}

template <typename F>
cudaError_t ask_device(F&& f) {
  return remember(f(Device::instance()));
}

/// As with_device, and then waits with `wait`; a fault of the awaited work is the answer.
template <typename F>
cudaError_t wait_on_device(F&& wait) {
  return with_device([&](Device& device) {
    const cudaError_t error = wait(device);
    return error != cudaSuccess ? error : device.sticky();
  });
}

/// The calling thread's default stream: a blocking one, made at its first use.
std::shared_ptr<Stream> per_thread_stream(Device& device);

/// The stream of a handle. Null is the legacy default stream, also in programs that were compiled to mean the thread's.
inline std::shared_ptr<Stream> stream_of(Device& device, cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return {std::shared_ptr<Stream>(), &device.queues().legacy()};
  if (handle == cudaStreamPerThread) return per_thread_stream(device);
  return device.queues().find(handle);
}

/// cudaStreamAddCallback with any callable; it is given the device's state then.
cudaError_t add_callback(cudaStream_t stream, std::function<void(cudaError_t)> call);

}  // namespace warplens::cuda
