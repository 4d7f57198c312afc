// SPDX-License-Identifier: Apache-2.0
#include "cuda/pool.h"

#include <algorithm>

namespace warplens::cuda {

uint64_t Pool::reserved() const { return std::max(used, std::min(used_high, release_threshold)); }

Pools& Pools::instance() {
  static Pools* const pools = new Pools;
  return *pools;
}

Pool& Pools::make(uint64_t limit) {
  const std::lock_guard lock(mutex_);
  auto pool = std::make_unique<Pool>();
  Pool& made = *pool;
  if (limit != 0) made.limit = limit;
  pools_[&made] = std::move(pool);
  return made;
}

Pool* Pools::find(cudaMemPool_t handle) {
  const std::lock_guard lock(mutex_);
  if (reinterpret_cast<Pool*>(handle) == &default_) return &default_;
  const auto it = pools_.find(handle);
  return it == pools_.end() ? nullptr : it->second.get();
}

bool Pools::destroy(cudaMemPool_t handle) {
  const std::lock_guard lock(mutex_);
  const auto it = pools_.find(handle);
  if (it == pools_.end()) return false;
  if (current_ == it->second.get()) current_ = &default_;
  std::erase_if(allocations_, [&](const auto& a) { return a.second.first == it->second.get(); });
  pools_.erase(it);
  return true;
}

void* Pools::allocate(Device& device, Pool& pool, uint64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (bytes > pool.limit || pool.used > pool.limit - bytes) return nullptr;
  }
  void* pointer = device.allocate(bytes, MemoryKind::kDevice);
  if (!pointer) return nullptr;
  const std::lock_guard lock(mutex_);
  allocations_[pointer] = {&pool, bytes};
  pool.used += bytes;
  pool.used_high = std::max(pool.used_high, pool.used);
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved());
  return pointer;
}

void Pools::forget(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto it = allocations_.find(pointer);
  if (it == allocations_.end()) return;
  it->second.first->used -= it->second.second;
  allocations_.erase(it);
}

bool Pools::free_later(Device& device, Stream& stream, void* pointer) {
  if (!device.retire(pointer)) return false;
  device.queues().push(stream, Engine::kCopy, [this, &device, pointer] {
    device.arena().free(reinterpret_cast<uintptr_t>(pointer));
    forget(pointer);
  });
  return true;
}

void Pools::reset() {
  const std::lock_guard lock(mutex_);
  pools_.clear();
  allocations_.clear();
  default_ = Pool();
  current_ = &default_;
}

GraphMemory& GraphMemory::instance() {
  static GraphMemory* const memory = new GraphMemory;
  return *memory;
}

std::shared_ptr<void> GraphMemory::make(Device& device, uint64_t bytes) {
  const auto base = device.arena().allocate(bytes);
  if (!base) return nullptr;
  void* pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(*base));
  const std::lock_guard lock(mutex_);
  entries_[pointer] = {bytes, false};
  return {pointer, [this, &device](void* p) {
            {
              const std::lock_guard inner(mutex_);
              if (entries_.erase(p) == 0) return;  // the device was reset
            }
            device.queues().drain_all();
            device.arena().free(reinterpret_cast<uintptr_t>(p));
          }};
}

bool GraphMemory::contains(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  return entries_.contains(pointer);
}

bool GraphMemory::allocate(const void* pointer) {
  bool fresh = false;
  {
    const std::lock_guard lock(mutex_);
    const auto it = entries_.find(pointer);
    if (it == entries_.end() || it->second.in_use) return false;
    it->second.in_use = fresh = true;
  }
  const uint64_t used = used_bytes();
  const std::lock_guard lock(mutex_);
  used_high_ = std::max(used_high_, used);
  return fresh;
}

bool GraphMemory::free(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(pointer);
  if (it == entries_.end() || !it->second.in_use) return false;
  it->second.in_use = false;
  return true;
}

uint64_t GraphMemory::used_bytes() const {
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [pointer, entry] : entries_) bytes += entry.in_use ? entry.bytes : 0;
  return bytes;
}

uint64_t GraphMemory::reserved_bytes() const {
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [pointer, entry] : entries_) bytes += entry.bytes;
  return bytes;
}

void GraphMemory::reset() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  used_high_ = 0;
}

}  // namespace warplens::cuda
