// SPDX-License-Identifier: Apache-2.0
// Counting one warp access that is no plain load or store: atomics, rows of matrices, another block's shared memory.
// One or two passes over the lanes with small arrays: these accesses go lane by lane through a hook anyhow.
#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

#include "base/bits.h"
#include "codegen/access_cost.h"
#include "memory/address_space.h"

namespace warplens::codegen {
namespace {

using events::Access;
using events::Form;
using events::SiteCounts;
using events::Space;

unsigned count(uint32_t mask) { return static_cast<unsigned>(std::popcount(mask)); }

bool is_atomic(Access access) { return access == Access::kAtomic || access == Access::kReduction; }

/// Whether all active lanes are at one place; else whether no two are known to be, since they lie in order.
enum class Places : uint8_t { kOne, kDifferent, kUnknown };
Places places_of(uint32_t mask, const uint64_t* address) {
  bool equal = true, rising = true;
  uint64_t last = address[std::countr_zero(mask)];
  for_each_lane(mask & (mask - 1), [&](int lane) {
    equal = equal && address[lane] == last;
    rising = rising && address[lane] > last;
    last = address[lane];
  });
  return equal ? Places::kOne : rising ? Places::kDifferent : Places::kUnknown;
}

/// Numbers counted by key: open addressing, at most 32 keys.
class Tally {
 public:
  Tally() { counts_.fill(0); }
  /// The number of `key`, 0 when it is new.
  uint8_t& operator[](uint64_t key) {
    size_t at = key * 0x9e3779b97f4a7c15 >> 58;
    while (counts_[at] != 0 && keys_[at] != key) at = (at + 1) % keys_.size();
    keys_[at] = key;
    return counts_[at];
  }

 private:
  std::array<uint64_t, 64> keys_;
  std::array<uint8_t, 64> counts_;
};

/// Each sector as often as the most lanes that share a place in it.
unsigned sectors_of_atomic(uint32_t mask, const uint64_t* address, unsigned distinct) {
  const Places places = places_of(mask, address);
  if (places == Places::kOne) return count(mask);
  if (places == Places::kDifferent) return distinct;
  Tally lanes_at, most_in;
  unsigned sectors = 0;
  for_each_lane(mask, [&](int lane) {
    const uint8_t lanes = ++lanes_at[address[lane]];
    uint8_t& most = most_in[address[lane] >> 5];
    if (lanes <= most) return;
    most = lanes;
    ++sectors;
  });
  return sectors;
}

unsigned group_lanes(unsigned bytes) { return bytes <= 4 ? 32 : 128 / bytes; }

unsigned wavefronts_of_atomic(uint32_t mask, const uint64_t* offset, unsigned bytes) {
  const unsigned group = group_lanes(bytes);
  unsigned wavefronts = 0;
  for (unsigned first = 0; first < 32; first += group) {
    std::array<uint8_t, 32> lanes_on{};
    unsigned most = 0;
    for_each_lane(mask & static_cast<uint32_t>(low_bits(group) << first),
                  [&](int lane) { most = std::max<unsigned>(most, ++lanes_on[offset[lane] / 4 % 32]); });
    wavefronts += most;
  }
  return wavefronts;
}

/// See memory::count_retries: what the loop's loads (`loads`) or its compare and swap instructions cost.
SiteCounts counts_of_retries(uint32_t mask, const uint64_t* offset, unsigned bytes, bool loads) {
  const unsigned group = group_lanes(bytes);
  SiteCounts counts;
  for (uint32_t left = mask; left != 0; ++counts.requests) {
    counts.lanes += count(left);
    std::array<uint64_t, 32> changed;
    size_t changes = 0;
    uint32_t done = 0;
    unsigned tries = 0;
    for (unsigned first = 0; first < 32; first += group) {
      const uint32_t lanes = left & static_cast<uint32_t>(low_bits(group) << first);
      if (lanes == 0) continue;
      ++tries;
      const size_t before = changes;  // lanes of one group that try are on different banks
      uint32_t busy = 0;
      for_each_lane(lanes, [&](int lane) {
        const uint32_t bank = uint32_t{1} << (offset[lane] / 4 % 32);
        if (busy & bank) return;
        busy |= bank;
        if (std::find(changed.begin(), changed.begin() + before, offset[lane]) != changed.begin() + before) return;
        changed[changes++] = offset[lane];
        done |= uint32_t{1} << lane;
      });
    }
    const unsigned passes = loads ? cost_of(Space::kShared, Access::kLoad, bytes, left, offset).wavefronts : 2 * tries;
    counts.wavefronts += passes;
    counts.ideal_wavefronts +=
        loads ? ideal_cost(passes, count(left), bytes, 128) : 2 * ideal_cost(tries, count(left), bytes, 128);
    left &= ~done;
  }
  return counts;
}

void add_shared(SiteCounts& counts, Access access, Form form, unsigned bytes, uint32_t mask, const uint64_t* offset) {
  const auto add = [&](unsigned wavefronts, unsigned passes) {
    counts.wavefronts += passes * wavefronts;
    counts.ideal_wavefronts += passes * ideal_cost(wavefronts, count(mask), bytes, 128);
  };
  if (form == Form::kCompareAndSwap) return add(wavefronts_of_atomic(mask, offset, bytes), 2);
  if (form == Form::kRetried || form == Form::kRetryLoads) {
    // The first round's request and lanes are the caller's.
    const SiteCounts retries = counts_of_retries(mask, offset, bytes, form == Form::kRetryLoads);
    counts.requests += retries.requests - 1;
    counts.lanes += retries.lanes - count(mask);
    counts.wavefronts += retries.wavefronts;
    counts.ideal_wavefronts += retries.ideal_wavefronts;
    return;
  }
  const bool counted_each = is_atomic(access) && form != Form::kIncrement;
  if (counted_each) return add(wavefronts_of_atomic(mask, offset, bytes), 1);
  const Access as = form == Form::kMatrixRows ? Access::kStore : form == Form::kIncrement ? Access::kLoad : access;
  add(cost_of(Space::kShared, as, bytes, mask, offset).wavefronts, 1);
}

/// Global memory, or another block's shared memory.
void add_sectors(SiteCounts& counts, Space space, Access access, unsigned bytes, uint32_t mask,
                 const uint64_t* address) {
  const AccessCost cost = cost_of(space, Access::kLoad, bytes, mask, address);
  const unsigned sectors = is_atomic(access) ? sectors_of_atomic(mask, address, cost.sectors) : cost.sectors;
  counts.sectors += sectors;
  counts.repeated_sectors += sectors - cost.sectors;
  counts.lines += cost.lines;
  counts.ideal_sectors += ideal_cost(cost.sectors, count(mask), bytes, 32);
}

}  // namespace

SiteCounts counts_of(const events::AccessSite& site, Space space, uint32_t mask, const uint64_t* address) {
  mask = events::acting_lanes(site, mask);
  if (mask == 0) return {};
  const auto [access, form, bytes] = std::tuple(site.access, site.form, unsigned{site.bytes});
  SiteCounts counts;
  counts.requests = 1;
  counts.lanes = count(mask);
  switch (space) {
    case Space::kShared: add_shared(counts, access, form, bytes, mask, address); break;
    case Space::kGlobal:
    case Space::kLocal:
      add_sectors(counts, space, space == Space::kLocal ? Access::kLoad : access, bytes, mask, address);
      break;
    case Space::kSharedCluster: {
      uint32_t own = 0;
      for_each_lane(mask, [&](int lane) { own |= uint32_t{address[lane] >> memory::kClusterRankShift == 0} << lane; });
      if (own != 0) add_shared(counts, access, form, bytes, own, address);
      if (own == mask) break;
      add_sectors(counts, Space::kGlobal, access, bytes, mask & ~own, address);
      const unsigned passes = is_atomic(access) ? (form == Form::kCompareAndSwap ? 2 : 1) : 0;
      counts.wavefronts += passes;
      counts.ideal_wavefronts += passes;
      break;
    }
    case Space::kConst:
    case Space::kParam: break;
  }
  return counts;
}

}  // namespace warplens::codegen
