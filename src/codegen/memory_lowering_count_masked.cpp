// SPDX-License-Identifier: Apache-2.0
// Counting a proven address under a partial mask. Which lanes meet in a unit is known when the code is made, so that
// counting is a few operations on the mask:
//
//   row             sectors and lines are groups of bits in the mask, shifted by the base's place within its line
//   other patterns  a table of lane sets by the base's place: as many units as sets that meet the mask
//   banks           the j-th words of all banks, as one bit a bank: H(j); passes are the most H that share a bit
//
// Unknown addresses, and patterns that would take more code than a call, go to the hook.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "base/bits.h"
#include "codegen/memory_access.h"

namespace warplens::codegen {
namespace {

/// More passes than this are counted by the hook, which is shorter.
constexpr size_t kMostPasses = 8;
/// The same for passes whose lanes are not a shift of each other: each takes a vector test.
constexpr size_t kMostTestedPasses = 4;

/// For each bank the lanes of its first, second ... word. Bases are multiples of a word, which only turns the banks.
using BankWords = std::vector<std::vector<uint32_t>>;

BankWords words_by_bank(const Pattern& rel) {
  std::map<int64_t, uint32_t> lanes_of;
  for (size_t lane = 0; lane < rel.size(); ++lane) lanes_of[rel[lane] / 4] |= 1u << lane;
  std::map<int64_t, std::vector<uint32_t>> banks;
  for (const auto& [word, lanes] : lanes_of) banks[word % 32].push_back(lanes);
  BankWords all;
  for (auto& [bank, words] : banks) {
    std::ranges::sort(words, {}, [](uint32_t lanes) { return std::countr_zero(lanes); });
    all.push_back(words);
  }
  return all;
}

size_t most_words(const BankWords& banks) {
  size_t most = 0;
  for (const auto& words : banks) most = std::max(most, words.size());
  return most;
}

/// Where each word has one lane and the j-th words' lanes are the first ones' moved by one distance: that distance.
std::vector<int> distances_of(const BankWords& banks) {
  std::vector<int> distances(most_words(banks), -1);
  for (const auto& words : banks)
    for (size_t j = 0; j < words.size(); ++j) {
      const int distance = std::countr_zero(words[j]) - std::countr_zero(words[0]);
      if (!std::has_single_bit(words[j]) || (distances[j] >= 0 && distances[j] != distance)) return {};
      distances[j] = distance;
    }
  return distances;
}

/// Lane sets of the units of 1 << unit_log2 bytes that the lanes are in when the base is `place` bytes behind the
/// beginning of one.
std::vector<uint32_t> lanes_by_unit(const Pattern& rel, unsigned unit_log2, uint64_t place) {
  std::map<uint64_t, uint32_t> lanes_of;
  for (size_t lane = 0; lane < rel.size(); ++lane)
    lanes_of[(static_cast<uint64_t>(rel[lane]) + place) >> unit_log2] |= 1u << lane;
  std::vector<uint32_t> sets;
  for (const auto& [unit, lanes] : lanes_of) sets.push_back(lanes);
  return sets;
}

}  // namespace

void MemoryAccess::count_partial(uint32_t site) {
  const events::Space space = counted_space();
  llvm::Value* one = ir_.getInt64(1);
  if (!proven()) return count_by_hook(site);
  if (space == events::Space::kConst) {
    const uint64_t passes = passes_of_constant(bytes_);
    if (kind_ != Kind::kUniform) return count_by_hook(site);
    return add_constants(site, kWavefronts, std::array<uint64_t, 2>{passes, passes});
  }
  if (space == events::Space::kLocal) {
    // The words of equal offsets lie side by side: 8 lanes a sector, all lanes one line.
    const uint64_t words = std::max(1u, bytes_ / 4);
    return count_sectors(site, ir_.CreateMul(groups_active(8), ir_.getInt64(words)), ir_.getInt64(words));
  }
  if (space == events::Space::kGlobal) {
    if (kind_ == Kind::kUniform) return add_constants(site, kSectors, std::array<uint64_t, 4>{1, 1, 1, 0});
    return unit_stride() ? count_partial_row(site) : count_sectors(site, units_met(5), units_met(7));
  }
  const std::vector<AccessCost> full = costs_by_phase(space, access_, bytes_, rel_, std::max(align_log2_, bytes_log2_));
  const unsigned groups = std::max(1u, bytes_ / 4);
  const bool clean = std::ranges::all_of(full, [&](const AccessCost& c) { return c.wavefronts == groups; });
  // Fewer lanes never cost more: a request without conflicts stays so. Loads wider than a word may pair up differently.
  if (bytes_ <= 4 && clean) return count_wavefronts(site, one);
  if (bytes_ > 4 && clean && access_ != events::Access::kLoad)
    return count_wavefronts(site, groups_active(128 / bytes_));
  if (kind_ == Kind::kUniform && access_ == events::Access::kLoad && bytes_ <= 16)
    return count_wavefronts(site, bytes_ <= 8 ? one : groups_active(16));  // equal lanes pair up
  if (!count_partial_banks(site)) count_by_hook(site);
}

/// Unit stride under a partial mask: lane l's element number from the line's start is phase + l, so that sectors and
/// lines are groups of bits in the mask shifted by the phase.
void MemoryAccess::count_partial_row(uint32_t site) {
  const auto groups = [&](unsigned unit) -> llvm::Value* {
    const unsigned lanes = unit / bytes_;  // lanes of one sector or line
    llvm::Value* phase = ir_.CreateAnd(ir_.CreateZExtOrTrunc(ir_.CreateLShr(first_, bytes_log2_), ir_.getInt64Ty()),
                                       ir_.getInt64(lanes - 1));
    llvm::Value* mask = ir_.CreateZExt(e_.mask_bits, ir_.getInt64Ty());
    if (lanes > 32) {  // at most two units: lanes before and behind the boundary
      llvm::Value* boundary =
          ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, ir_.getInt64(32), ir_.CreateSub(ir_.getInt64(lanes), phase));
      llvm::Value* behind = ir_.CreateLShr(mask, boundary);
      llvm::Value* before = ir_.CreateAnd(mask, ir_.CreateNot(ir_.CreateShl(ir_.getInt64(~uint64_t{0}), boundary)));
      return ir_.CreateAdd(ir_.CreateZExt(ir_.CreateICmpNE(behind, ir_.getInt64(0)), ir_.getInt64Ty()),
                           ir_.CreateZExt(ir_.CreateICmpNE(before, ir_.getInt64(0)), ir_.getInt64Ty()));
    }
    llvm::Value* bits = ir_.CreateShl(mask, phase);
    for (unsigned shift = 1; shift < lanes; shift *= 2) bits = ir_.CreateOr(bits, ir_.CreateLShr(bits, shift));
    uint64_t firsts = 0;
    for (unsigned i = 0; i < 64; i += lanes) firsts |= uint64_t{1} << i;
    return ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, ir_.CreateAnd(bits, firsts));
  };
  count_sectors(site, groups(32), groups(128));
}

/// Any pattern: distinct units of 1 << unit_log2 bytes that active lanes are in.
llvm::Value* MemoryAccess::units_met(unsigned unit_log2) {
  const unsigned granule = std::min(unit_log2, std::max(align_log2_, bytes_log2_));  // checked: aligned to its width
  std::vector<llvm::Constant*> rows;
  bool own = true;  // no two lanes meet, wherever the base is
  uint64_t hash = unit_log2;
  for (uint64_t place = 0; place < uint64_t{1} << unit_log2; place += uint64_t{1} << granule) {
    std::vector<uint32_t> sets = lanes_by_unit(rel_, unit_log2, place);
    own = own && sets.size() == kWarpSize;
    sets.resize(kWarpSize);
    for (const uint32_t lanes : sets) hash = hash * 0x9e3779b97f4a7c15 + lanes;
    rows.push_back(llvm::ConstantDataVector::get(ir_.getContext(), sets));
  }
  if (own) return lanes_active();
  auto* type = llvm::ArrayType::get(rows[0]->getType(), rows.size());
  llvm::Value* table = constant_table("units", hash, llvm::ConstantArray::get(type, rows));
  llvm::Value* place = ir_.CreateAnd(ir_.CreateZExtOrTrunc(ir_.CreateLShr(first_, granule), ir_.getInt64Ty()),
                                     ir_.getInt64(rows.size() - 1));
  llvm::Value* sets = ir_.CreateAlignedLoad(rows[0]->getType(), ir_.CreateInBoundsGEP(rows[0]->getType(), table, place),
                                            llvm::Align(64));
  llvm::Value* met = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, sets_met(sets));
  return ir_.CreateZExt(met, ir_.getInt64Ty());
}

/// Bit i: lane set i of the <32 x i32> holds an active lane.
llvm::Value* MemoryAccess::sets_met(llvm::Value* sets) {
  llvm::Value* met = ir_.CreateICmpNE(ir_.CreateAnd(sets, splat(e_.mask_bits)), splat(ir_.getInt32(0)));
  return ir_.CreateBitCast(met, ir_.getInt32Ty());
}

/// Shared memory, words or less at a constant pattern; false: too many passes.
bool MemoryAccess::count_partial_banks(uint32_t site) {
  if (bytes_ > 4 || std::max(align_log2_, bytes_log2_) < 2) return false;
  const BankWords banks = words_by_bank(rel_);
  const size_t most = most_words(banks);
  if (banks.size() == 1 && most == kWarpSize) {
    count_wavefronts(site, lanes_active());
    return true;
  }
  const std::vector<int> distances = distances_of(banks);
  if (most > (distances.empty() ? kMostTestedPasses : kMostPasses)) return false;
  Values met;  // the banks whose j-th word an active lane asks for, as bits; any numbering of the banks will do
  for (size_t j = 0; j < most; ++j) {
    if (distances.empty()) {
      std::vector<uint32_t> sets(kWarpSize);
      for (size_t bank = 0; bank < banks.size(); ++bank) sets[bank] = j < banks[bank].size() ? banks[bank][j] : 0;
      met.push_back(sets_met(llvm::ConstantDataVector::get(ir_.getContext(), sets)));
      continue;
    }
    uint32_t firsts = 0;
    for (const auto& words : banks) firsts |= j < words.size() ? words[0] : 0;
    met.push_back(ir_.CreateAnd(ir_.CreateLShr(e_.mask_bits, static_cast<uint64_t>(distances[j])), firsts));
  }
  count_wavefronts(site, most_common(met));
  return true;
}

/// The most of the i32 `sets` that share a bit, at least one: counted for all bits at once, as binary numbers whose
/// digits are in `digits`.
llvm::Value* MemoryAccess::most_common(const Values& sets) {
  Values digits;
  for (size_t i = 0; i < sets.size(); ++i) {
    llvm::Value* carry = sets[i];
    for (llvm::Value*& digit : digits) {
      llvm::Value* sum = ir_.CreateXor(digit, carry);
      carry = ir_.CreateAnd(digit, carry);
      digit = sum;
    }
    if (digits.size() < static_cast<size_t>(std::bit_width(i + 1))) digits.push_back(carry);
  }
  llvm::Value* candidates = ir_.getInt32(~0u);
  llvm::Value* most = ir_.getInt64(0);
  for (size_t d = digits.size(); d-- > 0;) {
    llvm::Value* with = ir_.CreateAnd(candidates, digits[d]);
    llvm::Value* any = ir_.CreateICmpNE(with, ir_.getInt32(0));
    candidates = ir_.CreateSelect(any, with, candidates);
    most = ir_.CreateOr(most, ir_.CreateShl(ir_.CreateZExt(any, ir_.getInt64Ty()), d));
  }
  return most;
}

}  // namespace warplens::codegen
