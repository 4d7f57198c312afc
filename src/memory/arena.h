// SPDX-License-Identifier: Apache-2.0
// The memory of one virtual GPU: a lazily committed, host-addressable arena with an allocator that keeps gaps between
// allocations, and the table that bounds checks look addresses up in.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>

#include "base/result.h"
#include "memory/address_space.h"

namespace warplens::memory {

struct Allocation {
  uint64_t base = 0, bytes = 0;
  std::string label;  ///< variable name for module variables; empty for cudaMalloc
  bool writable = true;
  uint64_t id = 0;       ///< counts allocations
  bool adopted = false;  ///< memory of the program itself, outside of the reservation
};

class Arena {
 public:
  /// Reserves the address space. `capacity_bytes` is what the program may allocate (the GPU's memory size).
  static Result<std::unique_ptr<Arena>> create(uint64_t capacity_bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  const AddressSpace& space() const { return space_; }
  /// Base of `bytes` zero-filled bytes (host and device address at once), or nothing when memory is used up.
  /// bytes == 0 gives nothing.
  std::optional<uint64_t> allocate(uint64_t bytes, std::string label = {}, uint64_t align = kAllocationAlign);
  /// Frees the allocation that begins exactly at `base`; false when there is none. Its pages go back to the system.
  bool free(uint64_t base);
  /// Makes the program's own [base, base + bytes) usable by kernels, until it is freed here (which leaves it as it is).
  /// False for no bytes, and when a part of it is an allocation already.
  bool adopt(uint64_t base, uint64_t bytes);
  /// The allocation that contains `address`, or nothing. Thread safe.
  std::optional<Allocation> find(uint64_t address) const;
  /// The nearest allocation below `address` (for "17 bytes past the end of ..."), live or the most recently freed one
  /// that held it.
  std::optional<Allocation> nearest_below(uint64_t address) const;
  std::optional<Allocation> freed_at(uint64_t address) const;
  uint64_t used_bytes() const;
  uint64_t capacity_bytes() const { return capacity_; }
  /// Changes with every allocate/free: generated code's cached ranges are valid for one version.
  uint64_t version() const;
  bool contains(uint64_t address) const { return address >= space_.base && address < space_.base + kReservedBytes; }
  /// Frees everything (cudaDeviceReset).
  void reset();

 private:
  explicit Arena(uint64_t capacity) : capacity_(capacity) {}
  AddressSpace space_;
  uint64_t capacity_ = 0, used_ = 0, version_ = 0, next_id_ = 0;
  mutable std::shared_mutex mutex_;
  std::map<uint64_t, Allocation> live_;   // by base
  std::map<uint64_t, uint64_t> holes_;    // base -> bytes of free ranges
  std::map<uint64_t, Allocation> freed_;  // recently freed, by base
};

}  // namespace warplens::memory
