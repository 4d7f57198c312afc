// SPDX-License-Identifier: Apache-2.0
// Runtime functions for memory: allocation, copies, fills. All memory that the device can use lies in the arena, pinned
// and managed host memory too, so that kernels reach it by the address that the program has. Copies check both ends
// against the arena's allocations before anything is touched. Errors are those that an H200 gave (tests/programs).
#include <cstring>
#include <utility>
#include <vector>

#include "cuda/capture.h"
#include "cuda/copy.h"
#include "cuda/entry.h"
#include "cuda/pool.h"

namespace warplens::cuda {
namespace {

cudaError_t allocate(void** pointer, size_t bytes, MemoryKind kind) {
  return with_device([&](Device& device) {
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (const cudaError_t error = Captures::instance().refuse_unsafe(); error != cudaSuccess) return error;
    *pointer = device.allocate(bytes, kind);
    return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
  });
}

cudaError_t release(void* pointer, bool host_memory) {
  return with_device([&](Device& device) {
    if (!pointer) return cudaSuccess;
    if (const cudaError_t error = Captures::instance().refuse_unsafe(); error != cudaSuccess) return error;
    if (!host_memory && GraphMemory::instance().contains(pointer)) {
      device.queues().drain_all();
      return GraphMemory::instance().free(pointer) ? cudaSuccess : cudaErrorInvalidValue;
    }
    if (!host_memory) Pools::instance().forget(pointer);
    return device.free(pointer, host_memory) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t copy(const Copy& asked, cudaStream_t handle, When when) {
  return with_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = check(device, asked); error != cudaSuccess) return error;
    if (const auto answer = captured(device, *stream, cudaGraphNodeTypeMemcpy, [&] { return asked; })) return *answer;
    return enqueue(device, *stream, asked, when);
  });
}

cudaError_t copy_3d(const cudaMemcpy3DParms* parms, cudaStream_t stream, When when) {
  Copy box;
  if (!parms) return remember(cudaErrorInvalidValue);
  if (const cudaError_t error = copy_of(*parms, box); error != cudaSuccess) return remember(error);
  return copy(box, stream, when);
}

cudaError_t copy_3d_peer(const cudaMemcpy3DPeerParms* p, cudaStream_t stream, When when) {
  if (!p) return remember(cudaErrorInvalidValue);
  if (p->srcDevice != 0 || p->dstDevice != 0) return remember(cudaErrorInvalidDevice);
  const cudaMemcpy3DParms parms = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray,
                                   p->dstPos,   p->dstPtr, p->extent, cudaMemcpyDeviceToDevice};
  return copy_3d(&parms, stream, when);
}

cudaError_t fill(const Fill& asked, cudaStream_t handle) {
  return with_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = check(device, asked); error != cudaSuccess) return error;
    if (const auto answer = captured(device, *stream, cudaGraphNodeTypeMemset, [&] { return asked; })) return *answer;
    enqueue(device, *stream, asked);
    return cudaSuccess;
  });
}

Fill plain_fill(void* pointer, int value, size_t bytes) {
  return {.pointer = pointer, .pitch = bytes, .width = bytes, .value = static_cast<uint32_t>(value) & 0xff};
}
Fill rows_fill(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return {.pointer = pointer,
          .pitch = pitch,
          .width = width,
          .height = height,
          .value = static_cast<uint32_t>(value) & 0xff};
}
Fill box_fill(const cudaPitchedPtr& p, int value, const cudaExtent& extent) {
  return {.pointer = p.ptr,
          .pitch = p.pitch,
          .slice = p.pitch * p.ysize,
          .width = extent.width,
          .height = extent.height,
          .depth = extent.depth,
          .value = static_cast<uint32_t>(value) & 0xff};
}
Copy rows_copy(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
               cudaMemcpyKind kind) {
  return {
      .dst = dst, .dst_pitch = dpitch, .src = src, .src_pitch = spitch, .width = width, .height = height, .kind = kind};
}

cudaError_t find_variable(Device& device, const void* symbol, PlacedVariable& to) {
  const auto found = Registry::instance().variable(symbol, device.arena(), device.target());
  if (!found) give_up(found.error());
  if (!*found) return cudaErrorInvalidSymbol;
  to = **found;
  return cudaSuccess;
}

enum class Direction : uint8_t { kToSymbol, kFromSymbol };

cudaError_t copy_symbol(Direction direction, const void* symbol, const void* other, size_t count, size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, When when) {
  PlacedVariable variable;
  const bool to = direction == Direction::kToSymbol;
  const cudaError_t error = with_device([&](Device& device) {
    const bool kind_fits = kind == cudaMemcpyDefault || kind == cudaMemcpyDeviceToDevice ||
                           kind == (to ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
    if (!kind_fits) return cudaErrorInvalidMemcpyDirection;
    if (const cudaError_t missing = find_variable(device, symbol, variable); missing != cudaSuccess) return missing;
    return offset > variable.bytes || count > variable.bytes - offset ? cudaErrorInvalidValue : cudaSuccess;
  });
  if (error != cudaSuccess) return error;
  void* place = reinterpret_cast<void*>(static_cast<uintptr_t>(variable.address + offset));
  if (to) return copy(plain_copy(place, other, count, kind), stream, when);
  return copy(plain_copy(const_cast<void*>(other), place, count, kind), stream, when);
}

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

cudaError_t cudaMalloc(void** pointer, size_t size) { return allocate(pointer, size, MemoryKind::kDevice); }
cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned int flags) {
  if (size == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)) return remember(cudaErrorInvalidValue);
  return allocate(pointer, size, MemoryKind::kManaged);
}
cudaError_t cudaMallocHost(void** pointer, size_t size) { return allocate(pointer, size, MemoryKind::kPinned); }
cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned int flags) {
  if (flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
    return remember(cudaErrorInvalidValue);
  return allocate(pointer, size, MemoryKind::kPinned);
}
cudaError_t cudaFree(void* pointer) { return release(pointer, false); }
cudaError_t cudaFreeHost(void* pointer) { return release(pointer, true); }

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pitch) return remember(cudaErrorInvalidValue);
  *pitch = (width + 511) / 512 * 512;
  return allocate(pointer, *pitch * height, MemoryKind::kDevice);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  if (!pointer) return remember(cudaErrorInvalidValue);
  pointer->pitch = (extent.width + 511) / 512 * 512;
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return allocate(&pointer->ptr, pointer->pitch * extent.height * extent.depth, MemoryKind::kDevice);
}

cudaError_t cudaHostGetDevicePointer(void** pointer, void* host, unsigned int flags) {
  return with_device([&](Device& device) {
    if (!pointer || flags != 0) return cudaErrorInvalidValue;
    const auto placed = device.find(host);
    if (!placed || placed->kind == MemoryKind::kDevice) return cudaErrorInvalidValue;
    *pointer = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned int flags) {
  return with_device([&](Device& device) {
    constexpr unsigned kKnown =
        cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    if (!pointer || size == 0 || (flags & ~kKnown)) return cudaErrorInvalidValue;
    if (flags & cudaHostRegisterIoMemory) return cudaErrorNotSupported;
    return device.register_host(pointer, size) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered;
  });
}
cudaError_t cudaHostUnregister(void* pointer) {
  return with_device([&](Device& device) {
    if (!pointer) return cudaErrorInvalidValue;
    return device.unregister_host(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered;
  });
}
cudaError_t cudaHostGetFlags(unsigned int* flags, void* pointer) {
  return with_device([&](Device& device) {
    const auto placed = device.find(pointer);
    const bool host = placed && (placed->kind == MemoryKind::kPinned || placed->kind == MemoryKind::kRegistered);
    if (!flags || !host) return cudaErrorInvalidValue;
    *flags = cudaHostAllocMapped;  // all host memory that the device knows is mapped
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  return with_device([&](Device& device) {
    if (!free_bytes || !total) return cudaErrorInvalidValue;
    *total = device.arena().capacity_bytes();
    *free_bytes = *total - device.arena().used_bytes();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return with_device([&](Device& device) {
    if (!attributes) return cudaErrorInvalidValue;
    std::memset(attributes, 0, offsetof(cudaPointerAttributes, reserved));
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = -2;  // none
    attributes->hostPointer = const_cast<void*>(pointer);
    const auto placed = device.find(pointer);
    if (!placed) return cudaSuccess;
    attributes->type = placed->kind == MemoryKind::kDevice    ? cudaMemoryTypeDevice
                       : placed->kind == MemoryKind::kManaged ? cudaMemoryTypeManaged
                                                              : cudaMemoryTypeHost;
    attributes->device = 0;
    attributes->devicePointer = const_cast<void*>(pointer);
    if (placed->kind == MemoryKind::kDevice) attributes->hostPointer = nullptr;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return copy(plain_copy(dst, src, count, kind), nullptr, When::kNow);
}
WARPLENS_ALIAS(cudaMemcpy_ptds, cudaMemcpy);
cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy(plain_copy(dst, src, count, kind), stream, When::kLater);
}
WARPLENS_ALIAS(cudaMemcpyAsync_ptsz, cudaMemcpyAsync);
cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return copy(rows_copy(dst, dpitch, src, spitch, width, height, kind), nullptr, When::kNow);
}
WARPLENS_ALIAS(cudaMemcpy2D_ptds, cudaMemcpy2D);
cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copy(rows_copy(dst, dpitch, src, spitch, width, height, kind), stream, When::kLater);
}
WARPLENS_ALIAS(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync);
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) { return copy_3d(p, nullptr, When::kNow); }
WARPLENS_ALIAS(cudaMemcpy3D_ptds, cudaMemcpy3D);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream) {
  return copy_3d(p, stream, When::kLater);
}
WARPLENS_ALIAS(cudaMemcpy3DAsync_ptsz, cudaMemcpy3DAsync);
cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* p) { return copy_3d_peer(p, nullptr, When::kNow); }
WARPLENS_ALIAS(cudaMemcpy3DPeer_ptds, cudaMemcpy3DPeer);
WARPLENS_EXPORT cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* p, cudaStream_t stream) {
  return copy_3d_peer(p, stream, When::kLater);
}
WARPLENS_ALIAS(cudaMemcpy3DPeerAsync_ptsz, cudaMemcpy3DPeerAsync);
cudaError_t cudaMemcpyPeer(void* dst, int to, const void* src, int from, size_t count) {
  if (to != 0 || from != 0) return remember(cudaErrorInvalidDevice);
  return copy(plain_copy(dst, src, count, cudaMemcpyDeviceToDevice), nullptr, When::kNow);
}
cudaError_t cudaMemcpyPeerAsync(void* dst, int to, const void* src, int from, size_t count, cudaStream_t stream) {
  if (to != 0 || from != 0) return remember(cudaErrorInvalidDevice);
  return copy(plain_copy(dst, src, count, cudaMemcpyDeviceToDevice), stream, When::kLater);
}

cudaError_t cudaMemset(void* pointer, int value, size_t count) {
  return fill(plain_fill(pointer, value, count), nullptr);
}
WARPLENS_ALIAS(cudaMemset_ptds, cudaMemset);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
  return fill(plain_fill(pointer, value, count), stream);
}
WARPLENS_ALIAS(cudaMemsetAsync_ptsz, cudaMemsetAsync);
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return fill(rows_fill(pointer, pitch, value, width, height), nullptr);
}
WARPLENS_ALIAS(cudaMemset2D_ptds, cudaMemset2D);
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return fill(rows_fill(pointer, pitch, value, width, height), stream);
}
WARPLENS_ALIAS(cudaMemset2DAsync_ptsz, cudaMemset2DAsync);

cudaError_t cudaMemset3D(cudaPitchedPtr pointer, int value, cudaExtent extent) {
  return fill(box_fill(pointer, value, extent), nullptr);
}
WARPLENS_ALIAS(cudaMemset3D_ptds, cudaMemset3D);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pointer, int value, cudaExtent extent, cudaStream_t stream) {
  return fill(box_fill(pointer, value, extent), stream);
}
WARPLENS_ALIAS(cudaMemset3DAsync_ptsz, cudaMemset3DAsync);

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset, cudaMemcpyKind kind) {
  return copy_symbol(Direction::kToSymbol, symbol, src, count, offset, kind, nullptr, When::kNow);
}
WARPLENS_ALIAS(cudaMemcpyToSymbol_ptds, cudaMemcpyToSymbol);
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_symbol(Direction::kToSymbol, symbol, src, count, offset, kind, stream, When::kLater);
}
WARPLENS_ALIAS(cudaMemcpyToSymbolAsync_ptsz, cudaMemcpyToSymbolAsync);
cudaError_t cudaMemcpyFromSymbol(void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return copy_symbol(Direction::kFromSymbol, symbol, dst, count, offset, kind, nullptr, When::kNow);
}
WARPLENS_ALIAS(cudaMemcpyFromSymbol_ptds, cudaMemcpyFromSymbol);
cudaError_t cudaMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return copy_symbol(Direction::kFromSymbol, symbol, dst, count, offset, kind, stream, When::kLater);
}
WARPLENS_ALIAS(cudaMemcpyFromSymbolAsync_ptsz, cudaMemcpyFromSymbolAsync);

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return with_device([&](Device& device) {
    PlacedVariable variable;
    if (!pointer) return cudaErrorInvalidValue;
    const cudaError_t error = find_variable(device, symbol, variable);
    if (error == cudaSuccess) *pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(variable.address));
    return error;
  });
}
cudaError_t cudaGetSymbolSize(size_t* size, const void* symbol) {
  return with_device([&](Device& device) {
    PlacedVariable variable;
    if (!size) return cudaErrorInvalidValue;
    const cudaError_t error = find_variable(device, symbol, variable);
    if (error == cudaSuccess) *size = variable.bytes;
    return error;
  });
}

// Hints about managed memory: there is one memory, so there is nothing to do but check the address. The location is
// one register in both its forms (an int up to CUDA 12, a struct from 13), and is not looked at.
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t count, cudaMemLocation, unsigned int, cudaStream_t) {
  return with_device([&](Device& device) {
    const auto placed = device.find(pointer);
    const bool fits = placed && placed->kind == MemoryKind::kManaged && device.contains(pointer, count);
    return fits ? cudaSuccess : cudaErrorInvalidValue;
  });
}
WARPLENS_ALIAS(cudaMemPrefetchAsync_ptsz, cudaMemPrefetchAsync);
WARPLENS_ALIAS(cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync);
cudaError_t cudaMemAdvise(const void* pointer, size_t count, cudaMemoryAdvise, cudaMemLocation) {
  return with_device([&](Device& device) {
    const auto placed = device.find(pointer);
    const bool fits = placed && placed->kind == MemoryKind::kManaged && device.contains(pointer, count);
    return fits ? cudaSuccess : cudaErrorInvalidValue;
  });
}
WARPLENS_ALIAS(cudaMemAdvise_v2, cudaMemAdvise);
