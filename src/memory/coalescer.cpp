// SPDX-License-Identifier: Apache-2.0
// The counting oracle: each rule as a set of the units that are touched. Slow on purpose; generated code has closed
// forms, and tests compare those with this file. Rules for sectors and lines: documented, and measured on an H200.
// Rules for shared-memory passes: measured on an H200 (tests/data/h200_shared_patterns.csv), see count_wavefronts.
#include "memory/coalescer.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/bits.h"

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
/// is inactive does not stand in the way (guessed: not seen on hardware yet).
bool neighbours_agree(uint32_t mask, const LaneAddresses& offset, int distance) {
  bool agree = true;
  for_each_lane(mask, [&](int lane) {
    const int other = lane ^ distance;
    if ((mask >> other & 1) && offset[other] != offset[lane]) agree = false;
  });
  return agree;
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

unsigned ideal_of(unsigned actual, uint32_t mask, unsigned bytes, unsigned unit) {
  const unsigned asked = static_cast<unsigned>(std::popcount(mask)) * bytes;
  return std::min(actual, (asked + unit - 1) / unit);
}

void count_access(events::SiteCounts& counts, const events::WarpAccess& access, const events::AccessSite& site) {
  const uint32_t mask = access.mask;
  if (mask == 0) return;
  const LaneAddresses& address = *access.address;
  counts.requests += 1;
  counts.lanes += static_cast<unsigned>(std::popcount(mask));
  switch (access.space) {
    case events::Space::kShared:
    case events::Space::kSharedCluster: {
      const unsigned wavefronts = count_wavefronts(mask, address, site.bytes, site.access);
      counts.wavefronts += wavefronts;
      counts.ideal_wavefronts += ideal_of(wavefronts, mask, site.bytes, 128);
      break;
    }
    case events::Space::kGlobal: {
      const unsigned sectors = count_sectors(mask, address, site.bytes);
      counts.sectors += sectors;
      counts.lines += count_lines(mask, address, site.bytes);
      counts.ideal_sectors += ideal_of(sectors, mask, site.bytes, 32);
      break;
    }
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
