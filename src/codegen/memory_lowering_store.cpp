// SPDX-License-Identifier: Apache-2.0
// Stores. Lanes act in lane order: of two lanes that write the same place the higher one wins, which contiguous stores
// and LLVM's scatter (lowest lane first) both keep. Scatters are dear (measured: 48 ns against 2 ns for two vector
// stores), so unit stride is found at compile time or asked for at run time.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <bit>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/memory_access.h"
#include "exec/warp_context.h"

namespace warplens::codegen {
namespace {

/// Windows of up to this many elements are stored whole, under a mask.
constexpr uint64_t kLargestWindow = 64;

/// Shuffles `low` and `high` so that their lanes alternate; the first or the second half of the result.
llvm::Value* interleave_half(llvm::IRBuilder<>& ir, llvm::Value* low, llvm::Value* high, int half) {
  llvm::SmallVector<int, kWarpSize> lanes;
  for (int i = 0; i < kWarpSize; ++i) lanes.push_back(half * kWarpSize / 2 + i / 2 + (i % 2) * kWarpSize);
  return ir.CreateShuffleVector(low, high, lanes);
}

/// The inverse of deinterleave: vectors by element become consecutive pieces of memory.
std::vector<llvm::Value*> interleave(llvm::IRBuilder<>& ir, const std::vector<llvm::Value*>& values) {
  if (values.size() == 1) return values;
  std::vector<llvm::Value*> evens, odds, out;
  for (size_t i = 0; i < values.size(); i += 2) {
    evens.push_back(values[i]);
    odds.push_back(values[i + 1]);
  }
  evens = interleave(ir, evens);
  odds = interleave(ir, odds);
  for (size_t i = 0; i < evens.size(); ++i)
    for (int half = 0; half < 2; ++half) out.push_back(interleave_half(ir, evens[i], odds[i], half));
  return out;
}

}  // namespace

llvm::Value* MemoryAccess::as_element(llvm::Value* v) {
  llvm::Type* scalar = v->getType()->getScalarType();
  const unsigned bits = scalar->getPrimitiveSizeInBits();
  llvm::Type* integer = ir_.getIntNTy(bits);
  if (!scalar->isIntegerTy())
    v = ir_.CreateBitCast(v, v->getType()->isVectorTy() ? static_cast<llvm::Type*>(lanes_of(integer)) : integer);
  WL_CHECK(bits >= element_bytes_ * 8, "a value of {} bits is stored as {} bytes", bits, element_bytes_);
  return ir_.CreateTrunc(
      v, v->getType()->isVectorTy() ? static_cast<llvm::Type*>(lanes_of(element_type_)) : element_type_);
}

MemoryAccess::Values MemoryAccess::wide_values(std::span<const LaneValue> lanes) {
  Values values;
  for (const LaneValue& v : lanes) values.push_back(as_element(e_.widen(v)));
  return values;
}

void MemoryAccess::store_active(std::span<const LaneValue> lanes) {
  WL_CHECK(lanes.size() == op_.elements, "{} values stored as {} elements", lanes.size(), op_.elements);
  const bool by_case = asks_cases();
  if (by_case)
    store_by_case(lanes);
  else
    store_plain(lanes);
  if (by_case || costs_by_branch())
    count_requests();
  else
    count();
  if (op_.counted_bytes.value_or(0) != 0) count_joined();
}

void MemoryAccess::store_plain(std::span<const LaneValue> lanes) {
  const bool contiguous = kind_ == Kind::kUniform || unit_stride();
  if (hooks_only() || (element_bytes_ < 4 && !contiguous)) return store_by_hook(lanes, hook_flags());
  if (costs_by_branch() || (!e_.full_mask && kind_ == Kind::kPattern)) return store_fast_or_hook(lanes, hook_flags());
  check();
  store_fast(lanes);
}

void MemoryAccess::store_fast_or_hook(std::span<const LaneValue> lanes, uint32_t flags) {
  llvm::BasicBlock* fast = block("store.fast");
  llvm::BasicBlock* cold = block("store.cold");
  llvm::BasicBlock* done = block("store.done");
  if (goes_by_index()) index_from_first_lane();
  branch_likely(in_range(), fast, cold);
  ir_.SetInsertPoint(cold);
  store_by_hook(lanes, flags);
  ir_.CreateBr(done);
  ir_.SetInsertPoint(fast);
  store_fast(lanes);
  if (costs_by_branch()) count_costs();
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
}

void MemoryAccess::store_by_hook(std::span<const LaneValue> lanes, uint32_t flags) {
  llvm::Value* at = spill_addresses();
  llvm::Value* buffer = e_.scratch("lane_values", 1024);
  const Values values = wide_values(lanes);
  for (size_t i = 0; i < values.size(); ++i)
    ir_.CreateAlignedStore(values[i], offset_pointer(ir_, buffer, i * kWarpSize * element_bytes_),
                           llvm::Align(element_bytes_));
  ir_.CreateCall(e_.hook("wl_store_lanes"), {e_.warp, descriptor(flags), mask_bits(), at, buffer});
}

void MemoryAccess::store_fast(std::span<const LaneValue> lanes) {
  if (per_lane_local()) return store_local_uniform(wide_values(lanes));
  if (kind_ == Kind::kUniform) return store_uniform(lanes);
  const Values values = wide_values(lanes);
  if (unit_stride()) return store_unit_stride(values, host_pointer(first_));
  if (e_.full_mask && op_.elements == 1 && store_groups(values[0])) return;
  if (stores_window()) return store_window(values[0]);
  scatter(values);
}

/// Each lane has a place of its own within a few vectors.
bool MemoryAccess::stores_window() const {
  if (kind_ != Kind::kPattern || op_.elements != 1 || extent_ / element_bytes_ > kLargestWindow) return false;
  uint64_t taken = 0;
  for (const int64_t r : rel_) taken |= uint64_t{1} << (static_cast<uint64_t>(r) / element_bytes_);
  return std::popcount(taken) == kWarpSize;
}

/// Values and mask are moved to the lanes' places: one masked store, which a scatter would take 48 ns for.
void MemoryAccess::store_window(llvm::Value* value) {
  const auto window = static_cast<size_t>(extent_ / element_bytes_);
  llvm::SmallVector<int, kLargestWindow> lanes(window, 0), active(window, kWarpSize);  // kWarpSize: no lane's place
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const auto place = static_cast<size_t>(rel_[static_cast<size_t>(lane)] / element_bytes_);
    lanes[place] = active[place] = lane;
  }
  llvm::Value* mask =
      ir_.CreateShuffleVector(mask_vector(), llvm::Constant::getNullValue(lanes_of(ir_.getInt1Ty())), active);
  ir_.CreateMaskedStore(ir_.CreateShuffleVector(value, lanes), host_pointer(first_), llvm::Align(element_bytes_), mask);
}

/// Rows of 16 or 8 lanes side by side, in lane order.
bool MemoryAccess::store_groups(llvm::Value* value) {
  const unsigned width = kind_ == Kind::kVector ? 1 : group_width();
  if (width < 8) return false;
  for (unsigned first = 0; first < kWarpSize; first += width)
    if (!group_is_row(first, width)) return false;
  for (unsigned first = 0; first < kWarpSize; first += width) {
    llvm::SmallVector<int, kWarpSize> lanes;
    for (unsigned i = 0; i < width; ++i) lanes.push_back(static_cast<int>(first + i));
    ir_.CreateAlignedStore(ir_.CreateShuffleVector(value, lanes), lane_pointer(first), llvm::Align(element_bytes_),
                           op_.is_volatile);
  }
  return true;
}

/// All lanes write one place: the last active one stays.
void MemoryAccess::store_uniform(std::span<const LaneValue> lanes) {
  llvm::Value* pointer = host_pointer(first_);
  llvm::Value* last = ir_.getInt32(kWarpSize - 1);
  if (!e_.full_mask)
    last = ir_.CreateSub(last, ir_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, e_.mask_bits, ir_.getTrue()));
  for (size_t i = 0; i < lanes.size(); ++i) {
    llvm::Value* v = lanes[i].cls.is_uniform() ? as_element(lanes[i].base)
                                               : ir_.CreateExtractElement(as_element(e_.widen(lanes[i])), last);
    ir_.CreateAlignedStore(v, offset_pointer(ir_, pointer, i * element_bytes_), llvm::Align(element_bytes_),
                           op_.is_volatile);
  }
}

void MemoryAccess::store_unit_stride(const Values& values, llvm::Value* pointer) {
  const Values pieces = interleave(ir_, values);
  for (unsigned i = 0; i < pieces.size(); ++i) {
    llvm::Value* at = offset_pointer(ir_, pointer, uint64_t{i} * kWarpSize * element_bytes_);
    if (e_.full_mask) {
      ir_.CreateAlignedStore(pieces[i], at, llvm::Align(element_bytes_), op_.is_volatile);
      continue;
    }
    llvm::SmallVector<int, kWarpSize> lanes;
    for (unsigned k = 0; k < kWarpSize; ++k) lanes.push_back(static_cast<int>((i * kWarpSize + k) / op_.elements));
    llvm::Value* mask = op_.elements == 1 ? e_.mask_vector : ir_.CreateShuffleVector(e_.mask_vector, lanes);
    ir_.CreateMaskedStore(pieces[i], at, llvm::Align(element_bytes_), mask);
  }
}

void MemoryAccess::scatter(const Values& values) {
  if (goes_by_index()) {
    llvm::Value* base = lane_pointer(0);
    for (unsigned i = 0; i < values.size(); ++i)
      scatter_by_index(offset_pointer(ir_, base, uint64_t{i} * element_bytes_), values[i]);
    return;
  }
  llvm::Value* host = host_addresses();
  for (unsigned i = 0; i < values.size(); ++i) {
    llvm::Value* at = ir_.CreateAdd(host, splat(ir_.getInt64(uint64_t{i} * element_bytes_)));
    ir_.CreateMaskedScatter(values[i], ir_.CreateIntToPtr(at, lanes_of(ir_.getPtrTy())), llvm::Align(element_bytes_),
                            mask_vector());
  }
}

/// As gather_by_index; within a half and from half to half the highest lane's value stays.
void MemoryAccess::scatter_by_index(llvm::Value* base, llvm::Value* value) {
  for (int h = 0; h < 2; ++h) {
    llvm::SmallVector<int, kWarpSize / 2> lanes;
    for (int i = 0; i < kWarpSize / 2; ++i) lanes.push_back(h * kWarpSize / 2 + i);
    const auto half = [&](llvm::Value* v) { return ir_.CreateShuffleVector(v, lanes); };
    ir_.CreateIntrinsic(ir_.getVoidTy(), llvm::Intrinsic::x86_avx512_mask_scatter_dpi_512,
                        {base, half(mask_vector()), half(index_from_first_lane()), half(value), ir_.getInt32(1)});
  }
}

void MemoryAccess::store_local_uniform(const Values& values) {
  Values words;
  for (llvm::Value* v : values) {
    for (unsigned w = 0; w < element_bytes_ / 4; ++w) {
      llvm::Value* part = w == 0 ? v : ir_.CreateLShr(v, llvm::ConstantInt::get(v->getType(), 32 * w));
      words.push_back(ir_.CreateTrunc(part, lanes_of(ir_.getInt32Ty())));
    }
  }
  llvm::Value* pointer = local_pointer();
  for (size_t w = 0; w < words.size(); ++w) {
    llvm::Value* at = offset_pointer(ir_, pointer, w * 128);
    if (e_.full_mask)
      ir_.CreateAlignedStore(words[w], at, llvm::Align(4), op_.is_volatile);
    else
      ir_.CreateMaskedStore(words[w], at, llvm::Align(4), e_.mask_vector);
  }
}

}  // namespace warplens::codegen
