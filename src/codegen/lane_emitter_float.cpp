// SPDX-License-Identifier: Apache-2.0
// Floating-point operations of LaneEmitter. Only uniform and vector classes occur here. No contraction and no
// fast-math; results equal the reference functions bit for bit, which two things make laborious: rounding modes other
// than to-nearest (AVX-512 has them as an operand; elsewhere a hook computes) and NaN payloads. The hardware writes one
// canonical NaN, x86 keeps payloads: canonical_nan() therefore only marks the value, and settle_nan() writes the bits
// when they are looked at, so that a chain of fma pays nothing.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/lane_emitter.h"
#include "codegen/rounded_op.h"

namespace warplens::codegen {
namespace {

namespace I = llvm::Intrinsic;

bool is_small_float(Elem e) { return e == Elem::kF16 || e == Elem::kBF16; }

/// Immediate of AVX-512's embedded rounding: mode, and no exceptions.
uint32_t embedded(Rounding r) {
  switch (r) {
    case Rounding::kMinusInf: return 8 | 1;
    case Rounding::kPlusInf: return 8 | 2;
    case Rounding::kZero: return 8 | 3;
    case Rounding::kNearestEven: break;
  }
  return 8;
}

I::ID avx512_intrinsic(RoundedOp op, bool is_double) {
  switch (op) {
    case RoundedOp::kAdd: return is_double ? I::x86_avx512_add_pd_512 : I::x86_avx512_add_ps_512;
    case RoundedOp::kSub: return is_double ? I::x86_avx512_sub_pd_512 : I::x86_avx512_sub_ps_512;
    case RoundedOp::kMul: return is_double ? I::x86_avx512_mul_pd_512 : I::x86_avx512_mul_ps_512;
    case RoundedOp::kDiv: return is_double ? I::x86_avx512_div_pd_512 : I::x86_avx512_div_ps_512;
    case RoundedOp::kFma: return is_double ? I::x86_avx512_vfmadd_pd_512 : I::x86_avx512_vfmadd_ps_512;
    case RoundedOp::kSqrt: return is_double ? I::x86_avx512_sqrt_pd_512 : I::x86_avx512_sqrt_ps_512;
    default: return I::not_intrinsic;
  }
}

/// Applies `f` to pieces of `width` lanes and joins the results.
llvm::Value* by_pieces(llvm::IRBuilder<>& ir, std::span<llvm::Value* const> values, unsigned width,
                       const std::function<llvm::Value*(std::span<llvm::Value* const>)>& f) {
  std::vector<llvm::Value*> pieces;
  for (unsigned first = 0; first < kWarpSize; first += width) {
    llvm::SmallVector<int, 32> lanes;
    for (unsigned l = 0; l < width; ++l) lanes.push_back(static_cast<int>(first + l));
    std::vector<llvm::Value*> piece;
    for (llvm::Value* v : values) piece.push_back(ir.CreateShuffleVector(v, lanes));
    pieces.push_back(f({piece.data(), piece.size()}));
  }
  while (pieces.size() > 1) {
    const auto lanes = llvm::cast<llvm::FixedVectorType>(pieces[0]->getType())->getNumElements() * 2;
    llvm::SmallVector<int, 32> all;
    for (unsigned l = 0; l < lanes; ++l) all.push_back(static_cast<int>(l));
    std::vector<llvm::Value*> joined;
    for (size_t i = 0; i < pieces.size(); i += 2)
      joined.push_back(ir.CreateShuffleVector(pieces[i], pieces[i + 1], all));
    pieces = std::move(joined);
  }
  return pieces[0];
}

}  // namespace

// Directed rounding of f32 / f64 arithmetic and of 64-bit integers to float.
LaneValue LaneEmitter::rounded(int op_number, Elem elem, std::initializer_list<const LaneValue*> operands, Rounding r) {
  const auto op = static_cast<RoundedOp>(op_number);
  const bool is_double = elem == Elem::kF64;
  const bool conversion = op == RoundedOp::kFromSigned || op == RoundedOp::kFromUnsigned;
  return plain(elem, operands, [&](Values v) -> llvm::Value* {
    const bool scalar = !v[0]->getType()->isVectorTy();
    std::vector<llvm::Value*> wide(v.begin(), v.end());
    for (llvm::Value*& w : wide)
      if (scalar) w = ir().CreateVectorSplat(kWarpSize, w);
    llvm::Value* out = nullptr;
    if (e_->options.avx512) {
      const unsigned width = is_double || conversion ? 8 : 16;
      llvm::Value* mode = ir().getInt32(embedded(r));
      out = by_pieces(ir(), {wide.data(), wide.size()}, width, [&](std::span<llvm::Value* const> p) -> llvm::Value* {
        llvm::SmallVector<llvm::Value*, 4> args(p.begin(), p.end());
        args.push_back(mode);
        if (!conversion) return ir().CreateIntrinsic(avx512_intrinsic(op, is_double), {}, args);
        const I::ID id = op == RoundedOp::kFromSigned ? I::x86_avx512_sitofp_round : I::x86_avx512_uitofp_round;
        llvm::Type* to = llvm::FixedVectorType::get(type(elem, false), width);
        return ir().CreateIntrinsic(id, {to, p[0]->getType()}, args);
      });
    } else {
      llvm::Type* lanes = type(Elem::kI64, true);
      llvm::Value* in = e_->scratch("rounded_in", 3 * 256);
      llvm::Value* at_out = e_->scratch("rounded_out", 256);
      for (size_t i = 0; i < wide.size(); ++i) {
        llvm::Value* bits = wide[i];
        if (!conversion) bits = ir().CreateBitCast(bits, type(integer_of(elem), true));
        ir().CreateAlignedStore(ir().CreateZExt(bits, lanes), ir().CreateConstGEP1_64(ir().getInt8Ty(), in, i * 256),
                                llvm::Align(64));
      }
      ir().CreateCall(e_->hook("wl_rounded"), {ir().getInt32(rounded_op_code(op, is_double)),
                                               ir().getInt32(static_cast<uint32_t>(r)), in, at_out});
      llvm::Value* raw = ir().CreateAlignedLoad(lanes, at_out, llvm::Align(64));
      out = ir().CreateBitCast(ir().CreateTrunc(raw, type(integer_of(elem), true)), type(elem, true));
    }
    return scalar ? ir().CreateExtractElement(out, uint64_t{0}) : out;
  });
}

/// bf16 arithmetic, which no machine of ours has, happens in f32 and is rounded once more; that is exact for + - * /
/// sqrt.
LaneValue LaneEmitter::through_wider(LaneValue a, const std::function<LaneValue(LaneValue)>& f) {
  return float_truncate(f(float_extend(a, Elem::kF32)), a.elem, Rounding::kNearestEven);
}

LaneValue LaneEmitter::fadd(LaneValue a, LaneValue b, Rounding r) {
  if (is_small_float(a.elem))
    return through_wider(a, [&](LaneValue x) { return fadd(x, float_extend(b, Elem::kF32)); });
  if (r != Rounding::kNearestEven) return rounded(static_cast<int>(RoundedOp::kAdd), a.elem, {&a, &b}, r);
  return plain(a.elem, {&a, &b}, [&](Values v) { return ir().CreateFAdd(v[0], v[1]); });
}
LaneValue LaneEmitter::fsub(LaneValue a, LaneValue b, Rounding r) {
  if (is_small_float(a.elem))
    return through_wider(a, [&](LaneValue x) { return fsub(x, float_extend(b, Elem::kF32)); });
  if (r != Rounding::kNearestEven) return rounded(static_cast<int>(RoundedOp::kSub), a.elem, {&a, &b}, r);
  return plain(a.elem, {&a, &b}, [&](Values v) { return ir().CreateFSub(v[0], v[1]); });
}
LaneValue LaneEmitter::fmul(LaneValue a, LaneValue b, Rounding r) {
  if (is_small_float(a.elem))
    return through_wider(a, [&](LaneValue x) { return fmul(x, float_extend(b, Elem::kF32)); });
  if (r != Rounding::kNearestEven) return rounded(static_cast<int>(RoundedOp::kMul), a.elem, {&a, &b}, r);
  return plain(a.elem, {&a, &b}, [&](Values v) { return ir().CreateFMul(v[0], v[1]); });
}
LaneValue LaneEmitter::fdiv(LaneValue a, LaneValue b, Rounding r) {
  if (is_small_float(a.elem))
    return through_wider(a, [&](LaneValue x) { return fdiv(x, float_extend(b, Elem::kF32)); });
  if (r != Rounding::kNearestEven) return rounded(static_cast<int>(RoundedOp::kDiv), a.elem, {&a, &b}, r);
  return plain(a.elem, {&a, &b}, [&](Values v) { return ir().CreateFDiv(v[0], v[1]); });
}
LaneValue LaneEmitter::fma(LaneValue a, LaneValue b, LaneValue c, Rounding r) {
  if (is_small_float(a.elem)) {
    // The product is exact in f64; so is the sum, or what is lost lies too far below to decide the rounding of an f16.
    const Elem wide = Elem::kF64;
    const LaneValue sum = fma(float_extend(a, wide), float_extend(b, wide), float_extend(c, wide));
    return float_truncate(sum, a.elem, r);
  }
  if (r != Rounding::kNearestEven) return rounded(static_cast<int>(RoundedOp::kFma), a.elem, {&a, &b, &c}, r);
  return plain(a.elem, {&a, &b, &c},
               [&](Values v) { return ir().CreateIntrinsic(I::fma, {v[0]->getType()}, {v[0], v[1], v[2]}); });
}
LaneValue LaneEmitter::fsqrt(LaneValue a, Rounding r) {
  if (is_small_float(a.elem)) return through_wider(a, [&](LaneValue x) { return fsqrt(x); });
  if (r != Rounding::kNearestEven) return rounded(static_cast<int>(RoundedOp::kSqrt), a.elem, {&a}, r);
  return plain(a.elem, {&a}, [&](Values v) { return ir().CreateUnaryIntrinsic(I::sqrt, v[0]); });
}

// Sign operations work on the bits; their rows make NaN canonical afterwards, so that a lazy NaN may stay lazy.
LaneValue LaneEmitter::fneg(LaneValue a) {
  if (a.elem == Elem::kBF16) return bitcast(xor_(bitcast(a, Elem::kI16), constant(Elem::kI16, 0x8000)), a.elem);
  LaneValue out = plain(a.elem, {&a}, [&](Values v) { return ir().CreateFNeg(v[0]); });
  out.lazy_nan = a.lazy_nan;
  return out;
}
LaneValue LaneEmitter::fabs(LaneValue a) {
  if (a.elem == Elem::kBF16) return bitcast(and_(bitcast(a, Elem::kI16), constant(Elem::kI16, 0x7fff)), a.elem);
  LaneValue out = plain(a.elem, {&a}, [&](Values v) { return ir().CreateUnaryIntrinsic(I::fabs, v[0]); });
  out.lazy_nan = a.lazy_nan;
  return out;
}

LaneValue LaneEmitter::fcompare(FCompare c, LaneValue a, LaneValue b) {
  if (is_small_float(a.elem)) return fcompare(c, float_extend(a, Elem::kF32), float_extend(b, Elem::kF32));
  using P = llvm::CmpInst::Predicate;
  static constexpr P kPredicates[] = {P::FCMP_OEQ, P::FCMP_ONE, P::FCMP_OLT, P::FCMP_OLE, P::FCMP_OGT,
                                      P::FCMP_OGE, P::FCMP_UEQ, P::FCMP_UNE, P::FCMP_ULT, P::FCMP_ULE,
                                      P::FCMP_UGT, P::FCMP_UGE, P::FCMP_ORD, P::FCMP_UNO};
  return plain(Elem::kI1, {&a, &b},
               [&](Values v) { return ir().CreateFCmp(kPredicates[static_cast<int>(c)], v[0], v[1]); });
}

LaneValue LaneEmitter::float_choice(LaneValue a, LaneValue b, bool want_min) {
  if (is_small_float(a.elem)) {
    const LaneValue x = float_choice(float_extend(a, Elem::kF32), float_extend(b, Elem::kF32), want_min);
    return float_truncate(x, a.elem, Rounding::kNearestEven);
  }
  LaneValue out = plain(a.elem, {&a, &b}, [&](Values v) {
    llvm::Value* better = want_min ? ir().CreateFCmpOLT(v[0], v[1]) : ir().CreateFCmpOGT(v[0], v[1]);
    llvm::Value* alone = ir().CreateFCmpUNO(v[1], v[1]);
    llvm::Value* picked = ir().CreateSelect(ir().CreateOr(better, alone), v[0], v[1]);
    // Equal operands differ in bits only as +0 and -0: or of the bits prefers the minus, and of the bits the plus.
    llvm::Type* bits = type(integer_of(a.elem), v[0]->getType()->isVectorTy());
    llvm::Value *x = ir().CreateBitCast(v[0], bits), *y = ir().CreateBitCast(v[1], bits);
    llvm::Value* zero = ir().CreateBitCast(want_min ? ir().CreateOr(x, y) : ir().CreateAnd(x, y), v[0]->getType());
    return ir().CreateSelect(ir().CreateFCmpOEQ(v[0], v[1]), zero, picked);
  });
  return canonical_nan(out);
}
LaneValue LaneEmitter::fmin(LaneValue a, LaneValue b) { return float_choice(a, b, true); }
LaneValue LaneEmitter::fmax(LaneValue a, LaneValue b) { return float_choice(a, b, false); }

LaneValue LaneEmitter::ftz(LaneValue a) {
  const uint64_t infinity = nan_bits(a.elem).infinity;
  const unsigned bits = bits_of(a.elem);
  const bool lazy = a.lazy_nan;
  LaneValue out = plain(a.elem, {&a}, [&](Values v) {
    llvm::Type* t = type(integer_of(a.elem), v[0]->getType()->isVectorTy());
    llvm::Value* raw = ir().CreateBitCast(v[0], t);
    llvm::Value* exponent = ir().CreateAnd(raw, llvm::ConstantInt::get(t, infinity));
    llvm::Value* sign = ir().CreateAnd(raw, llvm::ConstantInt::get(t, uint64_t{1} << (bits - 1)));
    llvm::Value* is_zero = ir().CreateICmpEQ(exponent, llvm::Constant::getNullValue(t));
    return ir().CreateBitCast(ir().CreateSelect(is_zero, sign, raw), v[0]->getType());
  });
  out.lazy_nan = lazy;
  return out;
}

LaneValue LaneEmitter::saturate(LaneValue a) {
  if (is_small_float(a.elem)) return through_wider(a, [&](LaneValue x) { return saturate(x); });
  return plain(a.elem, {&a}, [&](Values v) {
    llvm::Type* t = v[0]->getType();
    llvm::Value *zero = llvm::ConstantFP::get(t, 0), *one = llvm::ConstantFP::get(t, 1);
    llvm::Value* above = ir().CreateSelect(ir().CreateFCmpOGT(v[0], zero), v[0], zero);  // NaN and -0 become +0
    return ir().CreateSelect(ir().CreateFCmpOLT(above, one), above, one);
  });
}

LaneValue LaneEmitter::canonical_nan(LaneValue a) {
  if (!a.cls.constant) a.lazy_nan = true;
  return a;
}

NanBits nan_bits(Elem e) {
  switch (e) {
    case Elem::kF16: return {0x7c00, 0x7fff};
    case Elem::kBF16: return {0x7f80, 0x7fff};
    case Elem::kF64: return {0x7ff0000000000000, 0xfff8000000000000};
    default: return {0x7f800000, 0x7fffffff};
  }
}

LaneValue LaneEmitter::settle_nan(LaneValue v) {
  if (!v.lazy_nan) return v;
  v.lazy_nan = false;
  if (e_ == nullptr || v.cls.constant) return v;
  llvm::Value*& held = v.cls.is_uniform() ? v.base : v.vector;
  const bool wide = v.cls.is_vector();
  llvm::Constant* bits = llvm::ConstantInt::get(type(integer_of(v.elem), wide), nan_bits(v.elem).canonical);
  llvm::Value* nan = llvm::ConstantExpr::getBitCast(bits, type(v.elem, wide));
  if (v.elem == Elem::kBF16) {
    llvm::Type* t = type(Elem::kI16, wide);
    llvm::Value* magnitude = ir().CreateAnd(ir().CreateBitCast(held, t), llvm::ConstantInt::get(t, 0x7fff));
    held = ir().CreateSelect(ir().CreateICmpUGT(magnitude, llvm::ConstantInt::get(t, 0x7f80)), nan, held);
  } else {
    held = ir().CreateSelect(ir().CreateFCmpUNO(held, held), nan, held);
  }
  return v;
}

LaneValue LaneEmitter::round_to_integral(LaneValue a, Rounding r) {
  if (is_small_float(a.elem)) return through_wider(a, [&](LaneValue x) { return round_to_integral(x, r); });
  const I::ID id = r == Rounding::kZero       ? I::trunc
                   : r == Rounding::kMinusInf ? I::floor
                   : r == Rounding::kPlusInf  ? I::ceil
                                              : I::roundeven;
  return plain(a.elem, {&a}, [&](Values v) { return ir().CreateUnaryIntrinsic(id, v[0]); });
}

LaneValue LaneEmitter::float_to_int(LaneValue a, Elem to, bool is_signed, Rounding r) {
  if (is_small_float(a.elem)) a = float_extend(a, Elem::kF32);
  const LaneValue whole = round_to_integral(a, r);
  return plain(to, {&whole}, [&](Values v) {
    llvm::Type* t = type(to, v[0]->getType()->isVectorTy());
    llvm::Value* n =
        ir().CreateIntrinsic(is_signed ? I::fptosi_sat : I::fptoui_sat, {t, v[0]->getType()}, {v[0]});  // NaN: 0
    if (bits_of(to) < 64) return n;
    llvm::Value* nan = ir().CreateFCmpUNO(v[0], v[0]);
    return ir().CreateSelect(nan, llvm::ConstantInt::get(t, uint64_t{1} << 63), n);
  });
}

LaneValue LaneEmitter::int_to_float(LaneValue a, Elem to, bool is_signed, Rounding r) {
  if (is_small_float(to)) return float_truncate(int_to_float(a, Elem::kF64, is_signed, Rounding::kNearestEven), to, r);
  const bool exact = to == Elem::kF64 && bits_of(a.elem) <= 32;
  if (r != Rounding::kNearestEven && !exact) {
    if (bits_of(a.elem) < 64)
      return float_truncate(int_to_float(a, Elem::kF64, is_signed, Rounding::kNearestEven), to, r);
    const RoundedOp op = is_signed ? RoundedOp::kFromSigned : RoundedOp::kFromUnsigned;
    return rounded(static_cast<int>(op), to, {&a}, r);
  }
  return plain(to, {&a}, [&](Values v) {
    llvm::Type* t = type(to, v[0]->getType()->isVectorTy());
    return is_signed ? ir().CreateSIToFP(v[0], t) : ir().CreateUIToFP(v[0], t);
  });
}

LaneValue LaneEmitter::float_extend(LaneValue a, Elem to) {
  if (a.elem == to) return a;
  if (a.elem == Elem::kBF16) {
    const LaneValue raw = zext(bitcast(a, Elem::kI16), Elem::kI32);
    return float_extend(bitcast(shl(raw, i32(16)), Elem::kF32), to);
  }
  return plain(to, {&a}, [&](Values v) { return ir().CreateFPExt(v[0], type(to, v[0]->getType()->isVectorTy())); });
}

/// One step from the nearest value towards the side that the mode wants, where the nearest lies on the other.
LaneValue LaneEmitter::step_rounding(LaneValue exact, LaneValue nearest, Rounding r) {
  const Elem bits_elem = integer_of(nearest.elem);
  const LaneValue back = float_extend(nearest, exact.elem), raw = bitcast(nearest, bits_elem);
  const LaneValue one = constant(bits_elem, 1), zero = constant(bits_elem, 0);
  const LaneValue negative = compare(Compare::kSlt, raw, zero);
  LaneValue wrong = fcompare(FCompare::kGt, fabs(back), fabs(exact));
  LaneValue smaller = sub(raw, one), step = smaller;
  if (r == Rounding::kMinusInf) {
    wrong = fcompare(FCompare::kGt, back, exact);
    step = select(negative, add(raw, one), smaller);
  } else if (r == Rounding::kPlusInf) {
    wrong = fcompare(FCompare::kLt, back, exact);
    step = select(negative, smaller, add(raw, one));
  }
  return bitcast(select(wrong, step, raw), nearest.elem);
}

LaneValue LaneEmitter::float_truncate(LaneValue a, Elem to, Rounding r) {
  if (a.elem == to) return a;
  if (a.elem == Elem::kF64 && is_small_float(to)) {
    // Through f32 rounded to odd: its last bit remembers that something was lost, so that rounding again is right.
    const LaneValue cut = float_truncate(a, Elem::kF32, Rounding::kZero);
    const LaneValue lost = fcompare(FCompare::kNe, float_extend(cut, Elem::kF64), a);
    const LaneValue odd = or_(bitcast(cut, Elem::kI32), zext(lost, Elem::kI32));
    return float_truncate(bitcast(odd, Elem::kF32), to, r);
  }
  LaneValue nearest;
  if (to == Elem::kBF16) {
    const LaneValue raw = bitcast(a, Elem::kI32);
    const LaneValue last = and_(lshr(raw, i32(16)), i32(1));
    LaneValue up = lshr(add(add(raw, i32(0x7fff)), last), i32(16));
    up = select(fcompare(FCompare::kNan, a, a), i32(0x7fff), up);
    nearest = bitcast(trunc(up, Elem::kI16), to);
  } else {
    nearest =
        plain(to, {&a}, [&](Values v) { return ir().CreateFPTrunc(v[0], type(to, v[0]->getType()->isVectorTy())); });
  }
  return r == Rounding::kNearestEven ? nearest : step_rounding(a, nearest, r);
}

}  // namespace warplens::codegen
