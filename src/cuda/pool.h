// SPDX-License-Identifier: Apache-2.0
// Memory pools (stream-ordered allocation) and memory that graphs allocate. A pool here keeps accounts; the memory is
// the arena's, which never runs dry before the device's size. An allocation can be used at once; a free takes effect
// when its stream comes to it, so work that was enqueued before still finds the memory.
#pragma once
#include <set>

#include "cuda/device.h"

namespace warplens::cuda {

struct Pool {
  uint64_t used = 0, used_high = 0;  ///< bytes
  uint64_t reserved_high = 0;        ///< bytes
  uint64_t release_threshold = 0;    ///< bytes
  int reuse[3] = {1, 1, 1};          ///< attributes 1 to 3; they change nothing here
  uint64_t limit = ~uint64_t{0};     ///< bytes; of cudaMemPoolProps::maxSize
  cudaMemAccessFlags access = cudaMemAccessFlagsProtReadWrite;
  /// What it holds of the device's memory: what is used, and up to the threshold of what was.
  uint64_t reserved() const;
};

class Pools {
 public:
  static Pools& instance();
  Pool& default_pool() { return default_; }
  /// What cudaMallocAsync takes memory from.
  Pool& current() { return *current_; }
  void set_current(Pool& pool) { current_ = &pool; }
  Pool& make(uint64_t limit);
  Pool* find(cudaMemPool_t handle);
  /// False for a handle that is none, and for the default pool. Its allocations live on.
  bool destroy(cudaMemPool_t handle);

  void* allocate(Device& device, Pool& pool, uint64_t bytes);
  /// The allocation's bytes no longer count; nothing for memory that is no pool's.
  void forget(const void* pointer);
  /// Frees when `stream` comes to it. False when `pointer` is not the beginning of device memory.
  bool free_later(Device& device, Stream& stream, void* pointer);
  /// cudaDeviceReset.
  void reset();

 private:
  std::mutex mutex_;
  Pool default_;
  Pool* current_ = &default_;
  std::map<const void*, std::unique_ptr<Pool>> pools_;
  std::map<const void*, std::pair<Pool*, uint64_t>> allocations_;
};

/// Allocations of graphs: each keeps its address while a node for it exists, and is in use between the allocation's
/// node and the free.
class GraphMemory {
 public:
  static GraphMemory& instance();
  /// Null when memory is used up.
  std::shared_ptr<void> make(Device& device, uint64_t bytes);
  bool contains(const void* pointer) const;
  /// Both are false for what is not a graph's memory, or is in that state already.
  bool allocate(const void* pointer);
  bool free(const void* pointer);
  uint64_t used_bytes() const;
  uint64_t reserved_bytes() const;
  uint64_t used_high() const { return used_high_; }
  void reset();

 private:
  struct Entry {
    uint64_t bytes = 0;
    bool in_use = false;
  };
  mutable std::mutex mutex_;
  std::map<const void*, Entry> entries_;
  uint64_t used_high_ = 0;
};

}  // namespace warplens::cuda
