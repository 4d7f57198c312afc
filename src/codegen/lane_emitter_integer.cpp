// SPDX-License-Identifier: Apache-2.0
// Integer operations of LaneEmitter. Each asks lane_algebra for the class of the result and then computes the scalars
// that the class is made of, or falls back on 32-lane vectors.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/lane_algebra.h"
#include "codegen/lane_emitter.h"

namespace warplens::codegen {

LaneValue LaneEmitter::plain(Elem elem, std::initializer_list<const LaneValue*> operands,
                             const std::function<llvm::Value*(Values)>& f) {
  bool uniform = true, bottom = false;
  for (const LaneValue* v : operands) {
    bottom |= v->cls.shape == Shape::kBottom;
    uniform &= v->cls.is_uniform();
  }
  LaneValue out;
  out.elem = elem;
  if (bottom) return out;
  out.cls = uniform ? LaneClass::uniform() : LaneClass::vector();
  if (e_ == nullptr) return out;
  llvm::SmallVector<llvm::Value*, 4> values;
  for (const LaneValue* v : operands) values.push_back(uniform ? v->base : e_->widen(*v));
  (uniform ? out.base : out.vector) = f({values.data(), values.size()});
  return out;
}

LaneValue LaneEmitter::add(LaneValue a, LaneValue b) {
  LaneValue out;
  out.elem = a.elem;
  out.cls = class_of_add(a.cls, b.cls, bits_of(a.elem));
  if (e_ == nullptr || settle(out)) return out;
  if (out.cls.is_vector()) {
    out.vector = ir().CreateAdd(e_->widen(a), e_->widen(b));
    return out;
  }
  out.base = ir().CreateAdd(a.base, b.base);
  if (a.scale != nullptr && b.scale != nullptr)
    out.scale = ir().CreateAdd(a.scale, b.scale);
  else
    out.scale = a.scale != nullptr ? a.scale : b.scale;
  return out;
}

LaneValue LaneEmitter::sub(LaneValue a, LaneValue b) {
  LaneValue out;
  out.elem = a.elem;
  out.cls = class_of_sub(a.cls, b.cls, bits_of(a.elem));
  if (e_ == nullptr || settle(out)) return out;
  if (out.cls.is_vector()) {
    out.vector = ir().CreateSub(e_->widen(a), e_->widen(b));
    return out;
  }
  out.base = ir().CreateSub(a.base, b.base);
  if (b.scale != nullptr)
    out.scale = a.scale != nullptr ? ir().CreateSub(a.scale, b.scale) : ir().CreateNeg(b.scale);
  else
    out.scale = a.scale;
  return out;
}

LaneValue LaneEmitter::mul(LaneValue a, LaneValue b) {
  LaneValue out;
  out.elem = a.elem;
  out.cls = class_of_mul(a.cls, b.cls, bits_of(a.elem));
  if (e_ == nullptr || settle(out)) return out;
  if (out.cls.is_vector()) {
    out.vector = ir().CreateMul(e_->widen(a), e_->widen(b));
    return out;
  }
  out.base = ir().CreateMul(a.base, b.base);
  if (out.cls.shape == Shape::kScaled) {
    const LaneValue &v = a.cls.is_uniform() ? b : a, &u = a.cls.is_uniform() ? a : b;
    out.scale = v.scale != nullptr ? ir().CreateMul(v.scale, u.base) : u.base;
  }
  return out;
}

LaneValue LaneEmitter::bitwise(int op, LaneValue a, LaneValue b) {
  LaneValue out;
  out.elem = a.elem;
  unsigned split = 0;
  const auto kind = static_cast<Bitwise>(op);
  out.cls = class_of_bitwise(kind, a.cls, b.cls, bits_of(a.elem), &split);
  if (e_ == nullptr || settle(out)) return out;
  const auto apply = [&](llvm::Value* x, llvm::Value* y) {
    return kind == Bitwise::kAnd  ? ir().CreateAnd(x, y)
           : kind == Bitwise::kOr ? ir().CreateOr(x, y)
                                  : ir().CreateXor(x, y);
  };
  if (out.cls.is_vector()) {
    out.vector = apply(e_->widen(a), e_->widen(b));
    return out;
  }
  // Of a constant that meets a pattern only the bits above the split act on the base.
  const auto base = [&](const LaneValue& v) -> llvm::Value* {
    if (!v.cls.constant || (a.cls.is_uniform() && b.cls.is_uniform())) return v.base;
    return llvm::ConstantInt::get(v.base->getType(), *v.cls.constant & ~low_bits(split));
  };
  out.base = apply(base(a), base(b));
  return out;
}

LaneValue LaneEmitter::and_(LaneValue a, LaneValue b) { return bitwise(static_cast<int>(Bitwise::kAnd), a, b); }
LaneValue LaneEmitter::or_(LaneValue a, LaneValue b) { return bitwise(static_cast<int>(Bitwise::kOr), a, b); }
LaneValue LaneEmitter::xor_(LaneValue a, LaneValue b) { return bitwise(static_cast<int>(Bitwise::kXor), a, b); }

/// Amounts as wide as the shifted value (scalar or vector alike).
static llvm::Value* fit(llvm::IRBuilder<>& ir, llvm::Value* amount, llvm::Type* type) {
  return ir.CreateZExtOrTrunc(amount, type);
}

LaneValue LaneEmitter::shl(LaneValue a, LaneValue amount) {
  const unsigned bits = bits_of(a.elem);
  LaneValue out;
  out.elem = a.elem;
  out.cls = class_of_shift_left(a.cls, amount.cls, bits);
  if (e_ == nullptr || settle(out)) return out;
  if (amount.cls.constant && !out.cls.is_vector()) {
    const uint64_t k = *amount.cls.constant & 0xffffffffu;
    if (k >= bits) {
      out.base = llvm::Constant::getNullValue(a.base->getType());
      return out;
    }
    out.base = ir().CreateShl(a.base, k);
    if (a.scale != nullptr) out.scale = ir().CreateShl(a.scale, k);
    return out;
  }
  const LaneValue r = plain(a.elem, {&a, &amount}, [&](Values v) {
    llvm::Type* t = v[0]->getType();
    // A shift by the width or more is poison: compare the whole amount first, then shift by its low bits.
    llvm::Value* inside = ir().CreateICmpULT(v[1], llvm::ConstantInt::get(v[1]->getType(), bits));
    llvm::Value* k = ir().CreateAnd(fit(ir(), v[1], t), llvm::ConstantInt::get(t, bits - 1));
    return ir().CreateSelect(inside, ir().CreateShl(v[0], k), llvm::Constant::getNullValue(t));
  });
  out.base = r.base;
  out.vector = r.vector;
  return out;
}

LaneValue LaneEmitter::shift_right(LaneValue a, LaneValue amount, bool arithmetic) {
  const unsigned bits = bits_of(a.elem);
  LaneValue out;
  out.elem = a.elem;
  out.cls = class_of_shift_right(a.cls, amount.cls, bits, arithmetic);
  if (e_ == nullptr || settle(out)) return out;
  const auto shift = [&](llvm::Value* x, llvm::Value* k) {
    return arithmetic ? ir().CreateAShr(x, k) : ir().CreateLShr(x, k);
  };
  if (amount.cls.constant) {
    const uint64_t k = *amount.cls.constant & 0xffffffffu;
    llvm::Value* x = out.cls.is_vector() ? e_->widen(a) : a.base;
    llvm::Value* r = nullptr;
    if (k >= bits && !arithmetic)
      r = llvm::Constant::getNullValue(x->getType());
    else
      r = shift(x, llvm::ConstantInt::get(x->getType(), std::min<uint64_t>(k, bits - 1)));
    (out.cls.is_vector() ? out.vector : out.base) = r;
    return out;
  }
  const LaneValue r = plain(a.elem, {&a, &amount}, [&](Values v) -> llvm::Value* {
    llvm::Type* t = v[0]->getType();
    llvm::Value* inside = ir().CreateICmpULT(v[1], llvm::ConstantInt::get(v[1]->getType(), bits));
    llvm::Value* k = fit(ir(), v[1], t);
    llvm::Constant* last = llvm::ConstantInt::get(t, bits - 1);
    if (arithmetic) return shift(v[0], ir().CreateSelect(inside, k, last));
    return ir().CreateSelect(inside, shift(v[0], ir().CreateAnd(k, last)), llvm::Constant::getNullValue(t));
  });
  out.base = r.base;
  out.vector = r.vector;
  return out;
}

LaneValue LaneEmitter::lshr(LaneValue a, LaneValue amount) { return shift_right(a, amount, false); }
LaneValue LaneEmitter::ashr(LaneValue a, LaneValue amount) { return shift_right(a, amount, true); }

LaneValue LaneEmitter::trunc(LaneValue a, Elem to) {
  if (a.elem == to) return a;
  LaneValue out;
  out.elem = to;
  out.cls = class_of_trunc(a.cls, bits_of(to));
  if (e_ == nullptr || settle(out)) return out;
  if (out.cls.is_vector()) {
    out.vector = ir().CreateTrunc(e_->widen(a), type(to, true));
    return out;
  }
  out.base = ir().CreateTrunc(a.base, type(to, false));
  if (out.cls.steps != nullptr) out.scale = ir().CreateTrunc(a.scale, type(to, false));
  return out;
}

// Whether no lane of base + scale * steps + offsets wraps at the old width, so that the extended lanes are the extended
// base plus the same terms. Computed in 64 bits from the extremes of steps and offsets, which may say no too often but
// never yes wrongly.
llvm::Value* LaneEmitter::extension_guard(const LaneValue& a, const LaneClass& cls, bool is_signed) {
  const unsigned bits = bits_of(a.elem);
  const int64_t lo = lowest(offsets_of(cls)), hi = highest(offsets_of(cls));
  llvm::Type* wide = ir().getInt64Ty();
  llvm::Value* base = is_signed ? ir().CreateSExt(a.base, wide) : ir().CreateZExt(a.base, wide);
  llvm::Value *least = ir().CreateAdd(base, ir().getInt64(static_cast<uint64_t>(lo))),
              *most = ir().CreateAdd(base, ir().getInt64(static_cast<uint64_t>(hi)));
  if (a.scale != nullptr) {
    llvm::Value* scale = ir().CreateSExt(a.scale, wide);
    llvm::Value* x = ir().CreateMul(scale, ir().getInt64(static_cast<uint64_t>(lowest(*cls.steps))));
    llvm::Value* y = ir().CreateMul(scale, ir().getInt64(static_cast<uint64_t>(highest(*cls.steps))));
    llvm::Value* ordered = ir().CreateICmpSLT(x, y);
    least = ir().CreateAdd(least, ir().CreateSelect(ordered, x, y));
    most = ir().CreateAdd(most, ir().CreateSelect(ordered, y, x));
  }
  WL_CHECK(bits == 32);
  const int64_t first = is_signed ? -(int64_t{1} << 31) : 0,
                last = is_signed ? (int64_t{1} << 31) - 1 : (int64_t{1} << 32) - 1;
  return ir().CreateAnd(ir().CreateICmpSGE(least, ir().getInt64(static_cast<uint64_t>(first))),
                        ir().CreateICmpSLE(most, ir().getInt64(static_cast<uint64_t>(last))));
}

LaneValue LaneEmitter::extend(LaneValue a, Elem to, bool is_signed) {
  if (a.elem == to) return a;
  LaneValue out;
  out.elem = to;
  bool guard = false;
  out.cls = class_of_extend(a.cls, bits_of(a.elem), bits_of(to), is_signed, &guard);
  if (guard && !source_.extend_patterns) out.cls = LaneClass::vector();
  if (e_ == nullptr || settle(out)) return out;
  if (out.cls.is_vector()) {
    llvm::Value* wide = e_->widen(a);
    out.vector = is_signed ? ir().CreateSExt(wide, type(to, true)) : ir().CreateZExt(wide, type(to, true));
    return out;
  }
  if (guard) registers_.require(extension_guard(a, out.cls, is_signed));
  out.base = is_signed ? ir().CreateSExt(a.base, type(to, false)) : ir().CreateZExt(a.base, type(to, false));
  if (out.cls.steps != nullptr) out.scale = ir().CreateSExt(a.scale, type(to, false));
  return out;
}

LaneValue LaneEmitter::zext(LaneValue a, Elem to) { return extend(a, to, false); }
LaneValue LaneEmitter::sext(LaneValue a, Elem to) { return extend(a, to, true); }

LaneValue LaneEmitter::bitcast(LaneValue a, Elem to) {
  if (a.elem == to) return a;
  a = settle_nan(a);
  if (a.cls.constant) return constant(to, *a.cls.constant);
  LaneValue out =
      plain(to, {&a}, [&](Values v) { return ir().CreateBitCast(v[0], type(to, v[0]->getType()->isVectorTy())); });
  if (out.cls.is_uniform()) out.cls.align_log2 = a.cls.align_log2;
  return out;
}

LaneValue LaneEmitter::divide(LaneValue a, LaneValue b, bool is_signed, bool remainder) {
  const unsigned bits = bits_of(a.elem);
  // Unsigned division of a pattern by a power of two is a shift or a mask, which keep patterns.
  if (!is_signed && b.cls.constant && is_power_of_two(*b.cls.constant)) {
    if (remainder) return and_(a, constant(a.elem, *b.cls.constant - 1));
    return lshr(a, i32(static_cast<uint32_t>(std::countr_zero(*b.cls.constant))));
  }
  return plain(a.elem, {&a, &b}, [&](Values v) -> llvm::Value* {
    llvm::Type* t = v[0]->getType();
    llvm::Value* zero = llvm::Constant::getNullValue(t);
    llvm::Value* one = llvm::ConstantInt::get(t, 1);
    llvm::Value* by_zero = ir().CreateICmpEQ(v[1], zero);
    llvm::Value* unsafe = by_zero;
    llvm::Value* by_minus_one = nullptr;
    if (is_signed) {
      by_minus_one = ir().CreateICmpEQ(v[1], llvm::Constant::getAllOnesValue(t));
      unsafe = ir().CreateOr(unsafe, by_minus_one);
    }
    llvm::Value* divisor = ir().CreateSelect(unsafe, one, v[1]);
    llvm::Value* quotient = nullptr;
    if (t->isVectorTy() && bits == 32) {
      // Exact: a quotient of 32-bit integers is a double nearer to itself than to the next integer.
      llvm::Type* wide = type(Elem::kF64, true);
      const auto to_double = [&](llvm::Value* x) {
        return is_signed ? ir().CreateSIToFP(x, wide) : ir().CreateUIToFP(x, wide);
      };
      llvm::Value* q = ir().CreateFDiv(to_double(v[0]), to_double(divisor));
      quotient = is_signed ? ir().CreateFPToSI(q, t) : ir().CreateFPToUI(q, t);
    } else {
      quotient = is_signed ? ir().CreateSDiv(v[0], divisor) : ir().CreateUDiv(v[0], divisor);
    }
    if (remainder) {
      llvm::Value* r = ir().CreateSub(v[0], ir().CreateMul(quotient, divisor));  // 0 when the divisor was made 1
      return ir().CreateSelect(by_zero, llvm::Constant::getAllOnesValue(t), r);
    }
    if (is_signed) quotient = ir().CreateSelect(by_minus_one, ir().CreateNeg(v[0]), quotient);
    return ir().CreateSelect(by_zero, llvm::Constant::getAllOnesValue(t), quotient);
  });
}

LaneValue LaneEmitter::div(LaneValue a, LaneValue b, bool is_signed) { return divide(a, b, is_signed, false); }
LaneValue LaneEmitter::rem(LaneValue a, LaneValue b, bool is_signed) { return divide(a, b, is_signed, true); }

LaneValue LaneEmitter::funnel_left(LaneValue hi, LaneValue lo, LaneValue amount) {
  return plain(hi.elem, {&hi, &lo, &amount}, [&](Values v) {
    return ir().CreateIntrinsic(llvm::Intrinsic::fshl, {v[0]->getType()},
                                {v[0], v[1], fit(ir(), v[2], v[0]->getType())});
  });
}

LaneValue LaneEmitter::min(LaneValue a, LaneValue b, bool is_signed) {
  return plain(a.elem, {&a, &b}, [&](Values v) {
    return ir().CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, v[0], v[1]);
  });
}
LaneValue LaneEmitter::max(LaneValue a, LaneValue b, bool is_signed) {
  return plain(a.elem, {&a, &b}, [&](Values v) {
    return ir().CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, v[0], v[1]);
  });
}
LaneValue LaneEmitter::add_sat(LaneValue a, LaneValue b) {
  return plain(a.elem, {&a, &b},
               [&](Values v) { return ir().CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, v[0], v[1]); });
}
LaneValue LaneEmitter::sub_sat(LaneValue a, LaneValue b) {
  return plain(a.elem, {&a, &b},
               [&](Values v) { return ir().CreateBinaryIntrinsic(llvm::Intrinsic::ssub_sat, v[0], v[1]); });
}

LaneValue LaneEmitter::compare(Compare c, LaneValue a, LaneValue b) {
  using P = llvm::CmpInst::Predicate;
  static constexpr P kPredicates[] = {P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT, P::ICMP_SLE, P::ICMP_SGT,
                                      P::ICMP_SGE, P::ICMP_ULT, P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  return plain(Elem::kI1, {&a, &b}, [&](Values v) -> llvm::Value* {
    const P predicate = kPredicates[static_cast<int>(c)];
    // (x & bit) == bit, as nvcc asks for a bit: against zero it is one instruction for a vector.
    using namespace llvm::PatternMatch;
    const llvm::APInt *bit = nullptr, *same = nullptr;
    if ((predicate == P::ICMP_EQ || predicate == P::ICMP_NE) && match(v[1], m_Power2(bit)) &&
        match(v[0], m_c_And(m_Value(), m_APInt(same))) && *same == *bit)
      return ir().CreateICmp(llvm::CmpInst::getInversePredicate(predicate), v[0],
                             llvm::Constant::getNullValue(v[0]->getType()));
    return ir().CreateICmp(predicate, v[0], v[1]);
  });
}

LaneValue LaneEmitter::popcount(LaneValue a) {
  return plain(a.elem, {&a}, [&](Values v) { return ir().CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, v[0]); });
}
LaneValue LaneEmitter::count_leading_zeros(LaneValue a) {
  return plain(a.elem, {&a},
               [&](Values v) { return ir().CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, v[0], ir().getFalse()); });
}
LaneValue LaneEmitter::count_trailing_zeros(LaneValue a) {
  return plain(a.elem, {&a},
               [&](Values v) { return ir().CreateBinaryIntrinsic(llvm::Intrinsic::cttz, v[0], ir().getFalse()); });
}
LaneValue LaneEmitter::bit_reverse(LaneValue a) {
  return plain(a.elem, {&a}, [&](Values v) { return ir().CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, v[0]); });
}

}  // namespace warplens::codegen
