// SPDX-License-Identifier: Apache-2.0
// Counting fused into the code. With all lanes active a proven address costs a constant, or a row of a small table
// chosen by the base's place within 128 bytes; unknown addresses are tested for being in order (then the sectors are
// the changes between neighbours) before a hook sorts them. Partial masks are in memory_lowering_count_masked.cpp.
// Everything equals memory::count_access; requests and lanes of unguarded accesses are those of their block, and free.
#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <array>

#include "base/bits.h"
#include "codegen/memory_access.h"
#include "exec/warp_context.h"

namespace warplens::codegen {
namespace {

/// Each row of a table with the ideal of its own sectors.
constexpr uint64_t kOwnIdeal = ~uint64_t{0};

bool in_sectors(events::Space s) { return s == events::Space::kGlobal || s == events::Space::kLocal; }
bool in_wavefronts(events::Space s) {
  return s == events::Space::kShared || s == events::Space::kSharedCluster || s == events::Space::kConst;
}

}  // namespace

void MemoryAccess::add(uint32_t site, unsigned word, llvm::Value* amount) {
  e_.count(e_.layout.site_word(site, word), amount);
}

void MemoryAccess::add_constants(uint32_t site, unsigned word, std::span<const uint64_t> amounts) {
  if (std::ranges::all_of(amounts, [](uint64_t a) { return a == 0; })) return;
  add(site, word,
      llvm::ConstantDataVector::get(ir_.getContext(), llvm::ArrayRef<uint64_t>(amounts.data(), amounts.size())));
}

llvm::Value* MemoryAccess::lanes_active() {
  if (e_.full_mask) return ir_.getInt64(kWarpSize);
  return ir_.CreateZExt(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, e_.mask_bits), ir_.getInt64Ty());
}

/// Groups of `group` lanes with at least one active one.
llvm::Value* MemoryAccess::groups_active(unsigned group) {
  llvm::Value* bits = e_.mask_bits;
  for (unsigned shift = 1; shift < group; shift *= 2) bits = ir_.CreateOr(bits, ir_.CreateLShr(bits, shift));
  uint32_t firsts = 0;
  for (unsigned lane = 0; lane < kWarpSize; lane += group) firsts |= 1u << lane;
  bits = ir_.CreateAnd(bits, firsts);
  return ir_.CreateZExt(ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits), ir_.getInt64Ty());
}

llvm::Value* MemoryAccess::ideal(llvm::Value* actual, unsigned unit) {
  if (bytes_ * kWarpSize <= unit) return ir_.getInt64(1);
  llvm::Value* asked = ir_.CreateMul(lanes_active(), ir_.getInt64(bytes_));
  llvm::Value* wanted = ir_.CreateUDiv(ir_.CreateAdd(asked, ir_.getInt64(unit - 1)), ir_.getInt64(unit));
  return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, actual, wanted);
}

events::SiteCounts MemoryAccess::site_counts(const AccessCost& cost) const {
  events::SiteCounts counts;
  counts.sectors = cost.sectors;
  counts.lines = cost.lines;
  counts.ideal_sectors = ideal_cost(cost.sectors, kWarpSize, bytes_, 32);
  counts.wavefronts = cost.wavefronts;
  counts.ideal_wavefronts = ideal_wavefronts(counted_space(), cost.wavefronts, kWarpSize, bytes_);
  return counts;
}

void MemoryAccess::count() {
  count_requests();
  count_costs();
}

/// Generic accesses count them with their costs, where the space is known; those whose form matters in the hook.
void MemoryAccess::count_requests() {
  if (!is_counted() || generic() || form_matters()) return;
  for (const uint32_t site : op_.sites) count_requests(site);
}

void MemoryAccess::count_costs() {
  const events::Space space = counted_space();
  if (!is_counted()) return;
  for (const uint32_t site : op_.sites) {
    if (generic()) count_requests(site);
    if (!in_sectors(space) && !in_wavefronts(space)) continue;
    if (e_.full_mask)
      count_full(site);
    else
      count_partial(site);
  }
}

/// Accesses that the GPU's assembler joins: as one of all their bytes, from the lowest one's address.
void MemoryAccess::count_joined() {
  MemoryOp whole = op_;
  whole.elements = *op_.counted_bytes / element_bytes_;
  whole.counted_bytes.reset();
  MemoryAccess joined(e_, whole, access_, address_);
  joined.count_requests();
  if (joined.kind_ != Kind::kScaled) return joined.count_costs();
  if (!e_.options.count) return;
  for (const uint32_t site : op_.sites) joined.count_by_hook(site);
}

void MemoryAccess::count_requests(uint32_t site) {
  if (by_block()) {
    const bool known = std::ranges::any_of(
        e_.constants, [&](const ConstantCost& c) { return c.site == site && c.per == ConstantCost::Per::kRun; });
    if (!known) e_.constants.push_back({site, e_.block, {}, ConstantCost::Per::kRun});
    return;
  }
  if (e_.full_mask) {
    add_constants(site, kRequests, std::array<uint64_t, 2>{1, kWarpSize});
    return;
  }
  add(site, kRequests, ir_.getInt64(1));
  add(site, kLanes, lanes_active());
}

void MemoryAccess::count_full(uint32_t site) {
  const events::Space space = counted_space();
  if (kind_ == Kind::kVector) return count_any(site);
  if (kind_ == Kind::kScaled) return space == events::Space::kConst ? count_by_hook(site) : count_scaled(site);
  const unsigned granule = std::min(7u, std::max(align_log2_, bytes_log2_));  // checked: aligned to its width
  const std::vector<AccessCost> costs = costs_by_phase(space, access_, bytes_, rel_, granule);
  if (costs.size() == 1) return count_constant(site, costs[0]);
  count_phases(site, costs, granule);
}

void MemoryAccess::count_any(uint32_t site) {
  const events::Space space = counted_space();
  if (space == events::Space::kGlobal) return count_monotone(site);
  if (space == events::Space::kShared && bytes_ <= 4) return count_window(site);
  count_by_hook(site);
}

void MemoryAccess::count_scaled(uint32_t site) {
  if (!count_progression(site) && !count_rows(site)) count_any(site);
}

/// Lanes at base + scale * c * {0 .. n-1}, in any order, each value any number of times. Neighbours less than a sector
/// apart skip none; others never share one: the sectors are the span's, at most n. In shared memory a stride of k words
/// comes back to a bank after 32 / gcd(k, 32) words.
bool MemoryAccess::count_progression(uint32_t site) {
  for (const int64_t o : offsets_)
    if (o != offsets_[0]) return false;
  std::vector<int64_t> values(steps_.begin(), steps_.end());
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const auto n = static_cast<uint64_t>(values.size());
  const int64_t c = n > 1 ? values[1] - values[0] : 0;
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] - values[i - 1] != c) return false;
  if (n == 1) return false;
  llvm::Type* i64 = ir_.getInt64Ty();
  if (counted_space() == events::Space::kGlobal) {
    const auto units = [&](unsigned log2) {
      llvm::Value* span = ir_.CreateSub(ir_.CreateLShr(last_, log2), ir_.CreateLShr(first_, log2));
      return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, ir_.CreateAdd(span, ir_.getInt64(1)), ir_.getInt64(n));
    };
    // Most steps are so long that every place has its line: that is the constant, and what others cost less or more is
    // added to it.
    llvm::Value* step = ir_.CreateMul(
        address_.scale, llvm::ConstantInt::get(address_.scale->getType(), static_cast<uint64_t>(c), true));
    llvm::Value* line = llvm::ConstantInt::get(step->getType(), 127);
    llvm::Value* apart = ir_.CreateICmpUGT(ir_.CreateAdd(step, line), ir_.CreateAdd(line, line));
    count_usual(site, {static_cast<uint32_t>(n), static_cast<uint32_t>(n), 0}, apart,
                [&] { return std::pair{units(5), units(7)}; });
    return true;
  }
  if (bytes_ != 4 || !is_power_of_two(n)) return false;
  llvm::Value* words = ir_.CreateAShr(
      ir_.CreateSExt(
          ir_.CreateMul(address_.scale, llvm::ConstantInt::get(address_.scale->getType(), static_cast<uint64_t>(c))),
          i64),
      2);
  llvm::Value* zeros = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, words, ir_.getFalse());
  llvm::Value* log2 = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, zeros, ir_.getInt64(5));
  llvm::Value* passes = ir_.CreateLShr(ir_.CreateShl(ir_.getInt64(n), log2), 5);
  passes = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, passes, ir_.getInt64(1));
  count_wavefronts(site, ir_.CreateSelect(ir_.CreateICmpEQ(words, ir_.getInt64(0)), ir_.getInt64(1), passes));
  return true;
}

/// Costs `usually` under a condition that mostly holds; else `sectors_and_lines()`. In generated code the usual case is
/// free where it can be a constant of the block.
void MemoryAccess::count_usual(uint32_t site, const AccessCost& usually, llvm::Value* condition,
                               const std::function<std::pair<llvm::Value*, llvm::Value*>()>& sectors_and_lines) {
  const bool constant = costs_by_block() && in_row_;  // elsewhere the cold path counts by itself
  if (constant) e_.constants.push_back({site, e_.block, site_counts(usually), ConstantCost::Per::kFullRun});
  llvm::BasicBlock *other = block("count.other"), *done = block("counted");
  llvm::BasicBlock* usual = constant ? done : block("count.usual");
  branch_likely(condition, usual, other);
  if (!constant) {
    ir_.SetInsertPoint(usual);
    const events::SiteCounts c = site_counts(usually);
    add_constants(site, kSectors, std::array<uint64_t, 4>{c.sectors, c.lines, c.ideal_sectors, 0});
    ir_.CreateBr(done);
  }
  ir_.SetInsertPoint(other);
  const auto [sectors, lines] = sectors_and_lines();
  const events::SiteCounts instead = constant ? site_counts(usually) : events::SiteCounts{};
  const auto less = [&](llvm::Value* v, uint64_t by) { return ir_.CreateSub(v, ir_.getInt64(by)); };
  const auto count = [&](unsigned word, llvm::Value* amount) {
    if (constant)
      e_.count_seldom(e_.layout.site_word(site, word), amount);
    else
      add(site, word, amount);
  };
  count(kSectors, less(sectors, instead.sectors));
  count(kLines, less(lines, instead.lines));
  count(kIdealSectors, less(ideal(sectors, 32), instead.ideal_sectors));
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
}

/// Up to four rows (lanes of equal step) so far apart that they share no line: the sum of the rows' tables. The ideal
/// is a constant, since each row needs its share at least.
bool MemoryAccess::count_rows(uint32_t site) {
  if (counted_space() != events::Space::kGlobal) return false;
  std::vector<int64_t> values(steps_.begin(), steps_.end());
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() < 2 || values.size() > 4) return false;
  int64_t nearest = values[1] - values[0];
  for (size_t i = 2; i < values.size(); ++i) nearest = std::min(nearest, values[i] - values[i - 1]);
  const auto [low, high] = std::ranges::minmax(offsets_);

  const unsigned granule = bytes_log2_;  // checked
  const uint64_t best = ideal_cost(~0u, kWarpSize, bytes_, 32);
  std::vector<std::pair<int64_t, std::vector<AccessCost>>> rows;  // first byte's offset from base, costs by phase
  uint64_t least = 0;
  for (const int64_t v : values) {
    Pattern row;
    int64_t first = high;
    for (size_t l = 0; l < row.size(); ++l)
      if (steps_[l] == v) first = std::min(first, offsets_[l]);
    for (size_t l = 0; l < row.size(); ++l) row[l] = steps_[l] == v ? offsets_[l] - first : 0;
    rows.emplace_back(first, costs_by_phase(events::Space::kGlobal, access_, bytes_, row, granule));
    uint32_t smallest = ~0u;
    for (const AccessCost& c : rows.back().second) smallest = std::min(smallest, c.sectors);
    least += smallest;
  }
  if (least < best) return false;

  llvm::BasicBlock* apart = block("count.rows");
  llvm::BasicBlock* cold = block("count.cold");
  llvm::BasicBlock* done = block("counted");
  llvm::Value* scale = address_.scale;
  const auto number = [&](int64_t v) {
    return llvm::ConstantInt::get(scale->getType(), static_cast<uint64_t>(v), true);
  };
  const int64_t distance = (high - low + bytes_ + 127) / nearest + 1;  // |scale| >= this: no line in common
  llvm::Value* shifted = ir_.CreateAdd(scale, number(distance - 1));
  branch_likely(ir_.CreateICmpUGT(shifted, number(2 * distance - 2)), apart, cold);
  ir_.SetInsertPoint(apart);
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto& [first, costs] = rows[r];
    llvm::Value* at =
        ir_.CreateAdd(ir_.CreateAdd(address_.base, ir_.CreateMul(scale, number(values[r]))), number(first));
    llvm::Value* phase = ir_.CreateAnd(ir_.CreateZExtOrTrunc(ir_.CreateLShr(at, granule), ir_.getInt64Ty()),
                                       ir_.getInt64(costs.size() - 1));
    llvm::Value* table = costs_table(costs, 4, r == 0 ? best : 0);
    auto* type = llvm::FixedVectorType::get(ir_.getInt64Ty(), 4);
    add(site, kSectors, ir_.CreateAlignedLoad(type, ir_.CreateInBoundsGEP(type, table, phase), llvm::Align(32)));
  }
  ir_.CreateBr(done);
  ir_.SetInsertPoint(cold);
  count_by_hook(site);
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
  return true;
}

/// Rows of `words` counters by phase: sectors, lines and (from four words) a given ideal; or wavefronts and their
/// ideal.
llvm::Value* MemoryAccess::costs_table(const std::vector<AccessCost>& costs, unsigned words, uint64_t ideal_of_row) {
  const bool shared = in_wavefronts(counted_space());
  std::vector<llvm::Constant*> rows;
  uint64_t hash = words;
  for (const AccessCost& cost : costs) {
    const events::SiteCounts c = site_counts(cost);
    const uint64_t ideal = ideal_of_row == kOwnIdeal ? c.ideal_sectors : ideal_of_row;
    const std::array<uint64_t, 4> row = shared ? std::array<uint64_t, 4>{c.wavefronts, c.ideal_wavefronts, 0, 0}
                                               : std::array<uint64_t, 4>{c.sectors, c.lines, ideal, 0};
    for (const uint64_t v : row) hash = hash * 0x9e3779b97f4a7c15 + v;
    rows.push_back(llvm::ConstantDataVector::get(ir_.getContext(), llvm::ArrayRef<uint64_t>(row.data(), words)));
  }
  auto* type = llvm::ArrayType::get(rows[0]->getType(), rows.size());
  llvm::Constant* data = llvm::ConstantArray::get(type, rows);
  return constant_table("costs", hash, data);
}

/// One table for all accesses that ask for the same.
llvm::Value* MemoryAccess::constant_table(const char* kind, uint64_t hash, llvm::Constant* data) {
  const std::string name = fmt::format("{}.{:x}", kind, hash);
  llvm::GlobalVariable* table = e_.module.getNamedGlobal(name);
  if (table != nullptr && table->getInitializer() == data) return table;
  table = new llvm::GlobalVariable(e_.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, name);
  table->setAlignment(llvm::Align(64));
  return table;
}

void MemoryAccess::count_constant(uint32_t site, const AccessCost& cost) {
  const events::SiteCounts c = site_counts(cost);
  if (costs_by_block()) {
    e_.constants.push_back({site, e_.block, c, ConstantCost::Per::kFullRun});
    return;
  }
  add_constants(site, kSectors, std::array<uint64_t, 4>{c.sectors, c.lines, c.ideal_sectors, 0});
  add_constants(site, kWavefronts, std::array<uint64_t, 2>{c.wavefronts, c.ideal_wavefronts});
}

/// A row of the table is added as one vector: sectors and lines, and the ideal where it varies.
void MemoryAccess::count_phases(uint32_t site, const std::vector<AccessCost>& costs, unsigned granule_log2) {
  const bool shared = in_wavefronts(counted_space());
  const events::SiteCounts first = site_counts(costs[0]);
  bool same_ideal = !shared && costs_by_block();
  for (const AccessCost& c : costs) same_ideal = same_ideal && site_counts(c).ideal_sectors == first.ideal_sectors;
  if (same_ideal) {
    events::SiteCounts constant;
    constant.ideal_sectors = first.ideal_sectors;
    e_.constants.push_back({site, e_.block, constant, ConstantCost::Per::kFullRun});
  }
  const unsigned words = shared || same_ideal ? 2 : 4;
  auto* row = llvm::FixedVectorType::get(ir_.getInt64Ty(), words);
  llvm::Value* phase = ir_.CreateAnd(ir_.CreateZExtOrTrunc(ir_.CreateLShr(first_, granule_log2), ir_.getInt64Ty()),
                                     ir_.getInt64(costs.size() - 1));
  llvm::Value* at = ir_.CreateInBoundsGEP(row, costs_table(costs, words, kOwnIdeal), phase);
  add(site, shared ? kWavefronts : kSectors, ir_.CreateAlignedLoad(row, at, llvm::Align(words * 8)));
}

void MemoryAccess::count_sectors(uint32_t site, llvm::Value* sectors, llvm::Value* lines) {
  add(site, kSectors, sectors);
  add(site, kLines, lines);
  add(site, kIdealSectors, ideal(sectors, 32));
}

void MemoryAccess::count_wavefronts(uint32_t site, llvm::Value* wavefronts) {
  add(site, kWavefronts, wavefronts);
  add(site, kIdealWavefronts, ideal(wavefronts, 128));
}

/// Where the call is no exception, the code makes the addresses, faster than the hook (measured: 40 ns).
void MemoryAccess::count_by_hook(uint32_t site) {
  const bool often = !e_.full_mask || in_wavefronts(counted_space());
  const Spill spill = often ? Spill::kLanes : least_code();
  ir_.CreateCall(e_.hook("wl_count_lanes"),
                 {e_.warp, descriptor_of(site, 0, spill), mask_bits(), spill_addresses(spill)});
}

/// All lanes active, any addresses: if the sectors are in order by lane, the distinct ones are the changes.
void MemoryAccess::count_monotone(uint32_t site) {
  llvm::Value* begin = e_.load_field(offsetof(exec::WarpContext, global_begin), ir_.getInt64Ty());
  llvm::Value* offset = ir_.CreateSub(address_vector(), splat(begin));  // of 128 GiB: a sector's number has 32 bits
  llvm::Value* sector = ir_.CreateTrunc(ir_.CreateLShr(offset, splat(ir_.getInt64(5))), lanes_of(ir_.getInt32Ty()));
  llvm::SmallVector<int, kWarpSize> previous = {0};
  for (int lane = 1; lane < kWarpSize; ++lane) previous.push_back(lane - 1);
  llvm::Value* before = ir_.CreateShuffleVector(sector, previous);
  llvm::BasicBlock* ordered = block("count.ordered");
  llvm::BasicBlock* cold = block("count.cold");
  llvm::BasicBlock* done = block("counted");
  branch_likely(all_active(ir_.CreateICmpUGE(sector, before)), ordered, cold);
  ir_.SetInsertPoint(ordered);
  const auto changes = [&](llvm::Value* a, llvm::Value* b) {
    llvm::Value* bits = ir_.CreateBitCast(ir_.CreateICmpNE(a, b), ir_.getInt32Ty());
    llvm::Value* n = ir_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits);
    return ir_.CreateAdd(ir_.CreateZExt(n, ir_.getInt64Ty()), ir_.getInt64(1));
  };
  llvm::Value* two = splat(ir_.getInt32(2));
  count_sectors(site, changes(sector, before), changes(ir_.CreateLShr(sector, two), ir_.CreateLShr(before, two)));
  ir_.CreateBr(done);
  ir_.SetInsertPoint(cold);
  count_by_hook(site);
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
}

/// Shared memory, all lanes, any offsets: all words within one row of the banks cannot conflict.
void MemoryAccess::count_window(uint32_t site) {
  llvm::Value* offset = e_.widen(address_);
  llvm::Type* scalar = offset->getType()->getScalarType();
  llvm::Value* first = splat(ir_.CreateExtractElement(offset, uint64_t{0}));
  llvm::Value* distance = ir_.CreateXor(offset, first);
  llvm::BasicBlock* clean = block("count.clean");
  llvm::BasicBlock* cold = block("count.cold");
  llvm::BasicBlock* done = block("counted");
  branch_likely(all_active(ir_.CreateICmpULT(distance, splat(llvm::ConstantInt::get(scalar, 128)))), clean, cold);
  ir_.SetInsertPoint(clean);
  add_constants(site, kWavefronts, std::array<uint64_t, 2>{1, 1});
  ir_.CreateBr(done);
  ir_.SetInsertPoint(cold);
  count_by_hook(site);
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
}

}  // namespace warplens::codegen
