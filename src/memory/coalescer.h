// SPDX-License-Identifier: Apache-2.0
// The counting rules, written for obviousness: the oracle that generated code's closed forms are compared with.
// Sources: docs/memory-model.md (measured on an H200 against Nsight Compute, equal for every probe); for atomics and
// matrix rows truth/h200/warps_*.csv, every row of which tests/truth/warp_rules.py holds the same rules against.
#pragma once
#include <array>
#include <cstdint>

#include "events/events.h"

namespace warplens::memory {

using LaneAddresses = std::array<uint64_t, 32>;

/// Distinct 32-byte sectors that the lanes of `mask` touch, each asking for `bytes` at its address.
unsigned count_sectors(uint32_t mask, const LaneAddresses& address, unsigned bytes);
/// Distinct 128-byte lines.
unsigned count_lines(uint32_t mask, const LaneAddresses& address, unsigned bytes);
/// Shared-memory passes: 1 / 2 / 4 groups by width (half warps for 8-byte, quarter warps for 16-byte accesses); each
/// costs the largest number of distinct 4-byte words in one of 32 banks (at least 1 when the request has an active
/// lane; groups without active lanes are free). Loads of 8 and 16 bytes pair groups up when T(n)=T(n^1) or T(n)=T(n^2)
/// for all active lanes; stores never merge.
unsigned count_wavefronts(uint32_t mask, const LaneAddresses& offset, unsigned bytes, events::Access access);
/// Of loads and stores of matrix rows: quarter warps, each by itself.
unsigned count_matrix_wavefronts(uint32_t mask, const LaneAddresses& offset);
/// Sectors of a global atomic: each as often as the most lanes that share a place in it.
unsigned count_atomic_sectors(uint32_t mask, const LaneAddresses& address, unsigned bytes);
/// Passes of a shared-memory atomic that the GPU has an instruction for: groups of lanes as for stores; each costs the
/// most lanes on one bank, those on one word counted each, since they come one after another.
unsigned count_atomic_wavefronts(uint32_t mask, const LaneAddresses& offset, unsigned bytes);
/// A shared-memory atomic that the GPU makes a loop: each round the lanes that are left load (for those the loads'
/// rule) and try to compare and swap, two passes a group of lanes; of the lanes on one bank the lowest tries, and
/// succeeds unless the value was changed in the same round.
struct RetryCounts {
  unsigned rounds = 0, lanes = 0;            ///< that load
  unsigned swap_rounds = 0, swap_lanes = 0;  ///< that try to swap
  unsigned loads = 0, ideal_loads = 0;       ///< passes
  unsigned swaps = 0, ideal_swaps = 0;
};
RetryCounts count_retries(uint32_t mask, const LaneAddresses& offset, unsigned bytes,
                          const events::AtomicValues* values = nullptr);
/// The loop of an atomic whose address names another block's memory: each round the first lane of each place is done.
struct FarRetryCounts {
  unsigned rounds = 0, lanes = 0;
  unsigned swaps = 0;                                  ///< passes in the executing block's shared memory
  unsigned sectors = 0, lines = 0, ideal_sectors = 0;  ///< of the loads; the swaps' are those of an atomic
};
FarRetryCounts count_far_retries(uint32_t mask, const LaneAddresses& address, unsigned bytes);
/// Passes of what an asynchronous copy through the L1 writes. Lanes `reading` read at `source` (device addresses), four
/// lines at a time (l1_slot); the others are served together behind them. Then in groups of lanes as for stores: of the
/// lanes to one bank the first comes forward, and of those that come forward and read from one bank the first is
/// served.
unsigned count_copy_wavefronts(uint32_t mask, const LaneAddresses& offset, uint32_t reading,
                               const LaneAddresses& source, unsigned bytes);
/// Which of four lines of an L1 look-up the line of `address` takes: two lines of one slot wait for each other. Known
/// for the low 29 bits of an address (truth/h200/warps_tags.csv, warps_high_tags.csv).
unsigned l1_slot(uint64_t address);
/// Requests of a warp's load to the constant cache: one a different address; of 16 bytes, four.
unsigned count_constant_requests(uint32_t mask, const LaneAddresses& address, unsigned bytes);
/// Sectors of a local-memory access: equal offsets of the 32 lanes lie side by side, 4 bytes a lane.
unsigned count_local_sectors(uint32_t mask, const LaneAddresses& offset, unsigned bytes);
unsigned count_local_lines(uint32_t mask, const LaneAddresses& offset, unsigned bytes);

/// min(actual, ceil(active lanes x bytes / unit)): unit 32 for sectors, 128 for wavefronts.
unsigned ideal_of(unsigned actual, uint32_t mask, unsigned bytes, unsigned unit);

/// Adds one access to `counts` by the rules above; the one place that says what a site's counters mean.
void count_access(events::SiteCounts& counts, const events::WarpAccess& access, const events::AccessSite& site);

}  // namespace warplens::memory
