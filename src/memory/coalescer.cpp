// SPDX-License-Identifier: Apache-2.0
// The counting oracle: each rule as a set of the units that are touched. Slow on purpose; generated code has closed
// forms, and tests compare those with this file. Rules for sectors and lines: documented, and measured on an H200.
// Rules for shared-memory passes: measured on an H200 (tests/data/h200_shared_patterns.csv, truth/h200/warps_*.csv).
#include "memory/coalescer.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/bits.h"
#include "memory/address_space.h"

namespace warplens::memory {
namespace {

/// Distinct aligned units of `unit` bytes that the lanes' bytes lie in.
unsigned count_units(uint32_t mask, const LaneAddresses& address, unsigned bytes, unsigned unit) {
  std::set<uint64_t> units;
  for_each_lane(mask, [&](int lane) {
    for (uint64_t u = address[lane] / unit; u <= (address[lane] + bytes - 1) / unit; ++u) units.insert(u);
  });
  return static_cast<unsigned>(units.size());
}

/// The same for local memory, where word w of lane l lies at byte (w * 32 + l) * 4.
unsigned count_local_units(uint32_t mask, const LaneAddresses& offset, unsigned bytes, unsigned unit) {
  std::set<uint64_t> units;
  for_each_lane(mask, [&](int lane) {
    for (uint64_t word = offset[lane] / 4; word <= (offset[lane] + bytes - 1) / 4; ++word)
      units.insert((word * 32 + static_cast<unsigned>(lane)) * 4 / unit);
  });
  return static_cast<unsigned>(units.size());
}

/// Passes for one group of lanes: the largest number of different words that one bank must deliver.
unsigned passes_of_group(uint32_t lanes, const LaneAddresses& offset, unsigned bytes) {
  std::array<std::set<uint64_t>, 32> words_of_bank;
  for_each_lane(lanes, [&](int lane) {
    for (uint64_t word = offset[lane] / 4; word <= (offset[lane] + bytes - 1) / 4; ++word)
      words_of_bank[word % 32].insert(word);
  });
  size_t passes = 0;
  for (const auto& words : words_of_bank) passes = std::max(passes, words.size());
  return static_cast<unsigned>(passes);
}

/// Whether every active lane asks for the same as its neighbour at distance `distance` (1 or 2). A lane whose neighbour
/// is inactive does not stand in the way (measured: truth/h200/warps_shared.csv).
bool neighbours_agree(uint32_t mask, const LaneAddresses& offset, int distance) {
  bool agree = true;
  for_each_lane(mask, [&](int lane) {
    const int other = lane ^ distance;
    if ((mask >> other & 1) && offset[other] != offset[lane]) agree = false;
  });
  return agree;
}

/// The lanes that are served together.
std::vector<uint32_t> groups_of(unsigned bytes) {
  const unsigned lanes = bytes <= 4 ? 32 : 128 / bytes;
  std::vector<uint32_t> groups;
  for (unsigned first = 0; first < 32; first += lanes)
    groups.push_back(static_cast<uint32_t>(low_bits(lanes) << first));
  return groups;
}

}  // namespace

unsigned count_sectors(uint32_t mask, const LaneAddresses& address, unsigned bytes) {
  return count_units(mask, address, bytes, 32);
}

unsigned count_lines(uint32_t mask, const LaneAddresses& address, unsigned bytes) {
  return count_units(mask, address, bytes, 128);
}

unsigned count_local_sectors(uint32_t mask, const LaneAddresses& offset, unsigned bytes) {
  return count_local_units(mask, offset, bytes, 32);
}

unsigned count_local_lines(uint32_t mask, const LaneAddresses& offset, unsigned bytes) {
  return count_local_units(mask, offset, bytes, 128);
}

unsigned count_wavefronts(uint32_t mask, const LaneAddresses& offset, unsigned bytes, events::Access access) {
  unsigned group_lanes = bytes <= 4 ? 32 : 128 / bytes;
  if (access == events::Access::kLoad && bytes > 4 &&
      (neighbours_agree(mask, offset, 1) || neighbours_agree(mask, offset, 2)))
    group_lanes *= 2;
  unsigned wavefronts = 0;
  for (unsigned first = 0; first < 32; first += group_lanes) {
    const auto lanes = static_cast<uint32_t>(low_bits(group_lanes) << first);
    wavefronts += passes_of_group(mask & lanes, offset, bytes);
  }
  return wavefronts;
}

unsigned count_matrix_wavefronts(uint32_t mask, const LaneAddresses& offset) {
  return count_wavefronts(mask, offset, 16, events::Access::kStore);  // stores never share a pass
}

unsigned count_atomic_sectors(uint32_t mask, const LaneAddresses& address, unsigned bytes) {
  std::map<uint64_t, unsigned> lanes_on;
  for_each_lane(mask, [&](int lane) { ++lanes_on[address[lane]]; });
  std::map<uint64_t, unsigned> most_in;
  for (const auto& [place, lanes] : lanes_on)
    for (uint64_t sector = place / 32; sector <= (place + bytes - 1) / 32; ++sector)
      most_in[sector] = std::max(most_in[sector], lanes);
  unsigned sectors = 0;
  for (const auto& [sector, lanes] : most_in) sectors += lanes;
  return sectors;
}

unsigned count_atomic_wavefronts(uint32_t mask, const LaneAddresses& offset, unsigned bytes) {
  unsigned wavefronts = 0;
  for (const uint32_t group : groups_of(bytes)) {
    std::map<uint64_t, unsigned> lanes_on_bank;
    for_each_lane(mask & group, [&](int lane) { ++lanes_on_bank[offset[lane] / 4 % 32]; });
    unsigned most = 0;
    for (const auto& [bank, lanes] : lanes_on_bank) most = std::max(most, lanes);
    wavefronts += most;
  }
  return wavefronts;
}

RetryCounts count_retries(uint32_t mask, const LaneAddresses& offset, unsigned bytes) {
  RetryCounts counts;
  for (uint32_t left = mask; left != 0; ++counts.rounds) {
    const unsigned loads = count_wavefronts(left, offset, bytes, events::Access::kLoad);
    counts.loads += loads;
    counts.ideal_loads += ideal_of(loads, left, bytes, 128);
    counts.lanes += static_cast<unsigned>(std::popcount(left));
    std::set<uint64_t> changed;
    uint32_t done = 0;
    unsigned tries = 0;
    for (const uint32_t group : groups_of(bytes)) {
      if ((left & group) == 0) continue;
      ++tries;
      std::set<uint64_t> banks;
      for_each_lane(left & group, [&](int lane) {
        if (!banks.insert(offset[lane] / 4 % 32).second) return;
        if (changed.insert(offset[lane]).second) done |= uint32_t{1} << lane;
      });
    }
    counts.swaps += 2 * tries;
    counts.ideal_swaps += 2 * ideal_of(tries, left, bytes, 128);
    left &= ~done;
  }
  return counts;
}

unsigned count_constant_requests(uint32_t mask, const LaneAddresses& address, unsigned bytes) {
  std::set<uint64_t> different;
  for_each_lane(mask, [&](int lane) { different.insert(address[lane]); });
  return static_cast<unsigned>(different.size()) * (bytes == 16 ? 4 : 1);
}

unsigned ideal_of(unsigned actual, uint32_t mask, unsigned bytes, unsigned unit) {
  const unsigned asked = static_cast<unsigned>(std::popcount(mask)) * bytes;
  return std::min(actual, (asked + unit - 1) / unit);
}

namespace {

void count_shared(events::SiteCounts& counts, uint32_t mask, const LaneAddresses& offset,
                  const events::AccessSite& site) {
  if (mask == 0) return;
  const bool atomic = site.access == events::Access::kAtomic || site.access == events::Access::kReduction;
  const auto add = [&](unsigned wavefronts, unsigned passes) {
    counts.wavefronts += passes * wavefronts;
    counts.ideal_wavefronts += passes * ideal_of(wavefronts, mask, site.bytes, 128);
  };
  switch (site.form) {
    case events::Form::kMatrixRows: return add(count_matrix_wavefronts(mask, offset), 1);
    case events::Form::kIncrement: return add(count_wavefronts(mask, offset, site.bytes, events::Access::kLoad), 1);
    case events::Form::kCompareAndSwap: return add(count_atomic_wavefronts(mask, offset, site.bytes), 2);
    case events::Form::kRetried:
    case events::Form::kRetryLoads: {
      const RetryCounts retries = count_retries(mask, offset, site.bytes);
      const bool loads = site.form == events::Form::kRetryLoads;
      counts.requests += retries.rounds - 1;
      counts.lanes += retries.lanes - static_cast<unsigned>(std::popcount(mask));
      counts.wavefronts += loads ? retries.loads : retries.swaps;
      counts.ideal_wavefronts += loads ? retries.ideal_loads : retries.ideal_swaps;
      return;
    }
    case events::Form::kFolded:
    case events::Form::kPlain: break;
  }
  add(atomic ? count_atomic_wavefronts(mask, offset, site.bytes)
             : count_wavefronts(mask, offset, site.bytes, site.access),
      1);
}

void count_global(events::SiteCounts& counts, uint32_t mask, const LaneAddresses& address,
                  const events::AccessSite& site) {
  if (mask == 0) return;
  const bool atomic = site.access == events::Access::kAtomic || site.access == events::Access::kReduction;
  const unsigned distinct = count_sectors(mask, address, site.bytes);
  const unsigned sectors = atomic ? count_atomic_sectors(mask, address, site.bytes) : distinct;
  counts.sectors += sectors;
  counts.repeated_sectors += sectors - distinct;
  counts.lines += count_lines(mask, address, site.bytes);
  counts.ideal_sectors += ideal_of(distinct, mask, site.bytes, 32);
}

}  // namespace

void count_access(events::SiteCounts& counts, const events::WarpAccess& access, const events::AccessSite& site) {
  const uint32_t mask = events::acting_lanes(site, access.mask);
  if (mask == 0) return;
  const LaneAddresses& address = *access.address;
  counts.requests += 1;
  counts.lanes += static_cast<unsigned>(std::popcount(mask));
  switch (access.space) {
    case events::Space::kShared: return count_shared(counts, mask, address, site);
    case events::Space::kSharedCluster: {
      // Of the executing block's own memory; another block's comes in sectors, as global memory does. Atomics there
      // take a pass here, too.
      uint32_t own = 0;
      for_each_lane(mask, [&](int lane) { own |= uint32_t{address[lane] >> kClusterRankShift == 0} << lane; });
      const uint32_t other = mask & ~own;
      const bool atomic = site.access == events::Access::kAtomic || site.access == events::Access::kReduction;
      const unsigned passes = site.form == events::Form::kCompareAndSwap ? 2 : 1;
      count_shared(counts, own, address, site);
      if (other != 0 && atomic) {
        counts.wavefronts += passes;
        counts.ideal_wavefronts += passes;
      }
      return count_global(counts, other, address, site);
    }
    case events::Space::kGlobal: return count_global(counts, mask, address, site);
    case events::Space::kLocal: {
      const unsigned sectors = count_local_sectors(mask, address, site.bytes);
      counts.sectors += sectors;
      counts.lines += count_local_lines(mask, address, site.bytes);
      counts.ideal_sectors += ideal_of(sectors, mask, site.bytes, 32);
      break;
    }
    case events::Space::kConst:  // the constant cache has no sectors per request: requests and lanes only
    case events::Space::kParam: break;
  }
}

}  // namespace warplens::memory
