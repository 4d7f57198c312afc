// SPDX-License-Identifier: Apache-2.0
// Counting one warp access that is no plain load or store: atomics, rows of matrices, another block's shared memory.
// One or two passes over the lanes with small arrays: these accesses go lane by lane through a hook anyhow.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "base/bits.h"
#include "codegen/access_cost.h"
#include "codegen/retry_rounds.h"
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

/// Two lines with the same parities of these bits of the address take turns (memory::l1_slot).
constexpr uint64_t kSlotBits[] = {0x7bd5a80, 0x1d4aed00};

unsigned slot_of(uint64_t address) {
  return static_cast<unsigned>(std::popcount(address & kSlotBits[0]) & 1) |
         static_cast<unsigned>(std::popcount(address & kSlotBits[1]) & 1) << 1;
}

/// Lanes that a copy serves together, see memory::count_copy_wavefronts; `from`: null where they read nothing.
unsigned passes_of_copied(uint32_t lanes, const uint64_t* to, const uint64_t* from, unsigned bytes) {
  const unsigned group = group_lanes(bytes), width = std::max(bytes, 4u);
  unsigned passes = 0;
  for (unsigned first = 0; first < 32; first += group)
    for (uint32_t left = lanes & static_cast<uint32_t>(low_bits(group) << first); left != 0; ++passes) {
      uint32_t busy_to = 0, busy_from = 0, served = 0;
      for_each_lane(left, [&](int lane) {
        const uint32_t bank = uint32_t{1} << (to[lane] % 128 / width);
        if (busy_to & bank) return;
        busy_to |= bank;
        const uint32_t other = from == nullptr ? 0 : uint32_t{1} << (from[lane] % 128 / width);
        if (busy_from & other) return;
        busy_from |= other;
        served |= uint32_t{1} << lane;
      });
      left &= ~served;
    }
  return passes;
}

unsigned wavefronts_of_copy(uint32_t mask, const uint64_t* to, uint32_t reading, const uint64_t* from, unsigned bytes) {
  unsigned passes = passes_of_copied(mask & ~reading, to, nullptr, bytes);
  for (uint32_t left = mask & reading; left != 0;) {
    std::array<uint64_t, 4> line_of{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};
    uint32_t together = 0;
    for_each_lane(left, [&](int lane) {
      uint64_t& line = line_of[slot_of(from[lane])];
      if (line == ~uint64_t{0}) line = from[lane] >> 7;
      together |= uint32_t{line == from[lane] >> 7} << lane;
    });
    passes += passes_of_copied(together, to, from, bytes);
    left &= ~together;
  }
  return passes;
}

/// Groups of lanes that meet `mask`, one bit a group.
uint32_t groups_met(uint32_t mask, unsigned bytes) {
  uint32_t bits = mask;
  for (unsigned shift = 1; shift < group_lanes(bytes); shift *= 2) bits |= bits >> shift;
  static constexpr uint32_t kFirsts[] = {1, 0x10001, 0x01010101};
  return bits & kFirsts[bytes <= 4 ? 0 : bytes == 8 ? 1 : 2];
}

/// Worked out when first asked for: the two sites of an atomic with loads share them.
class SharedRounds {
 public:
  std::span<const RetryRounds::Round> of(uint32_t mask, const events::WarpAccess& request, unsigned bytes) {
    if (!known_ || known_->mask() != mask) known_.emplace(mask, request, bytes);
    return known_->rounds();
  }

 private:
  std::optional<RetryRounds> known_;
};

/// See memory::count_retries: what the loop's loads (`loads`) or its compare and swap instructions cost.
SiteCounts counts_of_retries(uint32_t mask, const events::WarpAccess& request, unsigned bytes, bool loads,
                             SharedRounds& shared) {
  SiteCounts counts;
  if (mask == 0) return counts;
  const uint64_t* offset = request.address->data();
  for (const RetryRounds::Round& round : shared.of(mask, request, bytes)) {
    const uint32_t acting = loads ? round.loading : round.swapping;
    counts.requests += acting != 0;
    counts.lanes += count(acting);
    if (loads) {
      const unsigned passes = cost_of(Space::kShared, Access::kLoad, bytes, acting, offset).wavefronts;
      counts.wavefronts += passes;
      counts.ideal_wavefronts += ideal_cost(passes, count(acting), bytes, 128);
    } else {
      const unsigned tries = count(groups_met(acting, bytes));
      counts.wavefronts += 2 * tries;
      counts.ideal_wavefronts += 2 * ideal_cost(tries, count(acting), bytes, 128);
    }
  }
  return counts;
}

void add_wavefronts(SiteCounts& counts, unsigned wavefronts, unsigned ideal) {
  counts.wavefronts += wavefronts;
  counts.ideal_wavefronts += ideal;
}
void add_empty(SiteCounts& counts, unsigned wavefronts) {
  add_wavefronts(counts, wavefronts, wavefronts);
  counts.empty_wavefronts += wavefronts;
}

unsigned passes_of(Form form) { return form == Form::kCompareAndSwap ? 2 : 1; }

/// Lanes of an atomic that pass through the block's shared memory, in groups in which it serves none.
void add_passing_by(SiteCounts& counts, Form form, unsigned bytes, uint32_t mask, uint32_t served) {
  add_empty(counts, passes_of(form) * count(groups_met(mask, bytes) & ~groups_met(served, bytes)));
}

void add_shared(SiteCounts& counts, const events::WarpAccess& request, const events::AccessSite& site, uint32_t mask,
                SharedRounds& rounds) {
  const uint64_t* offset = request.address->data();
  const auto [access, form, bytes] = std::tuple(site.access, site.form, unsigned{site.bytes});
  const auto add = [&](unsigned wavefronts, unsigned passes) {
    add_wavefronts(counts, passes * wavefronts, passes * ideal_cost(wavefronts, count(mask), bytes, 128));
  };
  if (form == Form::kPastL1) return;
  if (form == Form::kCompareAndSwap) return add(wavefronts_of_atomic(mask, offset, bytes), 2);
  if (form == Form::kRetried || form == Form::kRetryLoads) {
    counts.requests -= 1;  // the rounds are counted one by one
    counts.lanes -= count(mask);
    counts += counts_of_retries(mask, request, bytes, form == Form::kRetryLoads, rounds);
    return;
  }
  if (form == Form::kCopy) {
    const bool reads = request.source != nullptr;
    return add(
        wavefronts_of_copy(mask, offset, reads ? request.reading : 0, reads ? request.source->data() : offset, bytes),
        1);
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

/// The lanes that are the first at their places.
uint32_t first_of_places(uint32_t mask, const uint64_t* address) {
  Tally lanes_at;
  uint32_t firsts = 0;
  for_each_lane(mask, [&](int lane) { firsts |= uint32_t{++lanes_at[address[lane]] == 1} << lane; });
  return firsts;
}

/// See memory::count_far_retries; of the swaps only the passes.
SiteCounts counts_of_far_retries(uint32_t mask, const uint64_t* address, unsigned bytes, bool loads) {
  SiteCounts counts;
  for (uint32_t left = mask; left != 0; left &= ~first_of_places(left, address)) {
    counts.requests += 1;
    counts.lanes += count(left);
    if (loads)
      add_sectors(counts, Space::kGlobal, Access::kLoad, bytes, left, address);
    else
      add_empty(counts, 2 * count(groups_met(left, bytes)));
  }
  return counts;
}

/// See memory::count_any_memory.
void add_any_memory(SiteCounts& counts, const events::WarpAccess& request, const events::AccessSite& site, uint32_t own,
                    uint32_t far, SharedRounds& rounds) {
  const uint64_t* address = request.address->data();
  const auto [form, bytes] = std::tuple(site.form, unsigned{site.bytes});
  const bool loads = form == Form::kRetryLoads;
  if (form != Form::kRetried && !loads) {
    const unsigned wavefronts = own == 0 ? 0 : wavefronts_of_atomic(own, address, bytes);
    add_wavefronts(counts, passes_of(form) * wavefronts,
                   passes_of(form) * ideal_cost(wavefronts, count(own), bytes, 128));
    add_passing_by(counts, form, bytes, far, own | request.beside);
  } else {
    counts += counts_of_retries(own, request, bytes, loads, rounds);
    counts += counts_of_far_retries(far, address, bytes, loads);
    if (loads) {
      counts.requests -= 1;
      counts.lanes -= count(own | far);
      return;
    }
    add_passing_by(counts, Form::kPlain, bytes, own | far, request.beside);
  }
  if (far != 0) add_sectors(counts, Space::kGlobal, site.access, bytes, far, address);
}

SiteCounts counts_of(const events::WarpAccess& request, const events::AccessSite& site, SharedRounds& rounds) {
  const uint32_t mask = events::acting_lanes(site, request.mask);
  if (mask == 0) return {};
  const uint64_t* address = request.address->data();
  const auto [access, form, bytes] = std::tuple(site.access, site.form, unsigned{site.bytes});
  SiteCounts counts;
  counts.requests = 1;
  counts.lanes = count(mask);
  switch (request.space) {
    case Space::kGlobal:
      if (events::names_any_memory(site)) add_passing_by(counts, form, bytes, mask, request.beside);
      [[fallthrough]];
    case Space::kLocal:
      add_sectors(counts, request.space, request.space == Space::kLocal ? Access::kLoad : access, bytes, mask, address);
      break;
    case Space::kShared:
    case Space::kSharedCluster: {
      uint32_t own = mask;
      if (request.space == Space::kSharedCluster)
        for_each_lane(mask, [&](int lane) {
          if (address[lane] >> memory::kClusterRankShift != 0) own &= ~(uint32_t{1} << lane);
        });
      if (events::names_any_memory(site)) {
        add_any_memory(counts, request, site, own, mask & ~own, rounds);
        break;
      }
      if (own != 0) add_shared(counts, request, site, own, rounds);
      if (own != mask) add_sectors(counts, Space::kGlobal, access, bytes, mask & ~own, address);
      break;
    }
    case Space::kConst:
      add_wavefronts(counts, cost_of(request.space, access, bytes, mask, address).wavefronts,
                     passes_of_constant(bytes));
      break;
    case Space::kParam: break;
  }
  return counts;
}

}  // namespace

SiteCounts counts_of(const events::WarpAccess& request, const events::AccessSite& site) {
  SharedRounds rounds;
  return counts_of(request, site, rounds);
}

std::pair<SiteCounts, SiteCounts> counts_with_loads(const events::WarpAccess& request, const events::AccessSite& site,
                                                    const events::AccessSite& loads) {
  SharedRounds rounds;
  return {counts_of(request, site, rounds), counts_of(request, loads, rounds)};
}

}  // namespace warplens::codegen
