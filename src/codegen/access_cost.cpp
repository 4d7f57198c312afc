// SPDX-License-Identifier: Apache-2.0
// Counting one warp access in one pass over its lanes, on any machine: in order of address (most are), the distinct
// units are the changes between neighbours; else small open-addressing sets on the stack. access_cost_avx512.cpp has
// the forms for machines with AVX-512, about ten times as fast; the choice between them is made here, once.
#include "codegen/access_cost.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/bits.h"
#include "codegen/access_cost_variants.h"

namespace warplens::codegen {
namespace {

constexpr unsigned kSectorLog2 = 5, kLineLog2 = 7;

/// A set of up to Slots / 2 numbers with four bits each, by open addressing: no order, no allocation, one pass.
template <unsigned SlotsLog2>
class SmallSet {
 public:
  SmallSet() { keys_.fill(kEmpty); }
  /// Sets bit `bit` of `key`; whether the key and the bit are new.
  std::pair<bool, bool> add(uint64_t key, unsigned bit) {
    size_t at = key * 0x9e3779b97f4a7c15 >> (64 - SlotsLog2);
    while (keys_[at] != key && keys_[at] != kEmpty) at = (at + 1) % keys_.size();
    const bool new_key = keys_[at] == kEmpty;
    if (new_key) {
      keys_[at] = key;
      bits_[at] = 0;
    }
    const bool new_bit = (bits_[at] >> bit & 1) == 0;
    bits_[at] = static_cast<uint8_t>(bits_[at] | 1u << bit);
    return {new_key, new_bit};
  }

 private:
  static constexpr uint64_t kEmpty = ~uint64_t{0};  // no line or word has this number
  std::array<uint64_t, size_t{1} << SlotsLog2> keys_;
  std::array<uint8_t, size_t{1} << SlotsLog2> bits_;
};

/// An aligned access of at most 32 bytes lies in one sector.
AccessCost cost_of_global(uint32_t mask, const uint64_t* address) {
  // Addresses in order by lane are the common case: then the distinct units are the changes.
  AccessCost cost;
  uint64_t last = 0;
  bool ordered = true;
  for_each_lane(mask, [&](int lane) {
    const uint64_t at = address[lane];
    const bool first = cost.sectors == 0;
    ordered = ordered && at >= last;
    cost.sectors += first || (at >> kSectorLog2) != (last >> kSectorLog2);
    cost.lines += first || (at >> kLineLog2) != (last >> kLineLog2);
    last = at;
  });
  if (ordered) return cost;
  cost = {};
  SmallSet<6> lines;
  for_each_lane(mask, [&](int lane) {
    const auto [new_line, new_sector] = lines.add(address[lane] >> kLineLog2, address[lane] >> kSectorLog2 & 3);
    cost.lines += new_line;
    cost.sectors += new_sector;
  });
  return cost;
}

/// Word w of lane l lies at byte (w * 32 + l) * 4: a line for each word, a sector for 8 lanes of it.
template <unsigned SlotsLog2>
AccessCost cost_of_words(unsigned words, uint32_t mask, const uint64_t* offset) {
  AccessCost cost;
  SmallSet<SlotsLog2> lines;
  for_each_lane(mask, [&](int lane) {
    for (unsigned w = 0; w < words; ++w) {
      const auto [new_line, new_sector] = lines.add(offset[lane] / 4 + w, static_cast<unsigned>(lane) / 8);
      cost.lines += new_line;
      cost.sectors += new_sector;
    }
  });
  return cost;
}

AccessCost cost_of_local(unsigned bytes, uint32_t mask, const uint64_t* offset) {
  const unsigned words = (bytes + 3) / 4;  // at most 32 a word
  return words <= 2 ? cost_of_words<7>(words, mask, offset) : cost_of_words<9>(words, mask, offset);
}

/// Different addresses.
uint32_t distinct(uint32_t mask, const uint64_t* address) {
  SmallSet<6> places;
  uint32_t different = 0;
  for_each_lane(mask, [&](int lane) { different += places.add(address[lane], 0).first; });
  return different;
}

/// The distinct words of each bank.
class Banks {
 public:
  Banks() { words_of_.fill(0); }
  void add(uint64_t word) {
    if (!words_.add(word, 0).first) return;
    longest_ = std::max<unsigned>(longest_, ++words_of_[word % 32]);
  }
  unsigned longest() const { return longest_; }

 private:
  SmallSet<7> words_;  // a group of lanes asks for at most 64 words
  std::array<uint8_t, 32> words_of_;
  unsigned longest_ = 0;
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
    const auto lanes = mask & static_cast<uint32_t>(low_bits(group) << begin);
    if (lanes == 0) continue;
    Banks banks;
    for_each_lane(lanes, [&](int lane) {
      for (unsigned w = 0; w < words; ++w) banks.add(offset[lane] / 4 + w);
    });
    wavefronts += banks.longest();
  }
  return wavefronts;
}

}  // namespace

AccessCost portable_cost(events::Space space, events::Access access, unsigned bytes, uint32_t mask,
                         const uint64_t* address) {
  switch (space) {
    case events::Space::kGlobal: return cost_of_global(mask, address);
    case events::Space::kLocal: return cost_of_local(bytes, mask, address);
    case events::Space::kShared:
    case events::Space::kSharedCluster: return {0, 0, wavefronts_of(access, bytes, mask, address)};
    case events::Space::kConst: return {0, 0, distinct(mask, address) * passes_of_constant(bytes)};
    case events::Space::kParam: break;
  }
  return {};
}

std::vector<CostVariant> cost_variants() {
  std::vector<CostVariant> known = {{"portable", portable_cost}};
#if defined(__x86_64__)
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("bmi2");
  if (avx512) known.push_back({"sorting", cost_by_sorting});
  if (avx512 && __builtin_cpu_supports("avx512vp2intersect")) known.push_back({"intersection", cost_by_intersection});
#endif
  return known;
}

AccessCost cost_of(events::Space space, events::Access access, unsigned bytes, uint32_t mask, const uint64_t* address) {
  static const CostFunction best = cost_variants().back().cost;
  return best(space, access, bytes, mask, address);
}

namespace {

std::vector<AccessCost> compute_costs_by_phase(events::Space space, events::Access access, unsigned bytes,
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

}  // namespace

std::vector<AccessCost> costs_by_phase(events::Space space, events::Access access, unsigned bytes,
                                       const Pattern& offsets, unsigned granule_log2) {
  // Kernels use a few patterns at many sites.
  using Key = std::tuple<events::Space, events::Access, unsigned, unsigned, const Pattern*>;
  static std::mutex mutex;
  static std::map<Key, std::vector<AccessCost>> known;
  const Key key{space, access, bytes, granule_log2, intern_pattern(offsets)};
  const std::lock_guard lock(mutex);
  auto at = known.find(key);
  if (at == known.end())
    at = known.emplace(key, compute_costs_by_phase(space, access, bytes, offsets, granule_log2)).first;
  return at->second;
}

}  // namespace warplens::codegen
