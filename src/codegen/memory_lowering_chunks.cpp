// SPDX-License-Identifier: Apache-2.0
// Lanes that are apart, each of which reads several words side by side: a float4, the fields of a structure, four
// neighbours in an unrolled loop over a row. One small load a lane and a few shuffles, which sort the words of all
// lanes out, replace one gather a word (measured on a Zen 5: the naive matrix product became 2.5 times as fast).
#include <llvm/IR/Constants.h>

#include <map>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/memory_access.h"
#include "exec/warp_context.h"

namespace warplens::codegen {
namespace {

using Values = std::vector<llvm::Value*>;

/// Pieces of equal size, one behind the other. Their number is a power of two.
llvm::Value* concatenate(llvm::IRBuilder<>& ir, Values pieces) {
  while (pieces.size() > 1) {
    Values pairs;
    const unsigned size = llvm::cast<llvm::FixedVectorType>(pieces[0]->getType())->getNumElements();
    llvm::SmallVector<int, 64> all;
    for (unsigned i = 0; i < 2 * size; ++i) all.push_back(static_cast<int>(i));
    for (size_t i = 0; i < pieces.size(); i += 2)
      pairs.push_back(ir.CreateShuffleVector(pieces[i], pieces[i + 1], all));
    pieces = std::move(pairs);
  }
  return pieces[0];
}

/// Of each 16 bytes of a and b: their low (or high) halves' elements of `bytes`, alternating. One instruction of x86.
llvm::Value* unpack(llvm::IRBuilder<>& ir, llvm::Value* a, llvm::Value* b, unsigned bytes, bool high) {
  auto* type = llvm::FixedVectorType::get(ir.getIntNTy(bytes * 8), 64 / bytes);
  const unsigned in_block = 16 / bytes, size = 64 / bytes;
  llvm::SmallVector<int, 16> lanes;
  for (unsigned block = 0; block < size; block += in_block)
    for (unsigned i = 0; i < in_block / 2; ++i) {
      const unsigned at = block + (high ? in_block / 2 : 0) + i;
      lanes.push_back(static_cast<int>(at));
      lanes.push_back(static_cast<int>(size + at));
    }
  return ir.CreateShuffleVector(ir.CreateBitCast(a, type), ir.CreateBitCast(b, type), lanes);
}

/// 16 lanes' four words: vector j holds lanes j, j + 4, j + 8, j + 12 one behind the other.
Values transpose_words(llvm::IRBuilder<>& ir, const Values& v) {
  llvm::Value *low01 = unpack(ir, v[0], v[1], 4, false), *high01 = unpack(ir, v[0], v[1], 4, true);
  llvm::Value *low23 = unpack(ir, v[2], v[3], 4, false), *high23 = unpack(ir, v[2], v[3], 4, true);
  auto* words = llvm::FixedVectorType::get(ir.getInt32Ty(), 16);
  Values out = {unpack(ir, low01, low23, 8, false), unpack(ir, low01, low23, 8, true),
                unpack(ir, high01, high23, 8, false), unpack(ir, high01, high23, 8, true)};
  for (llvm::Value*& o : out) o = ir.CreateBitCast(o, words);
  return out;
}

}  // namespace

/// Host pointers of all lanes, `byte_offset` behind their addresses. Equal distances are added, not multiplied out.
MemoryAccess::Values MemoryAccess::lane_pointers(uint64_t byte_offset) {
  Values pointers;
  if (kind_ == Kind::kVector) {
    llvm::Value* lanes = host_addresses();
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
      pointers.push_back(offset_pointer(
          ir_, ir_.CreateIntToPtr(ir_.CreateExtractElement(lanes, uint64_t{lane}), ir_.getPtrTy()), byte_offset));
    return pointers;
  }
  if (kind_ == Kind::kPattern) {
    llvm::Value* first = host_pointer(first_);
    for (const int64_t r : rel_) pointers.push_back(offset_pointer(ir_, first, static_cast<uint64_t>(r) + byte_offset));
    return pointers;
  }
  std::map<int64_t, llvm::Value*> products;
  const auto product = [&](int64_t step) {
    llvm::Value*& p = products[step];
    if (p == nullptr)
      p = ir_.CreateMul(address_.scale,
                        llvm::ConstantInt::get(address_.scale->getType(), static_cast<uint64_t>(step), true));
    return p;
  };
  const auto behind = [&](llvm::Value* pointer, int64_t steps, int64_t bytes) {
    if (steps != 0) pointer = ir_.CreateGEP(ir_.getInt8Ty(), pointer, ir_.CreateSExt(product(steps), ir_.getInt64Ty()));
    return offset_pointer(ir_, pointer, static_cast<uint64_t>(bytes));
  };
  llvm::Value* anchor = offset_pointer(ir_, lane_pointer(0), byte_offset);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const unsigned from = lane % 4 == 0 ? lane - 4 : lane / 4 * 4;
    if (lane != 0 && lane % 4 == 0)
      anchor = behind(anchor, steps_[lane] - steps_[from], offsets_[lane] - offsets_[from]);
    pointers.push_back(lane % 4 == 0 ? anchor
                                     : behind(anchor, steps_[lane] - steps_[from], offsets_[lane] - offsets_[from]));
  }
  return pointers;
}

bool MemoryAccess::reads_in_chunks(unsigned elements) const {
  return (element_bytes_ == 4 && (elements == 2 || elements == 4)) || (element_bytes_ == 8 && elements == 2);
}

/// `elements` neighbours of every lane, from `byte_offset` behind its address on; all lanes may be read.
MemoryAccess::Values MemoryAccess::load_chunks(unsigned elements, uint64_t byte_offset) {
  WL_CHECK(reads_in_chunks(elements));
  const Values pointers = lane_pointers(byte_offset);
  const bool pairs = element_bytes_ == 4 && elements == 2;
  llvm::Type* chunk = pairs ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(ir_.getInt64Ty(), 1))
                            : llvm::FixedVectorType::get(element_type_, elements);
  Values chunks;
  for (llvm::Value* p : pointers)
    chunks.push_back(ir_.CreateAlignedLoad(chunk, p, llvm::Align(element_bytes_), op_.is_volatile));
  if (pairs) {
    Values halves;
    for (unsigned first = 0; first < kWarpSize; first += 16)
      halves.push_back(ir_.CreateBitCast(concatenate(ir_, Values(chunks.begin() + first, chunks.begin() + first + 16)),
                                         lanes_of(ir_.getInt32Ty())));
    return deinterleave(halves);
  }
  const unsigned in_vector = 4, group = in_vector * elements;  // lanes of a 64-byte vector, of a transposed group
  std::vector<Values> parts(elements);
  for (unsigned first = 0; first < kWarpSize; first += group) {
    Values vectors;
    for (unsigned j = 0; j < elements; ++j) {
      Values four;
      for (unsigned i = 0; i < in_vector; ++i) four.push_back(chunks[first + j + i * elements]);
      vectors.push_back(concatenate(ir_, four));
    }
    const Values turned = elements == 4 ? transpose_words(ir_, vectors)
                                        : Values{unpack(ir_, vectors[0], vectors[1], 8, false),
                                                 unpack(ir_, vectors[0], vectors[1], 8, true)};
    for (unsigned e = 0; e < elements; ++e) parts[e].push_back(turned[e]);
  }
  Values values;
  for (const Values& p : parts) values.push_back(concatenate(ir_, p));
  return values;
}

/// The neighbours of all lanes lie within the site's known allocation, and no lane's address wraps around.
llvm::Value* MemoryAccess::row_in_range(int64_t low, unsigned elements) {
  llvm::Value* ranges = e_.load_field(offsetof(exec::WarpContext, ranges), ir_.getPtrTy());
  const uint64_t range = uint64_t{op_.sites[0]} * sizeof(exec::CachedRange);
  const auto field = [&](size_t offset) {
    return ir_.CreateLoad(ir_.getInt64Ty(), ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), ranges, range + offset));
  };
  const auto behind = [&](llvm::Value* at, int64_t bytes) {
    return ir_.CreateAdd(at, ir_.getInt64(static_cast<uint64_t>(bytes)));
  };
  llvm::Value* last = kind_ == Kind::kScaled ? last_ : behind(first_, static_cast<int64_t>(extent_ - bytes_));
  llvm::Value* begins = ir_.CreateICmpSGE(behind(first_, low), field(offsetof(exec::CachedRange, begin)));
  llvm::Value* ends = ir_.CreateICmpSLE(behind(last, low + static_cast<int64_t>(elements * element_bytes_)),
                                        field(offsetof(exec::CachedRange, end)));
  llvm::Value* aligned = ir_.CreateICmpEQ(ir_.CreateAnd(first_, ir_.getInt64(bytes_ - 1)), ir_.getInt64(0));
  llvm::Value* inside = ir_.CreateAnd(ir_.CreateAnd(begins, ends), aligned);
  return kind_ == Kind::kScaled ? ir_.CreateAnd(inside, small_) : inside;
}

std::vector<LaneValue> MemoryAccess::load_row(int64_t low, unsigned elements,
                                              const std::function<void(llvm::Value*)>& require) {
  const bool possible = kind_ == Kind::kScaled || kind_ == Kind::kPattern;
  if (!possible || hooks_only() || !reads_in_chunks(elements)) return {};
  llvm::BasicBlock* cold = block("row.cold");
  llvm::BasicBlock* fast = block("row");
  branch_likely(row_in_range(low, elements), fast, cold);
  ir_.SetInsertPoint(cold);
  check_in_hook();  // finds out the allocation
  require(row_in_range(low, elements));
  ir_.CreateBr(fast);
  ir_.SetInsertPoint(fast);
  std::vector<LaneValue> out;
  for (llvm::Value* v : load_chunks(elements, static_cast<uint64_t>(low))) out.push_back(lane_value(v));
  count_in_row();
  return out;
}

void MemoryAccess::count_in_row() {
  in_row_ = true;
  count();
}

}  // namespace warplens::codegen
