// SPDX-License-Identifier: Apache-2.0
// Chapter: the fast approximations (.approx, .full). The manual bounds their error and fixes their special values but
// not their bits, and no two GPU generations agree on those. Here each gives (nearly) the correctly rounded value,
// computed in double precision; programs that pass with the hardware's error bound pass with this. ex2 and lg2 are
// short polynomials rather than calls of libm, so that generated code can do the very same operations on vectors; where
// a plain libm call is as good, the reference is one and there is no lowering.
#include <cmath>
#include <limits>

#include "ops/chapters.h"
#include "ops/float_format.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

float source(const LaneArgs& a, int i = 0) {
  const uint64_t v = a.in[static_cast<size_t>(i)];
  return as_f32(a.instr.has("ftz") ? flush_subnormal(kF32, v) : v);
}
void finish(const LaneArgs& a, double value) {
  uint64_t bits = bits_of_f32(static_cast<float>(value));
  if (a.instr.has("ftz")) bits = flush_subnormal(kF32, bits);
  put(a, is_nan(kF32, bits) ? kF32.canonical_nan : bits);
}
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// ln(2)^k / k!, k = 0..9: the Taylor series of 2^r. On [-0.5, 0.5] the first term left out is below 2^-36.
constexpr double kExp2[] = {1.0,
                            0x1.62e42fefa39efp-1,
                            0x1.ebfbdff82c58fp-3,
                            0x1.c6b08d704a0c0p-5,
                            0x1.3b2ab6fba4e77p-7,
                            0x1.5d87fe78a6731p-10,
                            0x1.430912f86c787p-13,
                            0x1.ffcbfc588b0c7p-17,
                            0x1.62c0223a5c824p-20,
                            0x1.b5253d395e7c4p-24};
constexpr double kLeast = -160, kMost = 140;  // 2^x outside is 0 or infinite as an f32

double exp2_of(double x) {
  if (std::isnan(x)) return kNan;
  x = x < kLeast ? kLeast : x > kMost ? kMost : x;
  const double n = std::nearbyint(x), r = x - n;
  double p = kExp2[9];
  for (int k = 8; k >= 0; --k) p = std::fma(p, r, kExp2[k]);
  return p * std::ldexp(1.0, static_cast<int>(n));
}

/// 2 / (ln(2) * (2k + 1)): log2(m) = sum of these times s^(2k+1), s = (m - 1) / (m + 1).
constexpr double kLog2[] = {0x1.71547652b82fep+1, 0x1.ec709dc3a03fdp-1, 0x1.2776c50ef9bfep-1, 0x1.a61762a7aded9p-2,
                            0x1.484b13d7c02a9p-2, 0x1.0c9a84994022dp-2, 0x1.c68f568d31760p-3, 0x1.89f3b1694cffep-3};
constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcd;  // sqrt(0.5): m lies in [sqrt(0.5), sqrt(2))

double log2_of(double x) {
  if (std::isnan(x) || x < 0) return kNan;
  if (x == 0) return -kInfinity;
  if (std::isinf(x)) return x;
  const int64_t bits = static_cast<int64_t>(bits_of_f64(x)), e = (bits - static_cast<int64_t>(kRootHalf)) >> 52;
  const double m = as_f64(static_cast<uint64_t>(bits - (e << 52)));
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double p = kLog2[7];
  for (int k = 6; k >= 0; --k) p = std::fma(p, s2, kLog2[k]);
  return std::fma(p, s, static_cast<double>(e));
}

// --- references
void ref_ex2(const LaneArgs& a) { finish(a, exp2_of(source(a))); }
void ref_lg2(const LaneArgs& a) { finish(a, log2_of(source(a))); }
void ref_sin(const LaneArgs& a) { finish(a, std::sin(static_cast<double>(source(a)))); }
void ref_cos(const LaneArgs& a) { finish(a, std::cos(static_cast<double>(source(a)))); }
void ref_tanh(const LaneArgs& a) { finish(a, std::tanh(static_cast<double>(source(a)))); }
void ref_rcp(const LaneArgs& a) { finish(a, static_cast<double>(1 / source(a))); }
void ref_sqrt(const LaneArgs& a) { finish(a, static_cast<double>(std::sqrt(source(a)))); }
void ref_rsqrt(const LaneArgs& a) { finish(a, 1 / std::sqrt(static_cast<double>(source(a)))); }
void ref_div_full(const LaneArgs& a) { finish(a, static_cast<double>(source(a, 0) / source(a, 1))); }
/// a * (1/b): a divisor so large that its reciprocal is flushed gives 0, and NaN for infinite a.
void ref_div_approx(const LaneArgs& a) {
  const float x = source(a, 0), y = source(a, 1);
  const bool reciprocal_lost = std::fabs(y) > 0x1p126f && !std::isinf(y);
  if (!reciprocal_lost || std::isnan(x)) return finish(a, static_cast<double>(x / y));
  finish(a, std::isinf(x) ? kNan : std::signbit(x) != std::signbit(y) ? -0.0 : 0.0);
}
/// The f64 seeds look at and produce only the upper 32 bits of a double; subnormals are flushed.
uint64_t upper(uint64_t v) { return v & ~uint64_t{0xffffffff}; }
void ref_seed_f64(const LaneArgs& a, double value) {
  const uint64_t bits = flush_subnormal(kF64, upper(bits_of_f64(value)));
  put(a, std::isnan(value) ? uint64_t{0x7fffffff00000000} : bits);
}
void ref_rcp_f64(const LaneArgs& a) { ref_seed_f64(a, 1 / as_f64(flush_subnormal(kF64, upper(a.in[0])))); }
void ref_rsqrt_seed(const LaneArgs& a) {
  ref_seed_f64(a, 1 / std::sqrt(as_f64(flush_subnormal(kF64, upper(a.in[0])))));
}
/// Without .ftz all 64 bits count.
void ref_rsqrt_f64(const LaneArgs& a) {
  const double x = as_f64(a.in[0]);
  put(a, std::isnan(x) ? quiet(kF64, a.in[0]) : x < 0 ? kF64.canonical_nan : bits_of_f64(1 / std::sqrt(x)));
}

// --- lowerings
LaneValue source(LaneBuilder& b, const Instr& in, int i) { return in.has("ftz") ? b.ftz(b.src(i)) : b.src(i); }
void finish(LaneBuilder& b, const Instr& in, LaneValue v) {
  if (v.elem == Elem::kF64) v = b.float_truncate(v, Elem::kF32, Rounding::kNearestEven);
  if (in.has("ftz")) v = b.ftz(v);
  b.set(0, b.canonical_nan(v));
}
LaneValue polynomial(LaneBuilder& b, std::span<const double> coefficients, LaneValue x) {
  LaneValue p = b.f64(coefficients.back());
  for (size_t k = coefficients.size() - 1; k-- > 0;) p = b.fma(p, x, b.f64(coefficients[k]));
  return p;
}
void lower_ex2(LaneBuilder& b, const Instr& in) {
  const LaneValue source_value = b.float_extend(source(b, in, 1), Elem::kF64);
  LaneValue x = b.select(b.fcompare(FCompare::kLt, source_value, b.f64(kLeast)), b.f64(kLeast), source_value);
  x = b.select(b.fcompare(FCompare::kGt, x, b.f64(kMost)), b.f64(kMost), x);
  const LaneValue n = b.round_to_integral(x, Rounding::kNearestEven);
  const LaneValue p = polynomial(b, kExp2, b.fsub(x, n));
  // 2^n: n is small, so its integer goes straight into the exponent field. (Of a NaN anything may come; p is NaN then.)
  const LaneValue exponent = b.add(b.float_to_int(n, Elem::kI64, true, Rounding::kZero), b.constant(Elem::kI64, 1023));
  const LaneValue scale = b.bitcast(b.shl(exponent, b.i32(52)), Elem::kF64);
  finish(b, in, b.fmul(p, scale));
}
void lower_lg2(LaneBuilder& b, const Instr& in) {
  const LaneValue x = b.float_extend(source(b, in, 1), Elem::kF64);
  const LaneValue bits = b.bitcast(x, Elem::kI64);
  const LaneValue e = b.ashr(b.sub(bits, b.constant(Elem::kI64, kRootHalf)), b.i32(52));
  const LaneValue m = b.bitcast(b.sub(bits, b.shl(e, b.i32(52))), Elem::kF64);
  const LaneValue s = b.fdiv(b.fsub(m, b.f64(1)), b.fadd(m, b.f64(1)));
  const LaneValue p = polynomial(b, kLog2, b.fmul(s, s));
  const LaneValue whole = b.int_to_float(b.trunc(e, Elem::kI32), Elem::kF64, true, Rounding::kNearestEven);
  LaneValue y = b.fma(p, s, whole);
  y = b.select(b.fcompare(FCompare::kEq, x, b.f64(kInfinity)), x, y);
  y = b.select(b.fcompare(FCompare::kEq, x, b.f64(0)), b.f64(-kInfinity), y);
  y = b.select(b.fcompare(FCompare::kLtu, x, b.f64(0)), b.f64(kNan), y);
  finish(b, in, y);
}
void lower_rcp(LaneBuilder& b, const Instr& in) { finish(b, in, b.fdiv(b.f32(1), source(b, in, 1))); }
void lower_sqrt(LaneBuilder& b, const Instr& in) { finish(b, in, b.fsqrt(source(b, in, 1))); }
void lower_rsqrt(LaneBuilder& b, const Instr& in) {
  finish(b, in, b.fdiv(b.f64(1), b.fsqrt(b.float_extend(source(b, in, 1), Elem::kF64))));
}
void lower_seed(LaneBuilder& b, const Instr& in) {
  const auto upper = [&](LaneValue v) {
    return b.ftz(
        b.bitcast(b.and_(b.bitcast(v, Elem::kI64), b.constant(Elem::kI64, ~uint64_t{0xffffffff})), Elem::kF64));
  };
  const LaneValue x = upper(b.src(1));
  const LaneValue y = b.fdiv(b.f64(1), in.def->form.mnemonic == "rsqrt" ? b.fsqrt(x) : x);
  const LaneValue nan = b.constant(Elem::kF64, 0x7fffffff00000000);
  b.set(0, b.select(b.fcompare(FCompare::kNan, y, y), nan, upper(y)));
}
void lower_rsqrt_f64(LaneBuilder& b, const Instr&) { b.set(0, b.fdiv(b.f64(1), b.fsqrt(b.src(1)))); }
void lower_div_full(LaneBuilder& b, const Instr& in) { finish(b, in, b.fdiv(source(b, in, 1), source(b, in, 2))); }
void lower_div_approx(LaneBuilder& b, const Instr& in) {
  const LaneValue x = source(b, in, 1), y = source(b, in, 2), size = b.fabs(y);
  const LaneValue lost = b.and_(b.fcompare(FCompare::kGt, size, b.f32(0x1p126f)),
                                b.fcompare(FCompare::kLt, size, b.f32(std::numeric_limits<float>::infinity())));
  // x * (+-0) is what the manual asks for: a signed zero, NaN for infinite or NaN x.
  finish(b, in, b.select(lost, b.fmul(x, b.fdiv(y, b.f32(std::numeric_limits<float>::infinity()))), b.fdiv(x, y)));
}

#define WL_SECTION "Floating Point Instructions: "
constexpr OpDef kRows[] = {
    {.form = "div.approx{.ftz}.type d, a, b; .type = {.f32}",
     .spec = {WL_SECTION "div", 1, 4, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_div_approx},
     .lower = lower_div_approx},
    {.form = "div.full{.ftz}.type d, a, b; .type = {.f32}",
     .spec = {WL_SECTION "div", 1, 4, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_div_full},
     .lower = lower_div_full},
    {.form = "rcp.approx{.ftz}.type d, a; .type = {.f32}",
     .spec = {WL_SECTION "rcp", 1, 4, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_rcp},
     .lower = lower_rcp},
    {.form = "rcp.approx.ftz.type d, a; .type = {.f64}",
     .spec = {WL_SECTION "rcp.approx.ftz.f64", 2, 1, 20},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_rcp_f64},
     .lower = lower_seed},
    {.form = "sqrt.approx{.ftz}.type d, a; .type = {.f32}",
     .spec = {WL_SECTION "sqrt", 1, 4, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_sqrt},
     .lower = lower_sqrt},
    {.form = "rsqrt.approx{.ftz}.type d, a; .type = {.f32}",
     .spec = {WL_SECTION "rsqrt", 1, 4, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_rsqrt},
     .lower = lower_rsqrt},
    {.form = "rsqrt.approx.type d, a; .type = {.f64}",
     .spec = {WL_SECTION "rsqrt", 1, 4, 13},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_rsqrt_f64},
     .lower = lower_rsqrt_f64},
    {.form = "rsqrt.approx.ftz.type d, a; .type = {.f64}",
     .spec = {WL_SECTION "rsqrt.approx.ftz.f64", 4, 0, 20},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_rsqrt_seed},
     .lower = lower_seed},
    {.form = "sin.approx{.ftz}.type d, a; .type = {.f32}",
     .spec = {WL_SECTION "sin", 1, 4, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_sin}},
    {.form = "cos.approx{.ftz}.type d, a; .type = {.f32}",
     .spec = {WL_SECTION "cos", 1, 4, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cos}},
    {.form = "lg2.approx{.ftz}.type d, a; .type = {.f32}",
     .spec = {WL_SECTION "lg2", 1, 4, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_lg2},
     .lower = lower_lg2},
    {.form = "ex2.approx{.ftz}.type d, a; .type = {.f32}",
     .spec = {WL_SECTION "ex2", 1, 4, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_ex2},
     .lower = lower_ex2},
    {.form = "tanh.approx.type d, a; .type = {.f32}",
     .spec = {WL_SECTION "tanh", 7, 0, 75},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_tanh}},
};

}  // namespace

Chapter special_chapter() { return kRows; }

}  // namespace warplens::ops
