// SPDX-License-Identifier: Apache-2.0
// Counting one warp access without sets: active lanes are moved together, sorted only when they are not in order
// already (most accesses are), and distinct units are the changes between neighbours. Shared memory: the distinct words
// of each bank are short lists.
#include "codegen/access_cost.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/bits.h"

namespace warplens::codegen {
namespace {

constexpr unsigned kSectorLog2 = 5, kLineLog2 = 7;

/// Distinct sectors and lines of sorted or unsorted byte addresses.
AccessCost cost_of_units(uint64_t* at, unsigned n) {
  if (n == 0) return {};
  if (!std::is_sorted(at, at + n)) std::sort(at, at + n);
  AccessCost cost{1, 1, 0};
  for (unsigned i = 1; i < n; ++i) {
    cost.sectors += (at[i] >> kSectorLog2) != (at[i - 1] >> kSectorLog2);
    cost.lines += (at[i] >> kLineLog2) != (at[i - 1] >> kLineLog2);
  }
  return cost;
}

AccessCost cost_of_global(uint32_t mask, const uint64_t* address) {
  std::array<uint64_t, 32> at;  // an aligned access of at most 32 bytes lies in one sector
  unsigned n = 0;
  for_each_lane(mask, [&](int lane) { at[n++] = address[lane]; });
  return cost_of_units(at.data(), n);
}

/// Word w of lane l lies at byte (w * 32 + l) * 4.
AccessCost cost_of_local(unsigned bytes, uint32_t mask, const uint64_t* offset) {
  const unsigned words = (bytes + 3) / 4;
  std::array<uint64_t, 32 * 8> at;
  unsigned n = 0;
  for (unsigned w = 0; w < words; ++w)
    for_each_lane(mask, [&](int lane) { at[n++] = ((offset[lane] / 4 + w) * 32 + static_cast<unsigned>(lane)) * 4; });
  return cost_of_units(at.data(), n);
}

/// The words of each bank seen so far, as lists through arrays.
struct BankLists {
  static constexpr uint8_t kEnd = 0xff;
  std::array<uint8_t, 32> first;
  std::array<uint8_t, 32> length;
  std::array<uint8_t, 256> next;
  std::array<uint64_t, 256> word;
  unsigned used = 0, longest = 0;

  BankLists() {
    first.fill(kEnd);
    length.fill(0);
  }
  void add(uint64_t w) {
    const unsigned bank = w % 32;
    for (uint8_t i = first[bank]; i != kEnd; i = next[i])
      if (word[i] == w) return;
    word[used] = w;
    next[used] = first[bank];
    first[bank] = static_cast<uint8_t>(used++);
    longest = std::max<unsigned>(longest, ++length[bank]);
  }
};

bool neighbours_agree(uint32_t mask, const uint64_t* offset, int distance) {
  bool agree = true;
  for_each_lane(mask, [&](int lane) {
    const int other = lane ^ distance;
    if ((mask >> other & 1) && offset[other] != offset[lane]) agree = false;
  });
  return agree;
}

uint32_t wavefronts_of(events::Access access, unsigned bytes, uint32_t mask, const uint64_t* offset) {
  unsigned group = bytes <= 4 ? 32 : 128 / bytes;
  if (access == events::Access::kLoad && bytes > 4 &&
      (neighbours_agree(mask, offset, 1) || neighbours_agree(mask, offset, 2)))
    group *= 2;
  const unsigned words = (bytes + 3) / 4;
  uint32_t wavefronts = 0;
  for (unsigned begin = 0; begin < 32; begin += group) {
    BankLists banks;
    for_each_lane(mask & static_cast<uint32_t>(low_bits(group) << begin), [&](int lane) {
      for (unsigned w = 0; w < words; ++w) banks.add(offset[lane] / 4 + w);
    });
    wavefronts += banks.longest;
  }
  return wavefronts;
}

}  // namespace

AccessCost cost_of(events::Space space, events::Access access, unsigned bytes, uint32_t mask, const uint64_t* address) {
  switch (space) {
    case events::Space::kGlobal:
    case events::Space::kUnresolved: return cost_of_global(mask, address);
    case events::Space::kLocal: return cost_of_local(bytes, mask, address);
    case events::Space::kShared:
    case events::Space::kSharedCluster: return {0, 0, wavefronts_of(access, bytes, mask, address)};
    case events::Space::kConst:
    case events::Space::kParam: break;
  }
  return {};
}

std::vector<AccessCost> costs_by_phase(events::Space space, events::Access access, unsigned bytes,
                                       const Pattern& offsets, unsigned granule_log2) {
  const unsigned phases = granule_log2 >= kLineLog2 ? 1 : 128u >> granule_log2;
  std::vector<AccessCost> costs;
  for (unsigned p = 0; p < phases; ++p) {
    std::array<uint64_t, 32> at;
    // Far from zero, so that no offset leads below it.
    for (int lane = 0; lane < 32; ++lane)
      at[lane] = (uint64_t{1} << 40) + (uint64_t{p} << granule_log2) + static_cast<uint64_t>(offsets[lane]);
    costs.push_back(cost_of(space, access, bytes, kFullMask, at.data()));
  }
  if (std::ranges::all_of(costs, [&](const AccessCost& c) { return c == costs[0]; })) costs.resize(1);
  return costs;
}

}  // namespace warplens::codegen
