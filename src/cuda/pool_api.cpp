// SPDX-License-Identifier: Apache-2.0
// Runtime functions for memory pools and stream-ordered allocation (pool.h). Pools are of this device and this process:
// sharing one with another process is refused.
#include "cuda/capture.h"
#include "cuda/entry.h"
#include "cuda/pool.h"

namespace warplens::cuda {
namespace {

cudaMemPool_t handle_of(Pool& pool) { return reinterpret_cast<cudaMemPool_t>(&pool); }

cudaError_t capture_allocation(Device& device, const Stream& stream, void** pointer, size_t bytes) {
  auto memory = GraphMemory::instance().make(device, bytes);
  if (!memory) return cudaErrorMemoryAllocation;
  *pointer = memory.get();
  return Captures::instance().add(stream, cudaGraphNodeTypeMemAlloc, AllocationWork{std::move(memory), bytes});
}

cudaError_t allocate_async(void** pointer, size_t bytes, cudaMemPool_t from, cudaStream_t handle) {
  return with_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!pointer) return cudaErrorInvalidValue;
    Pool* pool = from ? Pools::instance().find(from) : &Pools::instance().current();
    if (!pool) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    if (Captures::instance().find(*stream)) return capture_allocation(device, *stream, pointer, bytes);
    *pointer = Pools::instance().allocate(device, *pool, bytes);
    return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
  });
}

cudaError_t free_async(void* pointer, cudaStream_t handle) {
  return with_device([&](Device& device) {
    const auto stream = stream_of(device, handle);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (!pointer) return cudaErrorInvalidValue;
    if (Captures::instance().find(*stream)) {
      if (!GraphMemory::instance().contains(pointer)) return cudaErrorInvalidValue;
      return Captures::instance().add(*stream, cudaGraphNodeTypeMemFree, FreeWork{pointer});
    }
    if (GraphMemory::instance().contains(pointer))
      return GraphMemory::instance().free(pointer) ? cudaSuccess : cudaErrorInvalidValue;
    return Pools::instance().free_later(device, *stream, pointer) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

template <typename F>
cudaError_t with_pool(cudaMemPool_t handle, F&& f) {
  return with_device([&](Device& device) {
    Pool* pool = Pools::instance().find(handle);
    return pool ? f(device, *pool) : cudaErrorInvalidValue;
  });
}

bool is_here(const cudaMemLocation& location) { return location.type == cudaMemLocationTypeDevice && location.id == 0; }

/// Attributes 1 to 3 are ints, the others 64-bit numbers; the high-water marks can only be set to 0.
cudaError_t set_attribute(Pool& pool, cudaMemPoolAttr attribute, const void* value) {
  const auto wide = [&] { return *static_cast<const uint64_t*>(value); };
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      pool.reuse[attribute - 1] = *static_cast<const int*>(value) != 0;
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold: pool.release_threshold = wide(); return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
      if (wide() != 0) return cudaErrorInvalidValue;
      pool.reserved_high = pool.reserved();
      return cudaSuccess;
    case cudaMemPoolAttrUsedMemHigh:
      if (wide() != 0) return cudaErrorInvalidValue;
      pool.used_high = pool.used;
      return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t get_attribute(const Pool& pool, cudaMemPoolAttr attribute, void* value) {
  const auto wide = [&](uint64_t bytes) {
    *static_cast<uint64_t*>(value) = bytes;
    return cudaSuccess;
  };
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
      *static_cast<int*>(value) = pool.reuse[attribute - 1];
      return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold: return wide(pool.release_threshold);
    case cudaMemPoolAttrReservedMemCurrent: return wide(pool.reserved());
    case cudaMemPoolAttrReservedMemHigh: return wide(pool.reserved_high);
    case cudaMemPoolAttrUsedMemCurrent: return wide(pool.used);
    case cudaMemPoolAttrUsedMemHigh: return wide(pool.used_high);
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t give_pool(cudaMemPool_t* to, int device, Pool& pool) {
  if (!to) return remember(cudaErrorInvalidValue);
  if (device != 0) return remember(cudaErrorInvalidDevice);
  *to = handle_of(pool);
  return cudaSuccess;
}

}  // namespace
}  // namespace warplens::cuda

using namespace warplens::cuda;

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return allocate_async(pointer, size, nullptr, stream);
}
WARPLENS_ALIAS(cudaMallocAsync_ptsz, cudaMallocAsync);
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  if (!pool) return remember(cudaErrorInvalidValue);
  return allocate_async(pointer, size, pool, stream);
}
WARPLENS_ALIAS(cudaMallocFromPoolAsync_ptsz, cudaMallocFromPoolAsync);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) { return free_async(pointer, stream); }
WARPLENS_ALIAS(cudaFreeAsync_ptsz, cudaFreeAsync);

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return give_pool(pool, device, Pools::instance().default_pool());
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return give_pool(pool, device, Pools::instance().current());
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle) {
  if (device != 0) return remember(cudaErrorInvalidDevice);
  return with_pool(handle, [](Device&, Pool& pool) {
    Pools::instance().set_current(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return with_device([&](Device&) {
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned) return cudaErrorInvalidValue;
    if (!is_here(properties->location)) return cudaErrorInvalidValue;
    if (properties->handleTypes != cudaMemHandleTypeNone) return cudaErrorNotSupported;
    *pool = handle_of(Pools::instance().make(properties->maxSize));
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return with_device([&](Device& device) {
    device.queues().drain_all();
    return Pools::instance().destroy(pool) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t /*bytes_to_keep*/) {
  return with_pool(handle, [](Device& device, Pool& pool) {
    device.queues().drain_all();
    pool.used_high = pool.used;
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](Device&, Pool& pool) {
    return value ? set_attribute(pool, attribute, value) : cudaErrorInvalidValue;
  });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](Device&, Pool& pool) {
    return value ? get_attribute(pool, attribute, value) : cudaErrorInvalidValue;
  });
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list, size_t count) {
  return with_pool(handle, [&](Device&, Pool& pool) {
    if (!list && count != 0) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; ++i) {
      if (!is_here(list[i].location)) return cudaErrorInvalidDevice;
      if (list[i].flags == cudaMemAccessFlagsProtNone) return cudaErrorInvalidDevice;  // its own device always has it
      pool.access = list[i].flags;
    }
    return cudaSuccess;
  });
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle, cudaMemLocation* location) {
  return with_pool(handle, [&](Device&, Pool& pool) {
    if (!flags || !location || !is_here(*location)) return cudaErrorInvalidValue;
    *flags = pool.access;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int device) { return remember(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  if (device != 0) return remember(cudaErrorInvalidDevice);
  if (!value) return remember(cudaErrorInvalidValue);
  const GraphMemory& memory = GraphMemory::instance();
  uint64_t& to = *static_cast<uint64_t*>(value);
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent: to = memory.used_bytes(); return cudaSuccess;
    case cudaGraphMemAttrUsedMemHigh: to = memory.used_high(); return cudaSuccess;
    case cudaGraphMemAttrReservedMemCurrent:
    case cudaGraphMemAttrReservedMemHigh: to = memory.reserved_bytes(); return cudaSuccess;
  }
  return remember(cudaErrorInvalidValue);
}
