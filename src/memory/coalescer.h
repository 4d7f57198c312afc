// SPDX-License-Identifier: Apache-2.0
// The counting rules, written for obviousness: the oracle that generated code's closed forms are compared with.
// Sources: docs/memory-model.md (measured on an H200 against Nsight Compute, equal for every probe).
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
/// Sectors of a local-memory access: equal offsets of the 32 lanes lie side by side, 4 bytes a lane.
unsigned count_local_sectors(uint32_t mask, const LaneAddresses& offset, unsigned bytes);
unsigned count_local_lines(uint32_t mask, const LaneAddresses& offset, unsigned bytes);

/// min(actual, ceil(active lanes x bytes / unit)): unit 32 for sectors, 128 for wavefronts.
unsigned ideal_of(unsigned actual, uint32_t mask, unsigned bytes, unsigned unit);

/// Adds one access to `counts` by the rules above; the one place that says what a site's counters mean.
void count_access(events::SiteCounts& counts, const events::WarpAccess& access, const events::AccessSite& site);

}  // namespace warplens::memory
