// SPDX-License-Identifier: Apache-2.0
// Where things live in a virtual GPU's 64-bit generic address space. All of it is one reservation of host address space
// that is committed lazily, so a device address of global memory *is* a host address:
//
//   base                  4 GiB  shared window   generic address = window + byte offset in the block's shared memory
//   base +  4 GiB         4 GiB  local window    generic address = window + the thread's own byte offset
//   base +  8 GiB       128 GiB  global, constant and module variables (allocations)
//
// The windows are never committed: they only name offsets. A sector id, (address - global_begin) / 32, fits 32 bits.
#pragma once
#include <cstdint>

namespace warplens::memory {

constexpr uint64_t kWindowBytes = uint64_t{4} << 30;
constexpr uint64_t kGlobalBytes = uint64_t{128} << 30;
constexpr uint64_t kReservedBytes = 2 * kWindowBytes + kGlobalBytes;
/// Allocations are aligned to this many bytes, as cudaMalloc's are at least 256 [documented] and 512 [measured, H200].
constexpr uint64_t kAllocationAlign = 512;
/// Unused bytes kept behind every allocation, so that an overrun is not a neighbour's memory.
constexpr uint64_t kAllocationGap = 512;
/// The first bytes of a block's shared window that the system reserves from compute capability 8.0 (documented in the
/// occupancy rules); static shared variables start behind them, so shared offset 0 is never valid.
constexpr uint32_t kSharedReservedBytes = 1024;

/// The part of them that code may use which asks for its place (%reserved_smem_offset_*); the rest is the system's.
constexpr uint32_t kSharedReservedForCode = 512;

/// Shared memory of a cluster's blocks: the offset in the block's own window, and above these bits the block's rank +
/// 1; 0 there is the executing block. (How the hardware numbers them is not documented; mapa and getctarank hide it.)
constexpr unsigned kClusterRankShift = 24;
constexpr uint64_t kClusterOffsetMask = (uint64_t{1} << kClusterRankShift) - 1;
constexpr uint64_t cluster_address(uint64_t offset, uint64_t rank) {
  return (offset & kClusterOffsetMask) | (rank + 1) << kClusterRankShift;
}

/// The four base addresses that generated code and executors need.
struct AddressSpace {
  uint64_t base = 0;
  uint64_t shared_window() const { return base; }
  uint64_t local_window() const { return base + kWindowBytes; }
  uint64_t global_begin() const { return base + 2 * kWindowBytes; }
  uint64_t global_end() const { return base + kReservedBytes; }
};

}  // namespace warplens::memory
