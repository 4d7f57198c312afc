// SPDX-License-Identifier: Apache-2.0
// Choices and operations across lanes: select, masks, ballots, permutations.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/lane_algebra.h"
#include "codegen/lane_emitter.h"

namespace warplens::codegen {

LaneValue LaneEmitter::select(LaneValue condition, LaneValue a, LaneValue b) {
  LaneValue out;
  out.elem = a.elem;
  if (condition.cls.shape == Shape::kBottom) return out;
  if (condition.cls.constant) return *condition.cls.constant != 0 ? a : b;
  if (a.lazy_nan != b.lazy_nan) {
    a = settle_nan(a);
    b = settle_nan(b);
  }
  out.lazy_nan = a.lazy_nan;
  if (condition.cls.is_uniform()) {
    out.cls = class_of_choice(a.cls, b.cls);
    if (out.cls.constant) out.cls = class_of_choice(a.cls, a.cls);  // equal constants
    if (e_ == nullptr || settle(out)) return out;
    if (out.cls.is_vector()) {
      out.vector = ir().CreateSelect(condition.base, e_->widen(a), e_->widen(b));
      return out;
    }
    out.base = ir().CreateSelect(condition.base, a.base, b.base);
    if (a.scale != nullptr) out.scale = ir().CreateSelect(condition.base, a.scale, b.scale);
    return out;
  }
  out.cls = LaneClass::vector();
  if (a.cls.constant && a.cls == b.cls) return a;
  if (e_ != nullptr) out.vector = ir().CreateSelect(condition.vector, e_->widen(a), e_->widen(b));
  return out;
}

LaneValue LaneEmitter::active_mask() {
  if (e_ == nullptr) return uniform_value(Elem::kI32, nullptr);
  return uniform_value(Elem::kI32, e_->full_mask ? ir().getInt32(kFullMask) : e_->mask_bits);
}

LaneValue LaneEmitter::ballot(LaneValue condition) {
  LaneValue out = uniform_value(Elem::kI32, nullptr);
  if (e_ == nullptr) return out;
  llvm::Value* active = active_mask().base;
  if (condition.cls.is_uniform()) {
    out.base = ir().CreateSelect(condition.base, active, ir().getInt32(0));
    return out;
  }
  out.base = ir().CreateBitCast(condition.vector, ir().getInt32Ty());
  if (!e_->full_mask) out.base = ir().CreateAnd(out.base, active);
  return out;
}

LaneValue LaneEmitter::first_active(LaneValue value) {
  if (value.cls.is_uniform()) return value;
  LaneValue out = uniform_value(value.elem, nullptr);
  out.lazy_nan = value.lazy_nan;
  if (e_ == nullptr) return out;
  // An empty mask gives 32, which is no lane; nobody will look at the result then.
  llvm::Value* first = ir().CreateBinaryIntrinsic(llvm::Intrinsic::cttz, active_mask().base, ir().getFalse());
  out.base = ir().CreateExtractElement(e_->widen(value), ir().CreateAnd(first, 31));
  return out;
}

/// Lane l gets 32-bit value[index[l]].
static llvm::Value* permute_words(EmitContext& e, llvm::Value* value, llvm::Value* index) {
  llvm::IRBuilder<>& ir = e.ir;
  llvm::SmallVector<int, 32> low, high, all;
  for (int l = 0; l < 32; ++l) (l < 16 ? low : high).push_back(l), all.push_back(l);
  if (e.options.avx512) {
    const auto half = [&](llvm::Value* v, llvm::ArrayRef<int> lanes) { return ir.CreateShuffleVector(v, lanes); };
    llvm::Value *a = half(value, low), *b = half(value, high);
    const auto look_up = [&](llvm::ArrayRef<int> lanes) {
      return ir.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {}, {a, half(index, lanes), b});
    };
    llvm::Value* first = look_up(low);
    return ir.CreateShuffleVector(first, look_up(high), all);
  }
  llvm::Value* table = e.scratch("permute", 128);
  ir.CreateAlignedStore(value, table, llvm::Align(64));
  llvm::Value* out = llvm::PoisonValue::get(value->getType());
  for (uint64_t l = 0; l < 32; ++l) {
    llvm::Value* at = ir.CreateGEP(ir.getInt32Ty(), table, ir.CreateExtractElement(index, l));
    out = ir.CreateInsertElement(out, ir.CreateLoad(ir.getInt32Ty(), at), l);
  }
  return out;
}

LaneValue LaneEmitter::permute(LaneValue value, LaneValue index) {
  if (value.cls.is_uniform() || value.cls.shape == Shape::kBottom) return value;
  if (index.cls.shape == Shape::kBottom) return LaneValue{value.elem, {}, nullptr, nullptr, nullptr, false};
  value = settle_nan(value);
  if (index.cls.is_uniform()) {
    LaneValue out = uniform_value(value.elem, nullptr);
    if (e_ != nullptr) out.base = ir().CreateExtractElement(e_->widen(value), ir().CreateAnd(index.base, 31));
    return out;
  }
  LaneValue out = vector_value(value.elem, nullptr);
  if (e_ == nullptr) return out;
  llvm::Value* wide = e_->widen(value);
  if (index.cls.shape == Shape::kPattern && alignment_of(index.cls, 32) >= 32) {  // every lane known
    llvm::SmallVector<int, 32> lanes;
    for (const int64_t o : *index.cls.offsets) lanes.push_back(static_cast<int>(o & 31));
    out.vector = ir().CreateShuffleVector(wide, lanes);
    return out;
  }
  llvm::Value* at = ir().CreateAnd(e_->widen(index), llvm::ConstantInt::get(type(Elem::kI32, true), 31));
  const unsigned bits = bits_of(value.elem);
  llvm::Type* words = type(Elem::kI32, true);
  llvm::Type* raw_type = type(integer_of(value.elem), true);
  llvm::Value* raw = ir().CreateBitCast(wide, raw_type);
  llvm::Value* result = nullptr;
  if (bits <= 32) {
    result = ir().CreateTrunc(permute_words(*e_, ir().CreateZExt(raw, words), at), raw_type);
  } else {
    WL_CHECK(bits == 64);
    llvm::Value* low = permute_words(*e_, ir().CreateTrunc(raw, words), at);
    llvm::Value* high = permute_words(*e_, ir().CreateTrunc(ir().CreateLShr(raw, 32), words), at);
    result = ir().CreateOr(ir().CreateZExt(low, raw_type), ir().CreateShl(ir().CreateZExt(high, raw_type), 32));
  }
  out.vector = ir().CreateBitCast(result, wide->getType());
  return out;
}

}  // namespace warplens::codegen
