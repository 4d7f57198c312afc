// SPDX-License-Identifier: Apache-2.0
// The counting oracle: each rule as a set of the units that are touched. Slow on purpose; generated code has closed
// forms, and tests compare those with this file. Rules for sectors and lines: documented, and measured on an H200.
// Rules for shared-memory passes: measured on an H200 (tests/data/h200_shared_patterns.csv, truth/h200/warps_*.csv).
#include "memory/coalescer.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/check.h"
#include "memory/address_space.h"

namespace warplens::memory {
namespace {

/// A set of what the lanes of an access touch. In place, since the oracle fills some for every access: std::set took
/// most of its time.
class Distinct {
 public:
  void insert(uint64_t value) {
    if (size_ != 0 && values_[size_ - 1] == value) return;  // neighbours often touch the same
    WL_CHECK(size_ < values_.size());
    values_[size_++] = value;
  }
  /// In order, each once.
  std::span<const uint64_t> values() {
    std::sort(values_.begin(), values_.begin() + size_);
    size_ = static_cast<size_t>(std::unique(values_.begin(), values_.begin() + size_) - values_.begin());
    return {values_.data(), size_};
  }
  unsigned count() { return static_cast<unsigned>(values().size()); }

 private:
  std::array<uint64_t, 32 * 9> values_;  // 32 bytes in words, one more when they begin inside one
  size_t size_ = 0;
};

/// Distinct aligned units of kUnit bytes that the lanes' bytes lie in.
template <unsigned kUnit>
unsigned count_units(uint32_t mask, const LaneAddresses& address, unsigned bytes) {
  Distinct units;
  for_each_lane(mask, [&](int lane) {
    for (uint64_t u = address[lane] / kUnit; u <= (address[lane] + bytes - 1) / kUnit; ++u) units.insert(u);
  });
  return units.count();
}

/// The same for local memory, where word w of lane l lies at byte (w * 32 + l) * 4.
template <unsigned kUnit>
unsigned count_local_units(uint32_t mask, const LaneAddresses& offset, unsigned bytes) {
  Distinct units;
  for_each_lane(mask, [&](int lane) {
    for (uint64_t word = offset[lane] / 4; word <= (offset[lane] + bytes - 1) / 4; ++word)
      units.insert((word * 32 + static_cast<unsigned>(lane)) * 4 / kUnit);
  });
  return units.count();
}

/// Passes for one group of lanes: the largest number of different words that one bank must deliver.
unsigned passes_of_group(uint32_t lanes, const LaneAddresses& offset, unsigned bytes) {
  Distinct words;
  for_each_lane(lanes, [&](int lane) {
    for (uint64_t word = offset[lane] / 4; word <= (offset[lane] + bytes - 1) / 4; ++word) words.insert(word);
  });
  std::array<unsigned, 32> words_of_bank{};
  for (const uint64_t word : words.values()) ++words_of_bank[word % 32];
  return *std::max_element(words_of_bank.begin(), words_of_bank.end());
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
  return count_units<32>(mask, address, bytes);
}

unsigned count_lines(uint32_t mask, const LaneAddresses& address, unsigned bytes) {
  return count_units<128>(mask, address, bytes);
}

unsigned count_local_sectors(uint32_t mask, const LaneAddresses& offset, unsigned bytes) {
  return count_local_units<32>(mask, offset, bytes);
}

unsigned count_local_lines(uint32_t mask, const LaneAddresses& offset, unsigned bytes) {
  return count_local_units<128>(mask, offset, bytes);
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

RetryCounts count_retries(uint32_t mask, const LaneAddresses& offset, unsigned bytes,
                          const events::AtomicValues* values) {
  RetryCounts counts;
  std::map<uint64_t, uint64_t> memory;
  for_each_lane(mask, [&](int lane) {
    memory[offset[lane]] = values == nullptr ? 0 : values->before(static_cast<unsigned>(lane));
  });
  const auto after = [&](int lane, uint64_t old) {
    return values == nullptr ? old + 1 : values->after(static_cast<unsigned>(lane), old);
  };
  for (uint32_t left = mask; left != 0; ++counts.rounds) {
    const unsigned loads = count_wavefronts(left, offset, bytes, events::Access::kLoad);
    counts.loads += loads;
    counts.ideal_loads += ideal_of(loads, left, bytes, 128);
    counts.lanes += static_cast<unsigned>(std::popcount(left));
    const std::map<uint64_t, uint64_t> loaded = memory;
    uint32_t swapping = left, done = 0;
    if (values != nullptr && values->skips_unchanged())
      for_each_lane(left, [&](int lane) {
        const uint64_t old = loaded.at(offset[lane]);
        if (after(lane, old) == old) swapping &= ~(uint32_t{1} << lane);
      });
    unsigned tries = 0;
    for (const uint32_t group : groups_of(bytes)) {
      tries += (swapping & group) != 0;
      std::set<uint64_t> banks;
      for_each_lane(swapping & group, [&](int lane) {
        if (!banks.insert(offset[lane] / 4 % 32).second) return;
        const uint64_t old = loaded.at(offset[lane]);
        if (memory[offset[lane]] != old) return;
        memory[offset[lane]] = after(lane, old);
        done |= uint32_t{1} << lane;
      });
    }
    counts.swap_rounds += swapping != 0;
    counts.swap_lanes += static_cast<unsigned>(std::popcount(swapping));
    counts.swaps += 2 * tries;
    counts.ideal_swaps += 2 * ideal_of(tries, swapping, bytes, 128);
    left = swapping & ~done;
  }
  return counts;
}

FarRetryCounts count_far_retries(uint32_t mask, const LaneAddresses& address, unsigned bytes) {
  FarRetryCounts counts;
  for (uint32_t left = mask; left != 0; ++counts.rounds) {
    counts.lanes += static_cast<unsigned>(std::popcount(left));
    const unsigned sectors = count_sectors(left, address, bytes);
    counts.sectors += sectors;
    counts.lines += count_lines(left, address, bytes);
    counts.ideal_sectors += ideal_of(sectors, left, bytes, 32);
    for (const uint32_t group : groups_of(bytes)) counts.swaps += (left & group) != 0 ? 2 : 0;
    std::set<uint64_t> places;
    uint32_t done = 0;
    for_each_lane(left, [&](int lane) {
      if (places.insert(address[lane]).second) done |= uint32_t{1} << lane;
    });
    left &= ~done;
  }
  return counts;
}

unsigned l1_slot(uint64_t address) {
  static constexpr unsigned kFirst[] = {7, 9, 11, 12, 14, 16, 18, 19, 20, 21, 23, 24, 25, 26};
  static constexpr unsigned kSecond[] = {8, 10, 11, 13, 14, 15, 17, 19, 22, 24, 26, 27, 28};
  unsigned slot = 0;
  for (const unsigned bit : kFirst) slot ^= static_cast<unsigned>(address >> bit & 1);
  for (const unsigned bit : kSecond) slot ^= static_cast<unsigned>(address >> bit & 1) << 1;
  return slot;
}

namespace {

/// The lanes of `left` whose lines one look-up finds: of each slot the first lane's.
uint32_t looked_up_together(uint32_t left, const LaneAddresses& source) {
  std::map<unsigned, uint64_t> line_of_slot;
  uint32_t found = 0;
  for_each_lane(left, [&](int lane) {
    const uint64_t line = source[lane] / 128;
    if (line_of_slot.emplace(l1_slot(source[lane]), line).first->second == line) found |= uint32_t{1} << lane;
  });
  return found;
}

/// `source`: null for lanes that read nothing.
unsigned count_copied_together(uint32_t lanes, const LaneAddresses& offset, const LaneAddresses* source,
                               unsigned bytes) {
  const unsigned width = std::max(bytes, 4u);  // banks as wide as an element
  unsigned passes = 0;
  for (const uint32_t group : groups_of(bytes))
    for (uint32_t left = lanes & group; left != 0; ++passes) {
      std::set<uint64_t> to, from;
      uint32_t served = 0;
      for_each_lane(left, [&](int lane) {
        if (!to.insert(offset[lane] % 128 / width).second) return;
        if (source == nullptr || from.insert((*source)[lane] % 128 / width).second) served |= uint32_t{1} << lane;
      });
      left &= ~served;
    }
  return passes;
}

}  // namespace

unsigned count_copy_wavefronts(uint32_t mask, const LaneAddresses& offset, uint32_t reading,
                               const LaneAddresses& source, unsigned bytes) {
  unsigned passes = 0;
  for (uint32_t left = mask & reading; left != 0;) {
    const uint32_t together = looked_up_together(left, source);
    passes += count_copied_together(together, offset, &source, bytes);
    left &= ~together;
  }
  return passes + count_copied_together(mask & ~reading, offset, nullptr, bytes);
}

unsigned count_constant_requests(uint32_t mask, const LaneAddresses& address, unsigned bytes) {
  Distinct different;
  for_each_lane(mask, [&](int lane) { different.insert(address[lane]); });
  return different.count() * (bytes == 16 ? 4 : 1);
}

unsigned ideal_of(unsigned actual, uint32_t mask, unsigned bytes, unsigned unit) {
  const unsigned asked = static_cast<unsigned>(std::popcount(mask)) * bytes;
  return std::min(actual, (asked + unit - 1) / unit);
}

namespace {

bool is_atomic(const events::AccessSite& site) {
  return site.access == events::Access::kAtomic || site.access == events::Access::kReduction;
}

void add_wavefronts(events::SiteCounts& counts, unsigned wavefronts, unsigned ideal) {
  counts.wavefronts += wavefronts;
  counts.ideal_wavefronts += ideal;
}
/// Passes without a lane in the block's own memory.
void add_empty(events::SiteCounts& counts, unsigned wavefronts) {
  add_wavefronts(counts, wavefronts, wavefronts);
  counts.empty_wavefronts += wavefronts;
}

/// Requests, lanes and passes of a loop's loads or swaps.
void add_loop(events::SiteCounts& counts, const RetryCounts& retries, bool loads) {
  counts.requests += loads ? retries.rounds : retries.swap_rounds;
  counts.lanes += loads ? retries.lanes : retries.swap_lanes;
  if (loads) return add_wavefronts(counts, retries.loads, retries.ideal_loads);
  add_wavefronts(counts, retries.swaps, retries.ideal_swaps);
}

/// Takes off the request and the lanes that every access has: the rounds of a loop are counted one by one.
void without_first(events::SiteCounts& counts, uint32_t mask) {
  counts.requests -= 1;
  counts.lanes -= static_cast<unsigned>(std::popcount(mask));
}

/// Of the executing block's own memory, by an address that says so.
void count_shared(events::SiteCounts& counts, const events::WarpAccess& access, uint32_t mask,
                  const events::AccessSite& site) {
  if (mask == 0) return;
  const LaneAddresses& offset = *access.address;
  const auto add = [&](unsigned wavefronts, unsigned passes) {
    add_wavefronts(counts, passes * wavefronts, passes * ideal_of(wavefronts, mask, site.bytes, 128));
  };
  switch (site.form) {
    case events::Form::kMatrixRows: return add(count_matrix_wavefronts(mask, offset), 1);
    case events::Form::kIncrement: return add(count_wavefronts(mask, offset, site.bytes, events::Access::kLoad), 1);
    case events::Form::kCompareAndSwap: return add(count_atomic_wavefronts(mask, offset, site.bytes), 2);
    case events::Form::kRetried:
    case events::Form::kRetryLoads:
      without_first(counts, mask);
      return add_loop(counts, count_retries(mask, offset, site.bytes, access.values),
                      site.form == events::Form::kRetryLoads);
    case events::Form::kCopy:
      return add(count_copy_wavefronts(mask, offset, access.source == nullptr ? 0 : access.reading,
                                       access.source == nullptr ? offset : *access.source, site.bytes),
                 1);
    case events::Form::kPastL1: return;
    case events::Form::kFolded:
    case events::Form::kPlain: break;
  }
  add(is_atomic(site) ? count_atomic_wavefronts(mask, offset, site.bytes)
                      : count_wavefronts(mask, offset, site.bytes, site.access),
      1);
}

void count_global(events::SiteCounts& counts, uint32_t mask, const LaneAddresses& address,
                  const events::AccessSite& site) {
  if (mask == 0) return;
  const bool atomic = is_atomic(site);
  const unsigned distinct = count_sectors(mask, address, site.bytes);
  const unsigned sectors = atomic ? count_atomic_sectors(mask, address, site.bytes) : distinct;
  counts.sectors += sectors;
  counts.repeated_sectors += sectors - distinct;
  counts.lines += count_lines(mask, address, site.bytes);
  counts.ideal_sectors += ideal_of(distinct, mask, site.bytes, 32);
}

/// The lanes of an atomic go through the data stage of the block's shared memory wherever their memory is: a group of
/// them in which no lane is served there (`beside`: in another event) takes the passes that one lane would.
void add_passing_by(events::SiteCounts& counts, uint32_t mask, uint32_t beside, const events::AccessSite& site) {
  const unsigned passes = site.form == events::Form::kCompareAndSwap ? 2 : 1;
  for (const uint32_t group : groups_of(site.bytes))
    if ((mask & group) != 0 && (beside & group) == 0) add_empty(counts, passes);
}

/// An atomic whose address may name any memory: lanes `own` of the block's, `far` of other blocks'. One without an
/// instruction in shared memory is tried like one first, in passes that serve nobody; then each kind of lanes has its
/// loop.
void count_any_memory(events::SiteCounts& counts, const events::WarpAccess& access, uint32_t own, uint32_t far,
                      const events::AccessSite& site) {
  const LaneAddresses& address = *access.address;
  const bool loads = site.form == events::Form::kRetryLoads;
  if (site.form != events::Form::kRetried && !loads) {
    if (own != 0) {
      const unsigned wavefronts = count_atomic_wavefronts(own, address, site.bytes);
      const unsigned passes = site.form == events::Form::kCompareAndSwap ? 2 : 1;
      add_wavefronts(counts, passes * wavefronts, passes * ideal_of(wavefronts, own, site.bytes, 128));
    }
    add_passing_by(counts, far, own | access.beside, site);
    return count_global(counts, far, address, site);
  }
  const FarRetryCounts rounds = count_far_retries(far, address, site.bytes);
  add_loop(counts, count_retries(own, address, site.bytes, access.values), loads);
  counts.requests += rounds.rounds;
  counts.lanes += rounds.lanes;
  if (loads) {
    without_first(counts, own | far);
    counts.sectors += rounds.sectors;
    counts.lines += rounds.lines;
    counts.ideal_sectors += rounds.ideal_sectors;
    return;
  }
  add_passing_by(counts, own | far, access.beside, site);
  add_empty(counts, rounds.swaps);
  count_global(counts, far, address, site);
}

}  // namespace

void count_access(events::SiteCounts& counts, const events::WarpAccess& access, const events::AccessSite& site) {
  const uint32_t mask = events::acting_lanes(site, access.mask);
  if (mask == 0) return;
  const LaneAddresses& address = *access.address;
  counts.requests += 1;
  counts.lanes += static_cast<unsigned>(std::popcount(mask));
  switch (access.space) {
    case events::Space::kShared:
    case events::Space::kSharedCluster: {
      // Of the executing block's own memory; another block's comes in sectors, as global memory does.
      uint32_t own = access.space == events::Space::kShared ? mask : 0;
      for_each_lane(mask, [&](int lane) { own |= uint32_t{address[lane] >> kClusterRankShift == 0} << lane; });
      if (events::names_any_memory(site)) return count_any_memory(counts, access, own, mask & ~own, site);
      count_shared(counts, access, own, site);
      return count_global(counts, mask & ~own, address, site);
    }
    case events::Space::kGlobal:
      if (events::names_any_memory(site)) add_passing_by(counts, mask, access.beside, site);
      return count_global(counts, mask, address, site);
    case events::Space::kLocal: {
      const unsigned sectors = count_local_sectors(mask, address, site.bytes);
      counts.sectors += sectors;
      counts.lines += count_local_lines(mask, address, site.bytes);
      counts.ideal_sectors += ideal_of(sectors, mask, site.bytes, 32);
      break;
    }
    case events::Space::kConst:
      return add_wavefronts(counts, count_constant_requests(mask, address, site.bytes), site.bytes == 16 ? 4 : 1);
    case events::Space::kParam: break;
  }
}

}  // namespace warplens::memory
