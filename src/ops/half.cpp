// SPDX-License-Identifier: Apache-2.0
// Chapter: half precision ("Half Precision Floating Point Instructions"): f16 and bf16, alone and packed in pairs. The
// references compute exactly and round once (float_format.h). The lowerings use wider host floats where that is
// provably the same: a sum or product of two 11-bit (8-bit) significands rounded to f32 (f64 for bf16 products, whose
// exponents leave f32's range) and then to half is the single rounding, since 24 >= 2 * 11 + 2. That does not hold for
// fma, which therefore rounds its f64 sum to odd first (Boldo and Melquiond, "Emulation of FMA and correctly rounded
// sums", 2008).
#include <cmath>

#include "ops/chapters.h"
#include "ops/float_format.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

bool is_packed(Type t) { return t == Type::kF16x2 || t == Type::kBF16x2; }

// --- references
uint64_t saturated(const FloatFormat& f, uint64_t v) {
  if (is_nan(f, v) || (v & f.sign_bit()) != 0) return 0;
  const uint64_t one = static_cast<uint64_t>(f.bias()) << f.mantissa_bits;
  return v > one ? one : v;
}
uint64_t finished(const Instr& in, const FloatFormat& f, uint64_t v) {
  if (in.has("ftz")) v = flush_subnormal(f, v);
  if (in.has("sat")) v = saturated(f, v);
  if (is_nan(f, v)) return f.canonical_nan;
  if (in.has("relu") && (v & f.sign_bit()) != 0) return 0;
  return v;
}
/// Applies uint16_t f(uint16_t, uint16_t, uint16_t) to the value or to both halves.
template <typename F>
void each(const LaneArgs& a, F&& f) {
  const auto in = [&](size_t i) { return i < a.in.size() ? a.in[i] : 0; };
  if (is_packed(type_at(a.instr, 1))) return put(a, each_half(f, in(0), in(1), in(2)));
  const auto half = [&](size_t i) { return static_cast<uint16_t>(in(i)); };
  put(a, f(half(0), half(1), half(2)));
}
template <typename F>
void arithmetic(const LaneArgs& a, F&& exact) {
  const FloatFormat& f = format_of(type_at(a.instr, 1));
  const auto number = [&](uint16_t v) { return unpack(f, a.instr.has("ftz") ? flush_subnormal(f, v) : v); };
  each(a, [&](uint16_t x, uint16_t y, uint16_t z) {
    const Number n = exact(number(x), number(y), number(z));
    const auto packed =
        a.instr.has("ftz") ? pack_flushing(f, n, Rounding::kNearestEven) : pack(f, n, Rounding::kNearestEven);
    return static_cast<uint16_t>(finished(a.instr, f, packed));
  });
}
void ref_add(const LaneArgs& a) {
  arithmetic(a, [](Number x, Number y, Number) { return add(x, y, Rounding::kNearestEven); });
}
void ref_sub(const LaneArgs& a) {
  arithmetic(a, [](Number x, Number y, Number) {
    y.negative = !y.negative;
    return add(x, y, Rounding::kNearestEven);
  });
}
void ref_mul(const LaneArgs& a) {
  arithmetic(a, [](Number x, Number y, Number) { return mul(x, y); });
}
void ref_fma(const LaneArgs& a) {
  arithmetic(a, [](Number x, Number y, Number z) { return add(mul(x, y), z, Rounding::kNearestEven); });
}
/// Sign changes touch no other bit of a number; with .ftz subnormals go to zero first.
template <bool kAbs>
void ref_sign(const LaneArgs& a) {
  const FloatFormat& f = format_of(type_at(a.instr, 1));
  each(a, [&](uint16_t x, uint16_t, uint16_t) {
    const uint64_t v = a.instr.has("ftz") ? flush_subnormal(f, x) : x;
    if (is_nan(f, v)) return static_cast<uint16_t>(f.canonical_nan);
    return static_cast<uint16_t>(kAbs ? v & ~f.sign_bit() : v ^ f.sign_bit());
  });
}
template <bool kMax>
uint16_t pick(const Instr& in, const FloatFormat& f, uint64_t x, uint64_t y) {
  if (in.has("ftz")) x = flush_subnormal(f, x), y = flush_subnormal(f, y);
  const uint64_t sign = (x ^ y) & f.sign_bit();
  if (in.has("xorsign")) x &= ~f.sign_bit(), y &= ~f.sign_bit();
  const bool x_nan = is_nan(f, x), y_nan = is_nan(f, y);
  if ((x_nan && y_nan) || ((x_nan || y_nan) && in.has("NaN"))) return static_cast<uint16_t>(f.canonical_nan);
  const auto rank = [&](uint64_t v) {
    const auto magnitude = static_cast<int64_t>(v & (f.sign_bit() - 1));
    return (v & f.sign_bit()) != 0 ? -magnitude - 1 : magnitude;  // -0 below +0
  };
  uint64_t d = x_nan ? y : y_nan ? x : (rank(x) < rank(y)) != kMax ? x : y;
  if (in.has("xorsign")) d |= sign;
  return static_cast<uint16_t>(d);
}
template <bool kMax>
void ref_minmax(const LaneArgs& a) {
  const FloatFormat& f = format_of(type_at(a.instr, 1));
  each(a, [&](uint16_t x, uint16_t y, uint16_t) { return pick<kMax>(a.instr, f, x, y); });
}
/// Approximations: the double result rounded once.
template <double (*kFunction)(double)>
void ref_approx(const LaneArgs& a) {
  const FloatFormat& f = format_of(type_at(a.instr, 1));
  each(a, [&](uint16_t x, uint16_t, uint16_t) {
    const uint64_t v = a.instr.has("ftz") ? flush_subnormal(f, x) : x;
    const double y = kFunction(as_f64(pack(kF64, unpack(f, v), Rounding::kNearestEven)));
    return static_cast<uint16_t>(finished(a.instr, f, pack(f, unpack(kF64, bits_of_f64(y)), Rounding::kNearestEven)));
  });
}
double exp2_of(double x) { return std::exp2(x); }
double tanh_of(double x) { return std::tanh(x); }

// --- lowerings
Elem half_of(const Instr& in) {
  const Type t = type_at(in, 1);
  return t == Type::kBF16 || t == Type::kBF16x2 ? Elem::kBF16 : Elem::kF16;
}
/// Runs `f` on each half of the operands; f(half(i)) gets source i of that half, as half_of(in).
template <typename F>
void lower_each(LaneBuilder& b, const Instr& in, F&& f) {
  const Elem elem = half_of(in);
  if (!is_packed(type_at(in, 1))) return b.set(0, f([&](int i) { return b.src_as(i, elem); }));
  const LaneValue low = f([&](int i) { return low_half(b, b.src(i), elem); });
  const LaneValue high = f([&](int i) { return high_half(b, b.src(i), elem); });
  b.set(0, join_halves(b, low, high));
}
LaneValue finished(LaneBuilder& b, const Instr& in, LaneValue v) {
  if (in.has("ftz")) v = b.ftz(v);
  if (in.has("sat")) return b.saturate(v);
  v = b.canonical_nan(v);
  if (!in.has("relu")) return v;
  // Negative (not NaN, whose canonical form is positive) becomes +0: a signed comparison of the bits.
  const LaneValue bits = b.bitcast(v, Elem::kI16);
  return b.bitcast(b.max(bits, b.constant(Elem::kI16, 0), true), v.elem);
}
LaneValue widened(LaneBuilder& b, const Instr& in, LaneValue v, Elem to) {
  return b.float_extend(in.has("ftz") ? b.ftz(v) : v, to);
}
/// Rounds an exact (or rounded to odd) result. With .ftz (f16 only) what is tiny before it meets the subnormal grid is
/// flushed even if that grid would round it up to the least normal number, 2^-14: below 2^-14 - 2^-26, half a last
/// place.
LaneValue narrowed(LaneBuilder& b, const Instr& in, LaneValue v) {
  const LaneValue half = b.float_truncate(v, half_of(in), Rounding::kNearestEven);
  if (!in.has("ftz")) return finished(b, in, half);
  constexpr double kTiny = 0x1p-14 - 0x1p-26;
  const LaneValue limit = v.elem == Elem::kF64 ? b.f64(kTiny) : b.f32(static_cast<float>(kTiny));
  const LaneValue sign = b.and_(b.bitcast(half, Elem::kI16), b.constant(Elem::kI16, 0x8000));
  const LaneValue tiny = b.fcompare(FCompare::kLt, b.fabs(v), limit);
  return finished(b, in, b.select(tiny, b.bitcast(sign, half.elem), half));
}
template <LaneValue (LaneBuilder::*kOp)(LaneValue, LaneValue, Rounding)>
void lower_rounded(LaneBuilder& b, const Instr& in) {
  const bool product = kOp == &LaneBuilder::fmul;
  const Elem wide = product && half_of(in) == Elem::kBF16 ? Elem::kF64 : Elem::kF32;
  lower_each(b, in, [&](auto half) {
    const LaneValue x = widened(b, in, half(1), wide), y = widened(b, in, half(2), wide);
    return narrowed(b, in, (b.*kOp)(x, y, Rounding::kNearestEven));
  });
}
/// x * y + z rounded to odd in f64: the product is exact there; two-sum gives the error of the addition, and when there
/// is one the last bit is made odd, stepping towards zero first if the rounding went away from it.
LaneValue fma_to_odd(LaneBuilder& b, LaneValue x, LaneValue y, LaneValue z) {
  const LaneValue p = b.fmul(x, y), s = b.fadd(p, z);
  const LaneValue t = b.fsub(s, p), error = b.fadd(b.fsub(p, b.fsub(s, t)), b.fsub(z, t));
  const LaneValue bits = b.bitcast(s, Elem::kI64), one = b.constant(Elem::kI64, 1);
  // error and sum of opposite sign: the magnitude was rounded up.
  const LaneValue away =
      b.compare(Compare::kSlt, b.xor_(bits, b.bitcast(error, Elem::kI64)), b.constant(Elem::kI64, 0));
  const LaneValue odd = b.or_(b.sub(bits, b.zext(away, Elem::kI64)), one);
  // An infinite or NaN sum has a NaN error; both comparisons leave it as it is.
  const LaneValue inexact = b.and_(b.fcompare(FCompare::kNe, error, b.f64(0)), b.fcompare(FCompare::kNum, s, s));
  return b.bitcast(b.select(inexact, odd, bits), Elem::kF64);
}
void lower_fma(LaneBuilder& b, const Instr& in) {
  lower_each(b, in, [&](auto half) {
    const auto wide = [&](int i) { return widened(b, in, half(i), Elem::kF64); };
    return narrowed(b, in, fma_to_odd(b, wide(1), wide(2), wide(3)));
  });
}
template <bool kAbs>
void lower_sign(LaneBuilder& b, const Instr& in) {
  lower_each(b, in, [&](auto half) {
    const LaneValue x = in.has("ftz") ? b.ftz(half(1)) : half(1);
    const LaneValue bits = b.bitcast(x, Elem::kI16);
    const LaneValue changed =
        kAbs ? b.and_(bits, b.constant(Elem::kI16, 0x7fff)) : b.xor_(bits, b.constant(Elem::kI16, 0x8000));
    return b.canonical_nan(b.bitcast(changed, x.elem));
  });
}
template <bool kMax>
void lower_minmax(LaneBuilder& b, const Instr& in) {
  if (in.has("xorsign")) return b.call_reference();
  lower_each(b, in, [&](auto half) {
    const LaneValue x = widened(b, in, half(1), Elem::kF32), y = widened(b, in, half(2), Elem::kF32);
    LaneValue d = kMax ? b.fmax(x, y) : b.fmin(x, y);
    if (in.has("NaN")) d = b.select(b.fcompare(FCompare::kNan, x, y), b.constant(Elem::kF32, 0x7fffffff), d);
    return b.canonical_nan(b.float_truncate(d, half_of(in), Rounding::kNearestEven));
  });
}

#define WL_SECTION "Half Precision Floating Point Instructions: "
constexpr OpDef kRows[] = {
    {.form = "add{.rn}{.ftz}{.sat}.type d, a, b; .type = {.f16, .f16x2}",
     .spec = {WL_SECTION "add", 4, 2, 53},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_add},
     .lower = lower_rounded<&LaneBuilder::fadd>},
    {.form = "add{.rn}.type d, a, b; .type = {.bf16, .bf16x2}",
     .spec = {WL_SECTION "add", 7, 8, 90},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_add},
     .lower = lower_rounded<&LaneBuilder::fadd>},
    {.form = "sub{.rn}{.ftz}{.sat}.type d, a, b; .type = {.f16, .f16x2}",
     .spec = {WL_SECTION "sub", 4, 2, 53},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_sub},
     .lower = lower_rounded<&LaneBuilder::fsub>},
    {.form = "sub{.rn}.type d, a, b; .type = {.bf16, .bf16x2}",
     .spec = {WL_SECTION "sub", 7, 8, 90},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_sub},
     .lower = lower_rounded<&LaneBuilder::fsub>},
    {.form = "mul{.rn}{.ftz}{.sat}.type d, a, b; .type = {.f16, .f16x2}",
     .spec = {WL_SECTION "mul", 4, 2, 53},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mul},
     .lower = lower_rounded<&LaneBuilder::fmul>},
    {.form = "mul{.rn}.type d, a, b; .type = {.bf16, .bf16x2}",
     .spec = {WL_SECTION "mul", 7, 8, 90},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mul},
     .lower = lower_rounded<&LaneBuilder::fmul>},
    {.form = "fma.rn{.ftz}{.sat}.type d, a, b, c; .type = {.f16, .f16x2}",
     .spec = {WL_SECTION "fma", 4, 2, 53},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_fma},
     .lower = lower_fma},
    {.form = "fma.rn{.ftz}.relu.type d, a, b, c; .type = {.f16, .f16x2}",
     .spec = {WL_SECTION "fma", 7, 0, 80},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_fma},
     .lower = lower_fma},
    {.form = "fma.rn{.relu}.type d, a, b, c; .type = {.bf16, .bf16x2}",
     .spec = {WL_SECTION "fma", 7, 0, 80},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_fma},
     .lower = lower_fma},
    {.form = "neg{.ftz}.type d, a; .type = {.f16, .f16x2}",
     .spec = {WL_SECTION "neg", 6, 0, 53},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_sign<false>},
     .lower = lower_sign<false>},
    {.form = "neg.type d, a; .type = {.bf16, .bf16x2}",
     .spec = {WL_SECTION "neg", 7, 0, 80},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_sign<false>},
     .lower = lower_sign<false>},
    {.form = "abs{.ftz}.type d, a; .type = {.f16, .f16x2}",
     .spec = {WL_SECTION "abs", 6, 5, 53},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_sign<true>},
     .lower = lower_sign<true>},
    {.form = "abs.type d, a; .type = {.bf16, .bf16x2}",
     .spec = {WL_SECTION "abs", 7, 0, 80},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_sign<true>},
     .lower = lower_sign<true>},
    {.form = "min{.ftz}{.NaN}{.xorsign}{.abs}.type d, a, b; .type = {.f16, .f16x2}",
     .spec = {WL_SECTION "min", 7, 0, 80},
     .reference = {.lane = ref_minmax<false>},
     .lower = lower_minmax<false>},
    {.form = "min{.NaN}{.xorsign}{.abs}.type d, a, b; .type = {.bf16, .bf16x2}",
     .spec = {WL_SECTION "min", 7, 0, 80},
     .reference = {.lane = ref_minmax<false>},
     .lower = lower_minmax<false>},
    {.form = "max{.ftz}{.NaN}{.xorsign}{.abs}.type d, a, b; .type = {.f16, .f16x2}",
     .spec = {WL_SECTION "max", 7, 0, 80},
     .reference = {.lane = ref_minmax<true>},
     .lower = lower_minmax<true>},
    {.form = "max{.NaN}{.xorsign}{.abs}.type d, a, b; .type = {.bf16, .bf16x2}",
     .spec = {WL_SECTION "max", 7, 0, 80},
     .reference = {.lane = ref_minmax<true>},
     .lower = lower_minmax<true>},
    {.form = "tanh.approx.type d, a; .type = {.f16, .f16x2, .bf16, .bf16x2}",
     .spec = {WL_SECTION "tanh", 7, 0, 75},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_approx<tanh_of>}},
    {.form = "ex2.approx.type d, a; .type = {.f16, .f16x2}",
     .spec = {WL_SECTION "ex2", 7, 0, 75},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_approx<exp2_of>}},
    {.form = "ex2.approx.ftz.type d, a; .type = {.bf16, .bf16x2}",
     .spec = {WL_SECTION "ex2", 7, 8, 90},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_approx<exp2_of>}},
};

}  // namespace

Chapter half_chapter() { return kRows; }

}  // namespace warplens::ops
