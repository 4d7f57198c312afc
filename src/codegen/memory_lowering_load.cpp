// SPDX-License-Identifier: Apache-2.0
// Loads. By class of the address: one scalar load; contiguous vector loads and constant shuffles when all lanes lie in
// a window of a few vectors; gathers with constant indices; for unknown addresses a run-time test (consecutive? all
// equal?) before the gather, since a gather costs three to six times a vector load (measured).
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "base/bits.h"
#include "codegen/memory_access.h"
#include "exec/warp_context.h"

namespace warplens::codegen {
namespace {

/// Windows of up to this many elements are loaded whole and shuffled.
constexpr uint64_t kLargestWindow = 64;

}  // namespace

MemoryAccess::Values MemoryAccess::load_active() {
  const bool by_case = asks_cases();
  Values values = by_case ? load_by_case() : load_plain();
  if (by_case || costs_by_branch())
    count_requests();
  else
    count();
  if (op_.counted_bytes.value_or(0) != 0) count_joined();
  return values;
}

/// Without counting, except for what must be counted in branches.
MemoryAccess::Values MemoryAccess::load_plain() {
  if (hooks_only()) return load_by_hook(hook_flags());
  if (costs_by_branch() || (!e_.full_mask && kind_ == Kind::kPattern)) return load_fast_or_hook(hook_flags());
  check();
  return load_fast();
}

MemoryAccess::Values MemoryAccess::load_fast_or_hook(uint32_t flags) {
  llvm::BasicBlock* fast = block("load.fast");
  llvm::BasicBlock* cold = block("load.cold");
  llvm::BasicBlock* done = block("load.done");
  if (goes_by_index()) index_from_first_lane();
  branch_likely(in_range(), fast, cold);
  ir_.SetInsertPoint(cold);
  Values slow_values = load_by_hook(flags);
  cold = ir_.GetInsertBlock();
  ir_.CreateBr(done);
  ir_.SetInsertPoint(fast);
  Values fast_values = load_fast();
  if (costs_by_branch()) count_costs();
  for (llvm::Value*& v : fast_values)
    if (!v->getType()->isVectorTy()) v = splat(v);  // generic: not uniform in general
  fast = ir_.GetInsertBlock();
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
  Values values;
  for (size_t i = 0; i < fast_values.size(); ++i) {
    llvm::PHINode* phi = ir_.CreatePHI(fast_values[i]->getType(), 2);
    phi->addIncoming(fast_values[i], fast);
    phi->addIncoming(slow_values[i], cold);
    values.push_back(phi);
  }
  return values;
}

MemoryAccess::Values MemoryAccess::load_fast() {
  if (per_lane_local()) return load_local_uniform();
  if (kind_ == Kind::kUniform) return load_uniform(host_pointer(first_));
  if (kind_ == Kind::kPattern) return load_pattern(host_pointer(first_));
  if (kind_ == Kind::kScaled) return load_scaled();
  return load_vector();
}

MemoryAccess::Values MemoryAccess::load_by_hook(uint32_t flags) {
  llvm::Value* at = spill_addresses();
  llvm::Value* buffer = e_.scratch("lane_values", 1024);
  ir_.CreateCall(e_.hook("wl_load_lanes"), {e_.warp, descriptor(flags), mask_bits(), at, buffer});
  auto* wide = lanes_of(element_type_);
  const bool uniform = loaded_class(address_.cls, op_.space).is_uniform();
  llvm::Value* lane = nullptr;
  if (uniform) lane = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, mask_bits(), ir_.getTrue());
  Values values;
  for (unsigned i = 0; i < op_.elements; ++i) {
    llvm::Value* from = offset_pointer(ir_, buffer, uint64_t{i} * kWarpSize * element_bytes_);
    if (uniform)
      values.push_back(ir_.CreateLoad(element_type_, ir_.CreateInBoundsGEP(element_type_, from, lane)));
    else
      values.push_back(ir_.CreateAlignedLoad(wide, from, llvm::Align(element_bytes_)));
  }
  return values;
}

MemoryAccess::Values MemoryAccess::load_uniform(llvm::Value* pointer) {
  Values values;
  for (unsigned i = 0; i < op_.elements; ++i)
    values.push_back(ir_.CreateAlignedLoad(element_type_, offset_pointer(ir_, pointer, uint64_t{i} * element_bytes_),
                                           llvm::Align(element_bytes_), op_.is_volatile));
  return values;
}

MemoryAccess::Values MemoryAccess::load_pattern(llvm::Value* pointer) {
  if (!e_.options.bounds && !e_.full_mask) {  // a masked-off lane's address may be anything
    if (!unit_stride() || op_.elements > 1) return load_vector();
    auto* type = lanes_of(element_type_);
    return {ir_.CreateMaskedLoad(type, pointer, llvm::Align(element_bytes_), e_.mask_vector,
                                 llvm::Constant::getNullValue(type))};
  }
  if (unit_stride()) return load_unit_stride(pointer);
  const uint64_t window = extent_ / element_bytes_;
  if (window <= kLargestWindow) return load_window(pointer, static_cast<unsigned>(window));
  Values values;
  if (load_groups(values)) return values;
  if (reads_in_chunks(op_.elements)) return load_chunks(op_.elements, 0);
  for (unsigned i = 0; i < op_.elements; ++i) values.push_back(gather_pattern(pointer, i * element_bytes_));
  return values;
}

/// All 32 addresses are inside the checked range, whatever the mask.
MemoryAccess::Values MemoryAccess::load_scaled() {
  Values values;
  if (load_groups(values)) return values;
  if (reads_in_chunks(op_.elements)) return load_chunks(op_.elements, 0);
  llvm::Value* all = llvm::Constant::getAllOnesValue(lanes_of(ir_.getInt1Ty()));
  for (unsigned i = 0; i < op_.elements; ++i) {
    const uint64_t bytes = uint64_t{i} * element_bytes_;
    if (goes_by_index())
      values.push_back(gather_by_index(offset_pointer(ir_, lane_pointer(0), bytes), index_from_first_lane(), all));
    else
      values.push_back(gather(ir_.CreateAdd(host_addresses(), splat(ir_.getInt64(bytes))), all));
  }
  return values;
}

/// Bytes from lane 0's address to each lane's, of an address that has passed its check. Where neighbouring accesses
/// differ by a constant this is one value for all, if it is emitted before they branch.
llvm::Value* MemoryAccess::index_from_first_lane() {
  if (index_ != nullptr) return index_;
  const auto constants = [&](const Pattern& p) {
    std::vector<llvm::Constant*> lanes;
    for (const int64_t v : p) lanes.push_back(ir_.getInt32(static_cast<uint32_t>(v - p[0])));
    return llvm::ConstantVector::get(lanes);
  };
  if (kind_ == Kind::kPattern) return index_ = constants(rel_);
  llvm::Value* scale = splat(ir_.CreateTrunc(address_.scale, ir_.getInt32Ty()));
  return index_ = ir_.CreateAdd(ir_.CreateMul(scale, constants(steps_)), constants(offsets_));
}

/// Lanes in groups of 16 or 8 that lie side by side, or at one place: rows of a tile. One small load a group.
bool MemoryAccess::load_groups(Values& values) {
  if (op_.elements > 1) return false;
  const unsigned width = group_width();
  if (width < 8) return false;
  llvm::Value* whole = nullptr;
  for (unsigned first = 0; first < kWarpSize; first += width) {
    llvm::Value* pointer = lane_pointer(first);
    auto* type = llvm::FixedVectorType::get(element_type_, width);
    llvm::Value* part =
        group_is_row(first, width)
            ? static_cast<llvm::Value*>(
                  ir_.CreateAlignedLoad(type, pointer, llvm::Align(element_bytes_), op_.is_volatile))
            : ir_.CreateVectorSplat(
                  width, ir_.CreateAlignedLoad(element_type_, pointer, llvm::Align(element_bytes_), op_.is_volatile));
    llvm::SmallVector<int, kWarpSize> place;  // the group's lanes in the whole, the rest from before
    llvm::SmallVector<int, kWarpSize> spread;
    for (int i = 0; i < kWarpSize; ++i) {
      const int at = i - static_cast<int>(first);
      const bool mine = at >= 0 && at < static_cast<int>(width);
      spread.push_back(mine ? at : -1);
      place.push_back(mine ? kWarpSize + i : i);
    }
    llvm::Value* wide = ir_.CreateShuffleVector(part, spread);
    whole = whole == nullptr ? wide : ir_.CreateShuffleVector(whole, wide, place);
  }
  values.push_back(whole);
  return true;
}

/// The largest group of lanes (a power of two) such that each aligned group is a row or one place; 1: none.
unsigned MemoryAccess::group_width() const {
  for (unsigned width = kWarpSize; width > 1; width /= 2) {
    bool all = true;
    for (unsigned first = 0; first < kWarpSize && all; first += width)
      all = group_is_row(first, width) || group_is_place(first, width);
    if (all) return width;
  }
  return 1;
}

bool MemoryAccess::group_is_row(unsigned first, unsigned width) const {
  for (unsigned i = 0; i < width; ++i) {
    const int64_t distance =
        kind_ == Kind::kScaled ? offsets_[first + i] - offsets_[first] : rel_[first + i] - rel_[first];
    if (distance != int64_t{i} * bytes_ || steps_[first + i] != steps_[first]) return false;
  }
  return true;
}

bool MemoryAccess::group_is_place(unsigned first, unsigned width) const {
  for (unsigned i = 0; i < width; ++i)
    if (rel_[first + i] != rel_[first] || offsets_[first + i] != offsets_[first] || steps_[first + i] != steps_[first])
      return false;
  return true;
}

/// Host pointer of one lane of a checked pattern or scaled address.
llvm::Value* MemoryAccess::lane_pointer(unsigned lane) {
  if (kind_ == Kind::kPattern) return offset_pointer(ir_, host_pointer(first_), static_cast<uint64_t>(rel_[lane]));
  llvm::Type* type = address_.base->getType();
  llvm::Value* step =
      ir_.CreateMul(address_.scale, llvm::ConstantInt::get(type, static_cast<uint64_t>(steps_[lane]), true));
  llvm::Value* offset = llvm::ConstantInt::get(type, static_cast<uint64_t>(offsets_[lane]), true);
  return host_pointer(ir_.CreateAdd(ir_.CreateAdd(address_.base, step), offset));
}

MemoryAccess::Values MemoryAccess::load_window(llvm::Value* pointer, unsigned elements) {
  auto* type = llvm::FixedVectorType::get(element_type_, elements);
  llvm::Value* window = ir_.CreateAlignedLoad(type, pointer, llvm::Align(element_bytes_), op_.is_volatile);
  Values values;
  for (unsigned i = 0; i < op_.elements; ++i) {
    llvm::SmallVector<int, kWarpSize> lanes;
    for (const int64_t r : rel_) lanes.push_back(static_cast<int>(r / element_bytes_ + i));
    values.push_back(ir_.CreateShuffleVector(window, lanes));
  }
  return values;
}

/// Lanes side by side: one vector load for each element, then the elements of all lanes are sorted out, by steps that
/// each split even from odd positions.
MemoryAccess::Values MemoryAccess::load_unit_stride(llvm::Value* pointer) {
  auto* type = lanes_of(element_type_);
  Values values;
  for (unsigned i = 0; i < op_.elements; ++i)
    values.push_back(ir_.CreateAlignedLoad(type, offset_pointer(ir_, pointer, uint64_t{i} * kWarpSize * element_bytes_),
                                           llvm::Align(element_bytes_), op_.is_volatile));
  return deinterleave(values);
}

MemoryAccess::Values MemoryAccess::deinterleave(const Values& vectors) {
  if (vectors.size() == 1) return vectors;
  llvm::SmallVector<int, kWarpSize> even, odd;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  Values evens, odds, out;
  for (size_t i = 0; i < vectors.size(); i += 2) {
    evens.push_back(ir_.CreateShuffleVector(vectors[i], vectors[i + 1], even));
    odds.push_back(ir_.CreateShuffleVector(vectors[i], vectors[i + 1], odd));
  }
  evens = deinterleave(evens);
  odds = deinterleave(odds);
  for (size_t i = 0; i < evens.size(); ++i) {
    out.push_back(evens[i]);
    out.push_back(odds[i]);
  }
  return out;
}

/// Offsets `base + index[lane]`, both halves of a warp in one AVX-512 gather each: LLVM's own lowering of a masked
/// gather keeps vectors of 64-bit pointers in registers instead.
llvm::Value* MemoryAccess::gather_by_index(llvm::Value* base, llvm::Value* index, llvm::Value* mask) {
  llvm::Value* halves[2];
  auto* half = llvm::FixedVectorType::get(ir_.getInt32Ty(), 16);
  for (unsigned h = 0; h < 2; ++h) {
    llvm::SmallVector<int, 16> lanes;
    for (unsigned i = 0; i < 16; ++i) lanes.push_back(static_cast<int>(h * 16 + i));
    halves[h] = ir_.CreateIntrinsic(half, llvm::Intrinsic::x86_avx512_mask_gather_dpi_512,
                                    {llvm::Constant::getNullValue(half), base, ir_.CreateShuffleVector(index, lanes),
                                     ir_.CreateShuffleVector(mask, lanes), ir_.getInt32(1)});
  }
  llvm::SmallVector<int, kWarpSize> all;
  for (int i = 0; i < kWarpSize; ++i) all.push_back(i);
  return ir_.CreateShuffleVector(halves[0], halves[1], all);
}

/// All 32 addresses are inside the checked range, whatever the mask.
llvm::Value* MemoryAccess::gather_pattern(llvm::Value* pointer, unsigned byte_offset) {
  llvm::Value* all = llvm::Constant::getAllOnesValue(lanes_of(ir_.getInt1Ty()));
  if (goes_by_index())
    return gather_by_index(offset_pointer(ir_, lane_pointer(0), byte_offset), index_from_first_lane(), all);
  std::vector<llvm::Constant*> index;
  for (const int64_t r : rel_) index.push_back(ir_.getInt64(static_cast<uint64_t>(r)));
  pointer = offset_pointer(ir_, pointer, byte_offset);
  llvm::Value* first = splat(ir_.CreatePtrToInt(pointer, ir_.getInt64Ty()));
  return gather(ir_.CreateAdd(first, llvm::ConstantVector::get(index)), all);
}

/// Any 32 host addresses; lanes outside the mask are not touched (their value is zero).
llvm::Value* MemoryAccess::gather(llvm::Value* host, llvm::Value* mask) {
  auto* pointers = lanes_of(ir_.getPtrTy());
  if (element_bytes_ >= 4) {
    auto* type = lanes_of(element_type_);
    return ir_.CreateMaskedGather(type, ir_.CreateIntToPtr(host, pointers), llvm::Align(element_bytes_), mask,
                                  llvm::Constant::getNullValue(type));
  }
  // Bytes and halves: gather the aligned words around them, which lie in the same page.
  auto* words = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  const auto all = [&](uint64_t v) { return splat(ir_.getInt64(v)); };
  llvm::Value* at = ir_.CreateIntToPtr(ir_.CreateAnd(host, all(~uint64_t{3})), pointers);
  llvm::Value* word = ir_.CreateMaskedGather(words, at, llvm::Align(4), mask, llvm::Constant::getNullValue(words));
  llvm::Value* shift = ir_.CreateTrunc(ir_.CreateShl(ir_.CreateAnd(host, all(3)), all(3)), words);
  return ir_.CreateTrunc(ir_.CreateLShr(word, shift), lanes_of(element_type_));
}

llvm::Value* MemoryAccess::gather_element(unsigned byte_offset) {
  llvm::Value* lanes = e_.widen(address_);
  if (op_.space == ptx::Space::kShared && element_bytes_ == 4 && e_.options.avx512) {
    llvm::Value* index = ir_.CreateTrunc(lanes, llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize));
    llvm::Value* shared = e_.load_field(offsetof(exec::WarpContext, shared), ir_.getPtrTy());
    return gather_by_index(offset_pointer(ir_, shared, byte_offset), index, mask_vector());
  }
  return gather(ir_.CreateAdd(host_addresses(), splat(ir_.getInt64(byte_offset))), mask_vector());
}

MemoryAccess::Values MemoryAccess::load_vector() {
  if (e_.full_mask && reads_in_chunks(op_.elements)) return load_chunks(op_.elements, 0);
  Values values;
  for (unsigned i = 0; i < op_.elements; ++i) values.push_back(gather_element(i * element_bytes_));
  return values;
}

/// The same offset in every lane: word w of all lanes is one line of the warp's local memory.
MemoryAccess::Values MemoryAccess::load_local_uniform() {
  auto* words = llvm::FixedVectorType::get(ir_.getInt32Ty(), kWarpSize);
  llvm::Value* pointer = local_pointer();
  Values raw;
  for (unsigned w = 0; w < bytes_ / 4; ++w)
    raw.push_back(
        ir_.CreateAlignedLoad(words, offset_pointer(ir_, pointer, uint64_t{w} * 128), llvm::Align(4), op_.is_volatile));
  if (element_bytes_ == 4) return raw;
  Values values;
  auto* wide = lanes_of(element_type_);
  for (size_t first = 0; first < raw.size(); first += element_bytes_ / 4) {
    llvm::Value* value = ir_.CreateZExt(raw[first], wide);
    for (unsigned w = 1; w < element_bytes_ / 4; ++w)
      value = ir_.CreateOr(value,
                           ir_.CreateShl(ir_.CreateZExt(raw[first + w], wide), llvm::ConstantInt::get(wide, 32 * w)));
    values.push_back(value);
  }
  return values;
}

llvm::Value* MemoryAccess::local_pointer() {
  llvm::Value* local = e_.load_field(offsetof(exec::WarpContext, local), ir_.getPtrTy());
  llvm::Value* offset = ir_.CreateZExt(first_, ir_.getInt64Ty());
  return ir_.CreateInBoundsGEP(ir_.getInt8Ty(), local, ir_.CreateShl(offset, 5));  // (offset / 4) * 128, aligned
}

}  // namespace warplens::codegen
