// SPDX-License-Identifier: Apache-2.0
// Runtime functions for memory: allocation, copies, fills. All memory that the device can use lies in the arena, pinned
// and managed host memory too, so that kernels reach it by the address that the program has. Copies check both ends
// against the arena's allocations before anything is touched. Errors are those that an H200 gave (tests/programs).
#include <cstring>
#include <utility>
#include <vector>

#include "cuda/entry.h"

namespace warplens::cuda {
namespace {

cudaError_t allocate(void** pointer, size_t bytes, MemoryKind kind) {
  return with_device([&](Device& device) {
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    *pointer = device.allocate(bytes, kind);
    return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
  });
}

cudaError_t release(void* pointer, bool host_memory) {
  return with_device([&](Device& device) {
    if (!pointer) return cudaSuccess;
    return device.free(pointer, host_memory) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

/// What the two ends of a copy are.
struct Ends {
  bool to_device = false, from_device = false;      ///< in device memory proper
  bool to_pageable = false, from_pageable = false;  ///< memory that the device does not know
};

bool usable_by_host(Device& device, const void* p, bool& pageable) {
  const auto placed = device.find(p);
  pageable = !placed;
  return !placed ? !device.arena().contains(reinterpret_cast<uintptr_t>(p)) : placed->kind != MemoryKind::kDevice;
}

/// Checks one end of `bytes` bytes; `device_end` is what the direction says.
bool check_end(Device& device, const void* p, uint64_t bytes, bool device_end, bool& pageable) {
  if (!p) return false;
  if (device_end) {
    pageable = false;
    return device.contains(p, bytes);
  }
  return usable_by_host(device, p, pageable) && (pageable || device.contains(p, bytes));
}

cudaError_t check_copy(Device& device, const void* dst, const void* src, uint64_t dst_bytes, uint64_t src_bytes,
                       cudaMemcpyKind kind, Ends& ends) {
  if (static_cast<unsigned>(kind) > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (kind == cudaMemcpyDefault) {
    ends.to_device = device.find(dst).has_value();
    ends.from_device = device.find(src).has_value();
  } else {
    ends.to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    ends.from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  }
  if (!check_end(device, dst, dst_bytes, ends.to_device, ends.to_pageable)) return cudaErrorInvalidValue;
  if (!check_end(device, src, src_bytes, ends.from_device, ends.from_pageable)) return cudaErrorInvalidValue;
  return cudaSuccess;
}

/// Rows of `width` bytes; a plain copy is one row.
struct Rows {
  void* dst;
  size_t dst_pitch;
  const void* src;
  size_t src_pitch;
  size_t width, height;
};

void copy_rows(const Rows& r) {
  for (size_t y = 0; y < r.height; ++y)
    std::memmove(static_cast<char*>(r.dst) + y * r.dst_pitch, static_cast<const char*>(r.src) + y * r.src_pitch,
                 r.width);
}

uint64_t extent(size_t pitch, size_t width, size_t height) { return pitch * (height - 1) + width; }

cudaError_t copy_now(Device& device, Stream& stream, const Rows& rows) {
  device.queues().run_in_turn(stream, [&] {
    if (device.sticky() == cudaSuccess) copy_rows(rows);
  });
  return device.sticky();
}

/// Copies from pageable memory are staged, so that the program may change it at once; copies to pageable memory are
/// done when the call returns (both as the programming guide allows).
cudaError_t copy_later(Device& device, Stream& stream, Rows rows, const Ends& ends) {
  if (ends.to_pageable) return copy_now(device, stream, rows);
  std::shared_ptr<std::vector<char>> staged;
  if (ends.from_pageable) {
    staged = std::make_shared<std::vector<char>>(rows.width * rows.height);
    copy_rows({staged->data(), rows.width, rows.src, rows.src_pitch, rows.width, rows.height});
    rows.src = staged->data();
    rows.src_pitch = rows.width;
  }
  device.queues().push(stream, Engine::kCopy, [&device, rows, staged] {
    if (device.sticky() == cudaSuccess) copy_rows(rows);
  });
  return cudaSuccess;
}

enum class When : uint8_t { kNow, kLater };

cudaError_t copy(const Rows& rows, cudaMemcpyKind kind, cudaStream_t handle, When when) {
  return with_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (rows.width == 0 || rows.height == 0) return cudaSuccess;
    if (rows.height > 1 && (rows.dst_pitch < rows.width || rows.src_pitch < rows.width))
      return cudaErrorInvalidPitchValue;
    Ends ends;
    const cudaError_t error = check_copy(device, rows.dst, rows.src, extent(rows.dst_pitch, rows.width, rows.height),
                                         extent(rows.src_pitch, rows.width, rows.height), kind, ends);
    if (error != cudaSuccess) return error;
    return when == When::kNow ? copy_now(device, *stream, rows) : copy_later(device, *stream, rows, ends);
  });
}

cudaError_t fill(void* pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t handle) {
  return with_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && pitch < width) return cudaErrorInvalidPitchValue;
    if (!device.contains(pointer, extent(pitch, width, height))) return cudaErrorInvalidValue;
    device.queues().push(*stream, Engine::kCopy, [&device, pointer, pitch, value, width, height] {
      if (device.sticky() != cudaSuccess) return;
      for (size_t y = 0; y < height; ++y) std::memset(static_cast<char*>(pointer) + y * pitch, value, width);
    });
    return cudaSuccess;
  });
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
  if (to) return copy({place, count, other, count, count, 1}, kind, stream, when);
  return copy({const_cast<void*>(other), count, place, count, count, 1}, kind, stream, when);
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

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t) {
  return allocate(pointer, size, MemoryKind::kDevice);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return release(pointer, false); }
WARPLENS_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync);
WARPLENS_ALIAS(cudaFreeAsync_ptsz, cudaFreeAsync);

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
    attributes->type = placed->kind == MemoryKind::kDevice   ? cudaMemoryTypeDevice
                       : placed->kind == MemoryKind::kPinned ? cudaMemoryTypeHost
                                                             : cudaMemoryTypeManaged;
    attributes->device = 0;
    attributes->devicePointer = const_cast<void*>(pointer);
    if (placed->kind == MemoryKind::kDevice) attributes->hostPointer = nullptr;
    return cudaSuccess;
  });
}

cudaError_t cudaMemcpy(void* dst, const void* src, size_t count, cudaMemcpyKind kind) {
  return copy({dst, count, src, count, count, 1}, kind, nullptr, When::kNow);
}
WARPLENS_ALIAS(cudaMemcpy_ptds, cudaMemcpy);
cudaError_t cudaMemcpyAsync(void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy({dst, count, src, count, count, 1}, kind, stream, When::kLater);
}
WARPLENS_ALIAS(cudaMemcpyAsync_ptsz, cudaMemcpyAsync);
cudaError_t cudaMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return copy({dst, dpitch, src, spitch, width, height}, kind, nullptr, When::kNow);
}
WARPLENS_ALIAS(cudaMemcpy2D_ptds, cudaMemcpy2D);
cudaError_t cudaMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copy({dst, dpitch, src, spitch, width, height}, kind, stream, When::kLater);
}
WARPLENS_ALIAS(cudaMemcpy2DAsync_ptsz, cudaMemcpy2DAsync);
cudaError_t cudaMemcpyPeer(void* dst, int to, const void* src, int from, size_t count) {
  if (to != 0 || from != 0) return remember(cudaErrorInvalidDevice);
  return copy({dst, count, src, count, count, 1}, cudaMemcpyDeviceToDevice, nullptr, When::kNow);
}
cudaError_t cudaMemcpyPeerAsync(void* dst, int to, const void* src, int from, size_t count, cudaStream_t stream) {
  if (to != 0 || from != 0) return remember(cudaErrorInvalidDevice);
  return copy({dst, count, src, count, count, 1}, cudaMemcpyDeviceToDevice, stream, When::kLater);
}

cudaError_t cudaMemset(void* pointer, int value, size_t count) {
  return fill(pointer, count, value, count, 1, nullptr);
}
WARPLENS_ALIAS(cudaMemset_ptds, cudaMemset);
cudaError_t cudaMemsetAsync(void* pointer, int value, size_t count, cudaStream_t stream) {
  return fill(pointer, count, value, count, 1, stream);
}
WARPLENS_ALIAS(cudaMemsetAsync_ptsz, cudaMemsetAsync);
cudaError_t cudaMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height) {
  return fill(pointer, pitch, value, width, height, nullptr);
}
WARPLENS_ALIAS(cudaMemset2D_ptds, cudaMemset2D);
cudaError_t cudaMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return fill(pointer, pitch, value, width, height, stream);
}
WARPLENS_ALIAS(cudaMemset2DAsync_ptsz, cudaMemset2DAsync);

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
