// SPDX-License-Identifier: Apache-2.0
// Driver functions for memory, streams and events: the runtime's, with the driver's types.
#include "cuda/copy.h"
#include "cuda/driver_calls.h"

namespace warplens::cuda {
namespace {

cudaEvent_t event_of(CUevent event) { return reinterpret_cast<cudaEvent_t>(event); }
void** out_of(CUdeviceptr* pointer) { return reinterpret_cast<void**>(pointer); }

/// As the runtime's allocation, but no bytes are an error.
template <typename F>
CUresult allocate(size_t bytes, F&& call) {
  return in_context([&] { return bytes == 0 ? cudaErrorInvalidValue : call(); });
}

CUresult copy(CUdeviceptr dst, CUdeviceptr src, size_t bytes, cudaMemcpyKind kind) {
  return in_context([&] { return cudaMemcpy(pointer_of(dst), pointer_of(src), bytes, kind); });
}
CUresult copy_async(CUdeviceptr dst, CUdeviceptr src, size_t bytes, cudaMemcpyKind kind, CUstream stream) {
  return in_context([&] { return cudaMemcpyAsync(pointer_of(dst), pointer_of(src), bytes, kind, stream_of(stream)); });
}
CUdeviceptr address_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

CUresult fill(CUdeviceptr pointer, uint32_t value, uint32_t element_bytes, size_t count, CUstream handle) {
  return in_context([&] {
    return with_device([&](Device& device) {
      const auto stream = stream_of(device, stream_of(handle));
      if (!stream) return cudaErrorInvalidResourceHandle;
      const Fill asked = {.pointer = pointer_of(pointer),
                          .pitch = count * element_bytes,
                          .width = count * element_bytes,
                          .value = value,
                          .element_bytes = element_bytes};
      if (pointer % element_bytes != 0) return cudaErrorInvalidValue;
      if (const cudaError_t error = check(device, asked); error != cudaSuccess) return error;
      enqueue(device, *stream, asked);
      return cudaSuccess;
    });
  });
}

CUresult attribute_of(const Placed& placed, CUpointer_attribute attribute, CUdeviceptr pointer, void* to) {
  const bool device = placed.kind == MemoryKind::kDevice;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return cuCtxGetCurrent(static_cast<CUcontext*>(to));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: {
      const bool host = placed.kind == MemoryKind::kPinned || placed.kind == MemoryKind::kRegistered;
      *static_cast<unsigned*>(to) = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    }
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *static_cast<CUdeviceptr*>(to) = pointer; return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (device) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<void**>(to) = pointer_of(pointer);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(to) = placed.kind == MemoryKind::kManaged;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(to) = 0; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

WARPLENS_DRIVER cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  return in_context([&] { return cudaMemGetInfo(free_bytes, total); });
}
WARPLENS_DRIVER cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  return allocate(bytes, [&] { return cudaMalloc(out_of(pointer), bytes); });
}
WARPLENS_DRIVER cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height,
                                   unsigned int element) {
  if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
  return allocate(width * height, [&] { return cudaMallocPitch(out_of(pointer), pitch, width, height); });
}
WARPLENS_DRIVER cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned int flags) {
  return in_context([&] { return cudaMallocManaged(out_of(pointer), bytes, flags); });
}
WARPLENS_DRIVER cuMemFree_v2(CUdeviceptr pointer) {
  return in_context([&] { return pointer == 0 ? cudaErrorInvalidValue : cudaFree(pointer_of(pointer)); });
}
WARPLENS_DRIVER cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return allocate(bytes, [&] { return cudaMallocHost(pointer, bytes); });
}
WARPLENS_DRIVER cuMemHostAlloc(void** pointer, size_t bytes, unsigned int flags) {
  return allocate(bytes, [&] { return cudaHostAlloc(pointer, bytes, flags); });
}
WARPLENS_DRIVER cuMemFreeHost(void* pointer) {
  return in_context([&] { return pointer ? cudaFreeHost(pointer) : cudaErrorInvalidValue; });
}
WARPLENS_DRIVER cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned int flags) {
  return in_context([&] { return cudaHostRegister(pointer, bytes, flags); });
}
WARPLENS_DRIVER cuMemHostUnregister(void* pointer) {
  return in_context([&] { return cudaHostUnregister(pointer); });
}
WARPLENS_DRIVER cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned int flags) {
  return in_context([&] { return cudaHostGetDevicePointer(out_of(device), host, flags); });
}

WARPLENS_DRIVER cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return copy(dst, src, bytes, cudaMemcpyDefault);
}
WARPLENS_DRIVER cuMemcpyHtoD_v2(CUdeviceptr dst, const void* src, size_t bytes) {
  return copy(dst, address_of(src), bytes, cudaMemcpyHostToDevice);
}
WARPLENS_DRIVER cuMemcpyDtoH_v2(void* dst, CUdeviceptr src, size_t bytes) {
  return copy(address_of(dst), src, bytes, cudaMemcpyDeviceToHost);
}
WARPLENS_DRIVER cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  return copy(dst, src, bytes, cudaMemcpyDeviceToDevice);
}
WARPLENS_DRIVER cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return copy_async(dst, src, bytes, cudaMemcpyDefault, stream);
}
WARPLENS_DRIVER cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void* src, size_t bytes, CUstream stream) {
  return copy_async(dst, address_of(src), bytes, cudaMemcpyHostToDevice, stream);
}
WARPLENS_DRIVER cuMemcpyDtoHAsync_v2(void* dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return copy_async(address_of(dst), src, bytes, cudaMemcpyDeviceToHost, stream);
}
WARPLENS_DRIVER cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream) {
  return copy_async(dst, src, bytes, cudaMemcpyDeviceToDevice, stream);
}
WARPLENS_DRIVER cuMemsetD8_v2(CUdeviceptr pointer, unsigned char value, size_t count) {
  return fill(pointer, value, 1, count, nullptr);
}
WARPLENS_DRIVER cuMemsetD16_v2(CUdeviceptr pointer, unsigned short value, size_t count) {
  return fill(pointer, value, 2, count, nullptr);
}
WARPLENS_DRIVER cuMemsetD32_v2(CUdeviceptr pointer, unsigned int value, size_t count) {
  return fill(pointer, value, 4, count, nullptr);
}
WARPLENS_DRIVER cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count, CUstream stream) {
  return fill(pointer, value, 1, count, stream);
}
WARPLENS_DRIVER cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count, CUstream stream) {
  return fill(pointer, value, 4, count, stream);
}
WARPLENS_DRIVER cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  if (!driver_started()) return CUDA_ERROR_NOT_INITIALIZED;
  const auto placed = Device::instance().find(pointer_of(pointer));
  return data && placed ? attribute_of(*placed, attribute, pointer, data) : CUDA_ERROR_INVALID_VALUE;
}

WARPLENS_DRIVER cuStreamCreate(CUstream* stream, unsigned int flags) {
  return in_context([&] { return cudaStreamCreateWithFlags(reinterpret_cast<cudaStream_t*>(stream), flags); });
}
WARPLENS_DRIVER cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return in_context(
      [&] { return cudaStreamCreateWithPriority(reinterpret_cast<cudaStream_t*>(stream), flags, priority); });
}
WARPLENS_DRIVER cuStreamDestroy_v2(CUstream stream) {
  return in_context([&] { return cudaStreamDestroy(stream_of(stream)); });
}
WARPLENS_DRIVER cuStreamSynchronize(CUstream stream) {
  return in_context([&] { return cudaStreamSynchronize(stream_of(stream)); });
}
WARPLENS_DRIVER cuStreamQuery(CUstream stream) {
  return in_context([&] { return cudaStreamQuery(stream_of(stream)); });
}
WARPLENS_DRIVER cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return in_context([&] { return cudaStreamWaitEvent(stream_of(stream), event_of(event), flags); });
}
WARPLENS_DRIVER cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data, unsigned int flags) {
  return in_context([&] {
    if (!callback || flags != 0) return cudaErrorInvalidValue;
    return add_callback(stream_of(stream), [=](cudaError_t state) { callback(stream, result_of(state), data); });
  });
}
WARPLENS_DRIVER cuLaunchHostFunc(CUstream stream, CUhostFn fn, void* data) {
  return in_context([&] { return cudaLaunchHostFunc(stream_of(stream), fn, data); });
}
WARPLENS_DRIVER cuEventCreate(CUevent* event, unsigned int flags) {
  return in_context([&] { return cudaEventCreateWithFlags(reinterpret_cast<cudaEvent_t*>(event), flags); });
}
WARPLENS_DRIVER cuEventDestroy_v2(CUevent event) {
  return in_context([&] { return cudaEventDestroy(event_of(event)); });
}
WARPLENS_DRIVER cuEventRecord(CUevent event, CUstream stream) {
  return in_context([&] { return cudaEventRecord(event_of(event), stream_of(stream)); });
}
WARPLENS_DRIVER cuEventSynchronize(CUevent event) {
  return in_context([&] { return cudaEventSynchronize(event_of(event)); });
}
WARPLENS_DRIVER cuEventQuery(CUevent event) {
  return in_context([&] { return cudaEventQuery(event_of(event)); });
}
WARPLENS_DRIVER cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return in_context([&] { return cudaEventElapsedTime(milliseconds, event_of(start), event_of(end)); });
}
#undef cuEventElapsedTime
WARPLENS_ALIAS(cuEventElapsedTime, cuEventElapsedTime_v2);
