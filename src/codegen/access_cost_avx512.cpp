// SPDX-License-Identifier: Apache-2.0
// Counting one warp access with AVX-512, all lanes at once; chosen at run time (access_cost.cpp). A lane's unit (sector
// or bank word) is a 32-bit key; inactive lanes take the key of an active one, so that the mask is done with.
//
//   distinct keys   vpconflictd within each half and vp2intersectd across them (Zen 5: 10 ns), or a bitonic sort of the
//                   32 keys and the changes between neighbours (every AVX-512 machine; 25 ns)
//   passes          the largest number of distinct words in one bank: one-hot banks of the first lane of each word,
//                   added up as bit planes; or, sorted by bank and word, the longest run of one bank
#include "codegen/access_cost_variants.h"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12's header initialises "undefined" vectors with themselves
#endif
#include <immintrin.h>

#include <bit>

#include "base/bits.h"

// Functions, not files, are compiled for these machines: nothing else here may run on them alone.
#define WL_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,bmi,bmi2,popcnt")))
#define WL_INTERSECT \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vp2intersect,bmi,bmi2,popcnt")))

namespace warplens::codegen {
namespace {

/// One key a lane: 0..15 and 16..31.
struct Keys {
  __m512i low, high;
};

/// The low 32 bits of address >> shift; lanes outside `mask` (not empty) take the key of its first lane.
WL_AVX512 Keys load_keys(uint32_t mask, const uint64_t* address, unsigned shift) {
  const __m128i by = _mm_cvtsi32_si128(static_cast<int>(shift));
  const __m256i a = _mm512_cvtepi64_epi32(_mm512_srl_epi64(_mm512_loadu_si512(address), by));
  const __m256i b = _mm512_cvtepi64_epi32(_mm512_srl_epi64(_mm512_loadu_si512(address + 8), by));
  const __m256i c = _mm512_cvtepi64_epi32(_mm512_srl_epi64(_mm512_loadu_si512(address + 16), by));
  const __m256i d = _mm512_cvtepi64_epi32(_mm512_srl_epi64(_mm512_loadu_si512(address + 24), by));
  const __m512i filler = _mm512_set1_epi32(static_cast<int>(address[std::countr_zero(mask)] >> shift));
  const __m512i low = _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
  const __m512i high = _mm512_inserti64x4(_mm512_castsi256_si512(c), d, 1);
  return {_mm512_mask_mov_epi32(filler, static_cast<__mmask16>(mask), low),
          _mm512_mask_mov_epi32(filler, static_cast<__mmask16>(mask >> 16), high)};
}

/// Whether every active lane's key is that of its active neighbour at distance 1 (or 2).
WL_AVX512 bool neighbours_agree(uint32_t mask, const Keys& keys) {
  const uint32_t pairs = mask & ((mask & 0x55555555) << 1 | (mask >> 1 & 0x55555555));
  const uint32_t across = mask & ((mask & 0x33333333) << 2 | (mask >> 2 & 0x33333333));
  const __m512i low1 = _mm512_shuffle_epi32(keys.low, _MM_PERM_CDAB);
  const __m512i high1 = _mm512_shuffle_epi32(keys.high, _MM_PERM_CDAB);
  const __m512i low2 = _mm512_shuffle_epi32(keys.low, _MM_PERM_BADC);
  const __m512i high2 = _mm512_shuffle_epi32(keys.high, _MM_PERM_BADC);
  const uint32_t differ1 = _mm512_cmpneq_epi32_mask(keys.low, low1) |
                           static_cast<uint32_t>(_mm512_cmpneq_epi32_mask(keys.high, high1)) << 16;
  const uint32_t differ2 = _mm512_cmpneq_epi32_mask(keys.low, low2) |
                           static_cast<uint32_t>(_mm512_cmpneq_epi32_mask(keys.high, high2)) << 16;
  return (differ1 & pairs) == 0 || (differ2 & across) == 0;
}

// --- by intersection

/// The first lane of each distinct key.
WL_INTERSECT uint32_t first_lanes(const Keys& keys) {
  __mmask16 in_high = 0, in_low = 0;
  _mm512_2intersect_epi32(keys.low, keys.high, &in_high, &in_low);
  const __m512i low = _mm512_conflict_epi32(keys.low);
  const __m512i high = _mm512_conflict_epi32(keys.high);
  const uint32_t new_low = _mm512_testn_epi32_mask(low, low);
  const uint32_t new_high = _mm512_testn_epi32_mask(high, high);
  return new_low | (new_high & ~static_cast<uint32_t>(in_low)) << 16;
}

/// Bit-sliced numbers, one a bank: bit b of plane p is bit p of bank b's number.
struct Planes {
  __m512i plane[6];
};

/// Adds numbers of `Used` planes to those of the lanes that `partner` holds.
template <unsigned Used>
WL_AVX512 inline void add_planes(Planes& sum, const Planes& partner) {
  __m512i carry = _mm512_setzero_si512();
  for (unsigned p = 0; p < Used; ++p) {
    const __m512i a = sum.plane[p], b = partner.plane[p];
    sum.plane[p] = _mm512_ternarylogic_epi32(a, b, carry, 0x96);  // odd number of bits
    carry = _mm512_ternarylogic_epi32(a, b, carry, 0xe8);         // two bits or more
  }
  sum.plane[Used] = carry;
}

/// For each number of a bit plane: how many keys of the lanes `firsts` have it as bank.
WL_AVX512 inline Planes count_banks(uint32_t firsts, __m512i low_bank, __m512i high_bank) {
  const __m512i one = _mm512_set1_epi32(1);
  const __m512i low = _mm512_maskz_sllv_epi32(static_cast<__mmask16>(firsts), one, low_bank);
  const __m512i high = _mm512_maskz_sllv_epi32(static_cast<__mmask16>(firsts >> 16), one, high_bank);
  Planes sum, partner;
  sum.plane[0] = _mm512_xor_si512(low, high);
  sum.plane[1] = _mm512_and_si512(low, high);
  for (unsigned p = 0; p < 2; ++p) partner.plane[p] = _mm512_shuffle_i64x2(sum.plane[p], sum.plane[p], 0x4e);
  add_planes<2>(sum, partner);
  for (unsigned p = 0; p < 3; ++p) partner.plane[p] = _mm512_shuffle_i64x2(sum.plane[p], sum.plane[p], 0xb1);
  add_planes<3>(sum, partner);
  for (unsigned p = 0; p < 4; ++p) partner.plane[p] = _mm512_shuffle_epi32(sum.plane[p], _MM_PERM_BADC);
  add_planes<4>(sum, partner);
  for (unsigned p = 0; p < 5; ++p) partner.plane[p] = _mm512_shuffle_epi32(sum.plane[p], _MM_PERM_CDAB);
  add_planes<5>(sum, partner);
  return sum;
}

/// The largest number among those of the banks in `candidates`.
WL_AVX512 unsigned largest(const Planes& sum, uint32_t candidates) {
  unsigned most = 0;
  for (unsigned p = 6; p-- > 0;) {
    const auto bits = static_cast<uint32_t>(_mm_cvtsi128_si32(_mm512_castsi512_si128(sum.plane[p])));
    const bool any = (bits & candidates) != 0;
    candidates = any ? bits & candidates : candidates;
    most |= static_cast<unsigned>(any) << p;
  }
  return most;
}

/// All lanes served together.
WL_INTERSECT unsigned passes_by_intersection(uint32_t mask, const uint64_t* offset, unsigned shift) {
  const Keys keys = load_keys(mask, offset, shift);
  const __m512i banks = _mm512_set1_epi32(static_cast<int>((128u >> shift) - 1));
  const Planes sum =
      count_banks(first_lanes(keys), _mm512_and_si512(keys.low, banks), _mm512_and_si512(keys.high, banks));
  return largest(sum, ~0u);
}

/// Groups of at most 16 lanes, each served by itself: no key meets one of another half, and each group's banks have
/// bits of their own, 32 in all at most.
WL_AVX512 uint32_t wavefronts_of_groups(uint32_t mask, const Keys& keys, unsigned group, unsigned banks) {
  const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i begin = _mm512_and_si512(lane, _mm512_set1_epi32(-static_cast<int>(group)));
  const __m512i members = _mm512_sllv_epi32(_mm512_set1_epi32(static_cast<int>(low_bits(group))), begin);
  const __m512i active_low = _mm512_and_si512(members, _mm512_set1_epi32(static_cast<int>(mask & 0xffff)));
  const __m512i active_high = _mm512_and_si512(members, _mm512_set1_epi32(static_cast<int>(mask >> 16)));
  const uint32_t firsts = _mm512_testn_epi32_mask(_mm512_conflict_epi32(keys.low), active_low) |
                          static_cast<uint32_t>(_mm512_testn_epi32_mask(_mm512_conflict_epi32(keys.high), active_high))
                              << 16;
  // Bank b of group g is bit g * banks + b.
  const __m128i to_bank = _mm_cvtsi32_si128(std::countr_zero(banks) - std::countr_zero(group));
  const __m128i from_bank = _mm_cvtsi32_si128(std::countr_zero(group) - std::countr_zero(banks));
  const __m512i first_bank = banks >= group ? _mm512_sll_epi32(begin, to_bank) : _mm512_srl_epi32(begin, from_bank);
  const __m512i bank = _mm512_set1_epi32(static_cast<int>(banks - 1));
  const unsigned high_begin = 16 / group * banks;
  const Planes sum = count_banks(firsts & mask, _mm512_or_si512(_mm512_and_si512(keys.low, bank), first_bank),
                                 _mm512_add_epi32(_mm512_or_si512(_mm512_and_si512(keys.high, bank), first_bank),
                                                  _mm512_set1_epi32(static_cast<int>(high_begin))));
  uint32_t wavefronts = 0;
  for (unsigned g = 0; g < 32 / group; ++g)
    wavefronts += largest(sum, static_cast<uint32_t>(low_bits(banks) << (g * banks)));
  return wavefronts;
}

WL_INTERSECT uint32_t wavefronts_by_intersection(events::Access access, unsigned bytes, uint32_t mask,
                                                 const uint64_t* offset) {
  if (bytes <= 4) return passes_by_intersection(mask, offset, 2);
  const auto shift = static_cast<unsigned>(std::countr_zero(bytes));
  const Keys keys = load_keys(mask, offset, shift);
  unsigned group = 128 / bytes;
  if (access == events::Access::kLoad && neighbours_agree(mask, keys)) group *= 2;
  if (group == 32) return passes_by_intersection(mask, offset, shift);
  return wavefronts_of_groups(mask, keys, group, 128 / bytes);
}

// --- by sorting

/// One step of a bitonic sort: lanes at distance `Distance` are compared; those in `maximum` keep the larger key.
template <int Distance>
WL_AVX512 inline __m512i exchange(__m512i v, __mmask16 maximum) {
  __m512i other = v;
  if constexpr (Distance == 1) other = _mm512_shuffle_epi32(v, _MM_PERM_CDAB);
  if constexpr (Distance == 2) other = _mm512_shuffle_epi32(v, _MM_PERM_BADC);
  if constexpr (Distance == 4) other = _mm512_shuffle_i64x2(v, v, 0xb1);
  if constexpr (Distance == 8) other = _mm512_shuffle_i64x2(v, v, 0x4e);
  return _mm512_mask_max_epu32(_mm512_min_epu32(v, other), maximum, v, other);
}

/// 16 keys in order up, or down where `down` is all ones.
WL_AVX512 __m512i sort_half(__m512i v, uint32_t down) {
  const auto side = [down](uint32_t upper) { return static_cast<__mmask16>(upper ^ down); };
  v = exchange<1>(v, 0xaaaa ^ 0xcccc);
  v = exchange<2>(v, 0xcccc ^ 0xf0f0);
  v = exchange<1>(v, 0xaaaa ^ 0xf0f0);
  v = exchange<4>(v, 0xf0f0 ^ 0xff00);
  v = exchange<2>(v, 0xcccc ^ 0xff00);
  v = exchange<1>(v, 0xaaaa ^ 0xff00);
  v = exchange<8>(v, side(0xff00));
  v = exchange<4>(v, side(0xf0f0));
  v = exchange<2>(v, side(0xcccc));
  return exchange<1>(v, side(0xaaaa));
}

/// A bitonic sequence of 16 keys in order.
WL_AVX512 __m512i merge_half(__m512i v) {
  v = exchange<8>(v, 0xff00);
  v = exchange<4>(v, 0xf0f0);
  v = exchange<2>(v, 0xcccc);
  return exchange<1>(v, 0xaaaa);
}

WL_AVX512 Keys sorted(const Keys& keys) {
  const __m512i up = sort_half(keys.low, 0), down = sort_half(keys.high, 0xffff);
  return {merge_half(_mm512_min_epu32(up, down)), merge_half(_mm512_max_epu32(up, down))};
}

/// Bit l: the key of lane l differs from that before it; lane 0 always.
WL_AVX512 uint32_t changes(const Keys& keys) {
  const uint32_t low = _mm512_cmpneq_epi32_mask(keys.low, _mm512_alignr_epi32(keys.low, keys.low, 15));
  const uint32_t high = _mm512_cmpneq_epi32_mask(keys.high, _mm512_alignr_epi32(keys.high, keys.low, 15));
  return low | 1 | high << 16;
}

WL_AVX512 Keys shifted(const Keys& keys, unsigned bits) {
  const __m128i by = _mm_cvtsi32_si128(static_cast<int>(bits));
  return {_mm512_srl_epi32(keys.low, by), _mm512_srl_epi32(keys.high, by)};
}

WL_AVX512 unsigned passes_by_sorting(uint32_t lanes, const uint64_t* offset, unsigned shift) {
  Keys keys = load_keys(lanes, offset, shift);
  const unsigned bank_bits = 7 - shift;
  const __m512i by = _mm512_set1_epi32(static_cast<int>(bank_bits));
  keys = sorted({_mm512_rorv_epi32(keys.low, by), _mm512_rorv_epi32(keys.high, by)});  // the bank in the top bits
  const uint32_t words = changes(keys), banks = changes(shifted(keys, 32 - bank_bits));
  // One bit a distinct word: whether it has the bank of the word before. The longest run of them, and the first word.
  const uint32_t first_of_bank = _pext_u32(banks, words);
  uint32_t run = ~first_of_bank & static_cast<uint32_t>(low_bits(static_cast<unsigned>(std::popcount(words))));
  unsigned longest = 1;
  for (; run != 0; run &= run << 1) ++longest;
  return longest;
}

/// Passes of the access: the sum over groups of lanes that are served together. Aligned accesses of 8 and 16 bytes
/// take whole pairs or fours of banks.
WL_AVX512 uint32_t wavefronts_by_sorting(events::Access access, unsigned bytes, uint32_t mask, const uint64_t* offset) {
  if (bytes <= 4) return passes_by_sorting(mask, offset, 2);
  unsigned group = 128 / bytes;
  const auto shift = static_cast<unsigned>(std::countr_zero(bytes));
  if (access == events::Access::kLoad && neighbours_agree(mask, load_keys(mask, offset, shift))) group *= 2;
  uint32_t wavefronts = 0;
  for (unsigned begin = 0; begin < 32; begin += group) {
    const auto lanes = mask & static_cast<uint32_t>(low_bits(group) << begin);
    if (lanes != 0) wavefronts += passes_by_sorting(lanes, offset, shift);
  }
  return wavefronts;
}

}  // namespace

WL_INTERSECT AccessCost cost_by_intersection(events::Space space, events::Access access, unsigned bytes, uint32_t mask,
                                             const uint64_t* address) {
  if (mask == 0 || space == events::Space::kLocal || space == events::Space::kConst)
    return portable_cost(space, access, bytes, mask, address);
  if (space == events::Space::kGlobal) {
    const Keys sectors = load_keys(mask, address, 5);
    const uint32_t firsts = first_lanes(sectors), first_of_line = first_lanes(shifted(sectors, 2));
    return {static_cast<uint32_t>(_mm_popcnt_u32(firsts)), static_cast<uint32_t>(_mm_popcnt_u32(first_of_line)), 0};
  }
  if (space != events::Space::kShared && space != events::Space::kSharedCluster) return {};
  return {0, 0, wavefronts_by_intersection(access, bytes, mask, address)};
}

WL_AVX512 AccessCost cost_by_sorting(events::Space space, events::Access access, unsigned bytes, uint32_t mask,
                                     const uint64_t* address) {
  if (mask == 0 || space == events::Space::kLocal || space == events::Space::kConst)
    return portable_cost(space, access, bytes, mask, address);
  if (space == events::Space::kGlobal) {
    const Keys sectors = sorted(load_keys(mask, address, 5));
    const uint32_t first_of_line = changes(shifted(sectors, 2));
    return {static_cast<uint32_t>(_mm_popcnt_u32(changes(sectors))),
            static_cast<uint32_t>(_mm_popcnt_u32(first_of_line)), 0};
  }
  if (space != events::Space::kShared && space != events::Space::kSharedCluster) return {};
  return {0, 0, wavefronts_by_sorting(access, bytes, mask, address)};
}

}  // namespace warplens::codegen
#endif  // __x86_64__
