// SPDX-License-Identifier: Apache-2.0
// Chapter: single and double precision arithmetic ("Floating Point Instructions"). Every result is the exact value
// rounded once in the mode written. The references for round-to-nearest use the host's IEEE operations, the other modes
// the integer arithmetic of float_format.h. .ftz flushes subnormal operands and results to zero of their sign; .sat
// clamps to [0, 1]; an f32 result that is NaN is the canonical NaN, 0x7fffffff.
#include <cmath>

#include "ops/chapters.h"
#include "ops/float_format.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

const FloatFormat& format(const LaneArgs& a) { return format_of(type_at(a.instr, 1)); }
uint64_t source(const LaneArgs& a, int i) {
  const uint64_t v = a.in[static_cast<size_t>(i)];
  return a.instr.has("ftz") ? flush_subnormal(kF32, v) : v;
}
uint64_t saturated(const FloatFormat& f, uint64_t v) {
  if (is_nan(f, v) || (v & f.sign_bit()) != 0) return 0;
  const uint64_t one = static_cast<uint64_t>(f.bias()) << f.mantissa_bits;
  return v > one ? one : v;
}
/// An f64 result that is NaN: the first operand that is NaN, made quiet, or the default NaN when none is. [measured]
uint64_t nan_f64(const LaneArgs& a) {
  for (const uint64_t v : a.in)
    if (is_nan(kF64, v)) return quiet(kF64, v);
  return kF64.canonical_nan;
}
/// The end of every arithmetic instruction: .ftz, .sat, NaN.
void finish(const LaneArgs& a, uint64_t bits) {
  const FloatFormat& f = format(a);
  if (a.instr.has("ftz")) bits = flush_subnormal(f, bits);
  if (a.instr.has("sat")) bits = saturated(f, bits);
  if (!is_nan(f, bits)) return put(a, bits);
  put(a, f.mantissa_bits == 52 ? nan_f64(a) : f.canonical_nan);
}

// --- references
/// `host` computes to nearest in the host's arithmetic; `exact` gives the exact Number.
template <typename Host, typename Exact>
void arithmetic(const LaneArgs& a, Host&& host, Exact&& exact) {
  const FloatFormat& f = format(a);
  const Rounding r = rounding_of(a.instr);
  if (r == Rounding::kNearestEven && f.mantissa_bits == 23)
    return finish(a, bits_of_f32(host([&](int i) { return as_f32(source(a, i)); })));
  if (r == Rounding::kNearestEven) return finish(a, bits_of_f64(host([&](int i) { return as_f64(source(a, i)); })));
  finish(a, pack(f, exact([&](int i) { return unpack(f, source(a, i)); }, r), r));
}
void ref_add(const LaneArgs& a) {
  arithmetic(a, [](auto v) { return v(0) + v(1); }, [](auto n, Rounding r) { return add(n(0), n(1), r); });
}
void ref_sub(const LaneArgs& a) {
  arithmetic(
      a, [](auto v) { return v(0) - v(1); },
      [](auto n, Rounding r) {
        Number negated = n(1);
        negated.negative = !negated.negative;
        return add(n(0), negated, r);
      });
}
void ref_mul(const LaneArgs& a) {
  arithmetic(a, [](auto v) { return v(0) * v(1); }, [](auto n, Rounding) { return mul(n(0), n(1)); });
}
void ref_fma(const LaneArgs& a) {
  arithmetic(
      a, [](auto v) { return std::fma(v(0), v(1), v(2)); },
      [](auto n, Rounding r) { return add(mul(n(0), n(1)), n(2), r); });
}
void ref_div(const LaneArgs& a) {
  arithmetic(a, [](auto v) { return v(0) / v(1); }, [](auto n, Rounding) { return div(n(0), n(1)); });
}
void ref_rcp(const LaneArgs& a) {
  arithmetic(a, [](auto v) { return 1 / v(0); }, [](auto n, Rounding) { return div(from_integer(false, 1), n(0)); });
}
void ref_sqrt(const LaneArgs& a) {
  arithmetic(a, [](auto v) { return std::sqrt(v(0)); }, [](auto n, Rounding) { return sqrt(n(0)); });
}

void ref_neg(const LaneArgs& a) { finish(a, source(a, 0) ^ format(a).sign_bit()); }
void ref_abs(const LaneArgs& a) { finish(a, source(a, 0) & ~format(a).sign_bit()); }

/// Smaller or larger of two: numbers before NaN unless .NaN, -0 below +0; .xorsign.abs compares magnitudes and gives
/// the result the product's sign.
template <bool kMax>
void ref_minmax(const LaneArgs& a) {
  const FloatFormat& f = format(a);
  uint64_t x = source(a, 0), y = source(a, 1);
  const uint64_t sign = (x ^ y) & f.sign_bit();
  if (a.instr.has("xorsign")) x &= ~f.sign_bit(), y &= ~f.sign_bit();
  if (is_nan(f, x) || is_nan(f, y)) {
    const bool both = is_nan(f, x) && is_nan(f, y);
    if (both || a.instr.has("NaN")) return put(a, f.canonical_nan);
    const uint64_t number = is_nan(f, x) ? y : x;
    return put(a, a.instr.has("xorsign") ? number | sign : number);
  }
  const auto rank = [&](uint64_t v) {
    const auto magnitude = static_cast<int64_t>(v & (f.sign_bit() - 1));
    return (v & f.sign_bit()) != 0 ? -magnitude - 1 : magnitude;  // -0 is -1
  };
  uint64_t d = (rank(x) < rank(y)) != kMax ? x : y;
  if (a.instr.has("xorsign")) d |= sign;
  put(a, d);
}
/// Sign of the first operand, magnitude of the second; nothing else is looked at.
void ref_copysign(const LaneArgs& a) {
  const uint64_t sign = format(a).sign_bit();
  put(a, (a.in[0] & sign) | (a.in[1] & ~sign));
}
void ref_testp(const LaneArgs& a) {
  const FloatFormat& f = format(a);
  const uint64_t magnitude = a.in[0] & ~f.sign_bit();
  const bool subnormal = (magnitude & f.infinity()) == 0 && magnitude != 0;
  const std::string_view op = a.instr.word("op");
  bool result = subnormal;
  if (op == "finite") result = magnitude < f.infinity();
  if (op == "infinite") result = magnitude == f.infinity();
  if (op == "number") result = magnitude <= f.infinity();
  if (op == "notanumber") result = magnitude > f.infinity();
  if (op == "normal") result = magnitude < f.infinity() && !subnormal;  // zero counts as normal
  a.out[0] = result;
}

// --- lowerings
LaneValue source(LaneBuilder& b, const Instr& in, int i) { return in.has("ftz") ? b.ftz(b.src(i)) : b.src(i); }
/// f64 arithmetic of the host treats NaN as the hardware does; f32 needs the canonical one.
void write(LaneBuilder& b, LaneValue v) { b.set(0, v.elem == Elem::kF64 ? v : b.canonical_nan(v)); }
void finish(LaneBuilder& b, const Instr& in, LaneValue v) {
  if (in.has("ftz")) v = b.ftz(v);
  if (in.has("sat")) return b.set(0, b.saturate(v));
  write(b, v);
}
template <LaneValue (LaneBuilder::*kOp)(LaneValue, LaneValue, Rounding)>
void lower_rounded(LaneBuilder& b, const Instr& in) {
  finish(b, in, (b.*kOp)(source(b, in, 1), source(b, in, 2), rounding_of(in)));
}
void lower_fma(LaneBuilder& b, const Instr& in) {
  finish(b, in, b.fma(source(b, in, 1), source(b, in, 2), source(b, in, 3), rounding_of(in)));
}
LaneValue one(LaneBuilder& b, Elem elem) { return elem == Elem::kF64 ? b.f64(1) : b.f32(1); }
void lower_rcp(LaneBuilder& b, const Instr& in) {
  const LaneValue x = source(b, in, 1);
  finish(b, in, b.fdiv(one(b, x.elem), x, rounding_of(in)));
}
void lower_sqrt(LaneBuilder& b, const Instr& in) { finish(b, in, b.fsqrt(source(b, in, 1), rounding_of(in))); }
/// The sign of an f64 NaN stays as it is; adding it to itself makes it quiet.
void write_sign(LaneBuilder& b, LaneValue source, LaneValue changed) {
  if (source.elem != Elem::kF64) return write(b, changed);
  b.set(0, b.select(b.fcompare(FCompare::kNan, source, source), b.fadd(source, source), changed));
}
void lower_neg(LaneBuilder& b, const Instr& in) {
  const LaneValue x = source(b, in, 1);
  write_sign(b, x, b.fneg(x));
}
void lower_abs(LaneBuilder& b, const Instr& in) {
  const LaneValue x = source(b, in, 1);
  write_sign(b, x, b.fabs(x));
}
template <bool kMax>
void lower_minmax(LaneBuilder& b, const Instr& in) {
  LaneValue x = source(b, in, 1), y = source(b, in, 2);
  if (in.has("xorsign")) return b.call_reference();
  const LaneValue d = kMax ? b.fmax(x, y) : b.fmin(x, y);
  if (!in.has("NaN")) return b.set(0, d);
  const LaneValue nan = b.constant(x.elem, format_of(type_at(in, 1)).canonical_nan);
  b.set(0, b.select(b.fcompare(FCompare::kNan, x, y), nan, d));
}
void lower_copysign(LaneBuilder& b, const Instr&) {
  const Elem elem = codegen::integer_of(b.src(1).elem);
  const LaneValue sign = b.constant(elem, uint64_t{1} << (codegen::bits_of(elem) - 1));
  const LaneValue s = b.and_(b.src_as(1, elem), sign), m = b.and_(b.src_as(2, elem), b.not_(sign));
  b.set(0, b.bitcast(b.or_(s, m), b.src(1).elem));
}
void lower_testp(LaneBuilder& b, const Instr& in) {
  const FloatFormat& f = format_of(type_at(in, 1));
  const Elem elem = codegen::integer_of(b.src(1).elem);
  const auto bits = [&](uint64_t v) { return b.constant(elem, v); };
  const LaneValue magnitude = b.and_(b.src_as(1, elem), bits(f.sign_bit() - 1));
  const LaneValue infinity = bits(f.infinity());
  // A magnitude lies in [1, least normal) when subnormal: one unsigned comparison after subtracting 1.
  const LaneValue least = bits(uint64_t{1} << f.mantissa_bits);
  const std::string_view op = in.word("op");
  LaneValue p = b.compare(Compare::kUlt, b.sub(magnitude, bits(1)), b.sub(least, bits(1)));
  if (op == "finite") p = b.compare(Compare::kUlt, magnitude, infinity);
  if (op == "infinite") p = b.compare(Compare::kEq, magnitude, infinity);
  if (op == "number") p = b.compare(Compare::kUle, magnitude, infinity);
  if (op == "notanumber") p = b.compare(Compare::kUgt, magnitude, infinity);
  if (op == "normal")  // zero counts as normal
    p = b.or_(b.compare(Compare::kUlt, b.sub(magnitude, least), b.sub(infinity, least)),
              b.compare(Compare::kEq, magnitude, bits(0)));
  b.set(0, p);
}

#define WL_SECTION "Floating Point Instructions: "
#define WL_ROUND ".rnd = {.rn, .rz, .rm, .rp}"
constexpr OpDef kRows[] = {
    {.form = "add{.rnd}{.ftz}{.sat}.type d, a, b; " WL_ROUND "; .type = {.f32}",
     .spec = {WL_SECTION "add", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_add},
     .lower = lower_rounded<&LaneBuilder::fadd>},
    {.form = "add{.rnd}.type d, a, b; " WL_ROUND "; .type = {.f64}",
     .spec = {WL_SECTION "add", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_add},
     .lower = lower_rounded<&LaneBuilder::fadd>},
    {.form = "sub{.rnd}{.ftz}{.sat}.type d, a, b; " WL_ROUND "; .type = {.f32}",
     .spec = {WL_SECTION "sub", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_sub},
     .lower = lower_rounded<&LaneBuilder::fsub>},
    {.form = "sub{.rnd}.type d, a, b; " WL_ROUND "; .type = {.f64}",
     .spec = {WL_SECTION "sub", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_sub},
     .lower = lower_rounded<&LaneBuilder::fsub>},
    {.form = "mul{.rnd}{.ftz}{.sat}.type d, a, b; " WL_ROUND "; .type = {.f32}",
     .spec = {WL_SECTION "mul", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mul},
     .lower = lower_rounded<&LaneBuilder::fmul>},
    {.form = "mul{.rnd}.type d, a, b; " WL_ROUND "; .type = {.f64}",
     .spec = {WL_SECTION "mul", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_mul},
     .lower = lower_rounded<&LaneBuilder::fmul>},
    {.form = "fma.rnd{.ftz}{.sat}.type d, a, b, c; " WL_ROUND "; .type = {.f32}",
     .spec = {WL_SECTION "fma", 1, 4, 20},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_fma},
     .lower = lower_fma},
    {.form = "fma.rnd.type d, a, b, c; " WL_ROUND "; .type = {.f64}",
     .spec = {WL_SECTION "fma", 1, 4, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_fma},
     .lower = lower_fma},
    {.form = "mad.rnd{.ftz}{.sat}.type d, a, b, c; " WL_ROUND "; .type = {.f32}",
     .spec = {WL_SECTION "mad", 1, 0, 20},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_fma},
     .lower = lower_fma},
    {.form = "mad.rnd.type d, a, b, c; " WL_ROUND "; .type = {.f64}",
     .spec = {WL_SECTION "mad", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_fma},
     .lower = lower_fma},
    {.form = "div.rnd{.ftz}.type d, a, b; " WL_ROUND "; .type = {.f32}",
     .spec = {WL_SECTION "div", 1, 4, 20},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_div},
     .lower = lower_rounded<&LaneBuilder::fdiv>},
    {.form = "div.rnd.type d, a, b; " WL_ROUND "; .type = {.f64}",
     .spec = {WL_SECTION "div", 1, 4, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_div},
     .lower = lower_rounded<&LaneBuilder::fdiv>},
    {.form = "rcp.rnd{.ftz}.type d, a; " WL_ROUND "; .type = {.f32}",
     .spec = {WL_SECTION "rcp", 1, 4, 20},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_rcp},
     .lower = lower_rcp},
    {.form = "rcp.rnd.type d, a; " WL_ROUND "; .type = {.f64}",
     .spec = {WL_SECTION "rcp", 1, 4, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_rcp},
     .lower = lower_rcp},
    {.form = "sqrt.rnd{.ftz}.type d, a; " WL_ROUND "; .type = {.f32}",
     .spec = {WL_SECTION "sqrt", 1, 4, 20},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_sqrt},
     .lower = lower_sqrt},
    {.form = "sqrt.rnd.type d, a; " WL_ROUND "; .type = {.f64}",
     .spec = {WL_SECTION "sqrt", 1, 4, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_sqrt},
     .lower = lower_sqrt},
    {.form = "neg{.ftz}.type d, a; .type = {.f32}",
     .spec = {WL_SECTION "neg", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_neg},
     .lower = lower_neg},
    {.form = "neg.type d, a; .type = {.f64}",
     .spec = {WL_SECTION "neg", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_neg},
     .lower = lower_neg},
    {.form = "abs{.ftz}.type d, a; .type = {.f32}",
     .spec = {WL_SECTION "abs", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_abs},
     .lower = lower_abs},
    {.form = "abs.type d, a; .type = {.f64}",
     .spec = {WL_SECTION "abs", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_abs},
     .lower = lower_abs},
    {.form = "min{.ftz}{.NaN}{.xorsign}{.abs}.type d, a, b; .type = {.f32}",
     .spec = {WL_SECTION "min", 1, 0, 10},
     .reference = {.lane = ref_minmax<false>},
     .lower = lower_minmax<false>},
    {.form = "min.type d, a, b; .type = {.f64}",
     .spec = {WL_SECTION "min", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_minmax<false>},
     .lower = lower_minmax<false>},
    {.form = "max{.ftz}{.NaN}{.xorsign}{.abs}.type d, a, b; .type = {.f32}",
     .spec = {WL_SECTION "max", 1, 0, 10},
     .reference = {.lane = ref_minmax<true>},
     .lower = lower_minmax<true>},
    {.form = "max.type d, a, b; .type = {.f64}",
     .spec = {WL_SECTION "max", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_minmax<true>},
     .lower = lower_minmax<true>},
    {.form = "copysign.type d, a, b; .type = {.f32, .f64}",
     .spec = {WL_SECTION "copysign", 2, 0, 20},
     .reference = {.lane = ref_copysign},
     .lower = lower_copysign},
    {.form = "testp.op.type d:pred, a; .op = {.finite, .infinite, .number, .notanumber, .normal, .subnormal}; .type = "
             "{.f32, .f64}",
     .spec = {WL_SECTION "testp", 2, 0, 20},
     .reference = {.lane = ref_testp},
     .lower = lower_testp},
};

}  // namespace

Chapter float_chapter() { return kRows; }

}  // namespace warplens::ops
