// SPDX-License-Identifier: Apache-2.0
// One lane's view of memory, for accesses that were checked before: plain reads and writes, and read-modify-write.
// Global memory is touched with host atomics, because other workers run at the same time; a block's shared memory
// belongs to one thread.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>

#include "events/events.h"
#include "exec/warp_context.h"
#include "ptx/module.h"

namespace warplens::exec {

/// Host address of an address of Space::kShared or kSharedCluster, checked before.
uint8_t* shared_byte(const WarpContext& warp, events::Space space, uint64_t address);

/// Aligned vectors of 16 bytes in global memory move as a whole, so that no other thread sees half of one: programs
/// keep a flag and its value in them. (Documented by Intel and AMD for processors with AVX; elsewhere 8 bytes at a
/// time.)
struct Bytes16 {
  alignas(16) uint8_t bytes[16];
};
Bytes16 load_16_bytes(const void* memory);
void store_16_bytes(void* memory, const Bytes16& value);

class LaneMemory {
 public:
  LaneMemory(WarpContext& warp, unsigned lane) : warp_(warp), lane_(lane) {}
  /// `bytes`: 1, 2, 4 or 8. `address` as in events::WarpAccess.
  uint64_t read(events::Space space, uint64_t address, unsigned bytes) const;
  void write(events::Space space, uint64_t address, unsigned bytes, uint64_t value) const;
  /// Replaces the value by what the row's reference combines; returns the old one.
  uint64_t update(events::Space space, uint64_t address, unsigned bytes, const ptx::Instr& in, uint64_t a,
                  uint64_t b) const;

  /// Of generic addresses that the kernel passed to a function; false when any byte is out of bounds.
  bool read_generic(uint64_t address, void* to, uint64_t bytes) const;
  bool write_generic(uint64_t address, const void* from, uint64_t bytes) const;
  /// The zero-terminated text there (at most 64 KiB); what is readable of it.
  std::string read_text(uint64_t address) const;

 private:
  /// The generic address as space and offset, when all its bytes are valid there.
  bool locate(uint64_t& address, uint64_t bytes, events::Space& space) const;

  WarpContext& warp_;
  unsigned lane_;
};

}  // namespace warplens::exec
