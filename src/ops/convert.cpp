// SPDX-License-Identifier: Apache-2.0
// Chapter: conversions (the manual's "Data Movement and Conversion Instructions: cvt", "cvt.pack"). Integer to integer
// cuts or extends (.sat clamps); float to integer rounds, then clamps to the destination's range, with NaN giving 0, or
// the lowest value of the destination when 64 bits are on either side [documented; measured on an H200]; everything
// that yields a float is the exact value rounded once. One reference serves all: read a Number, round, write.
#include <algorithm>

#include "ops/chapters.h"
#include "ops/float_format.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

using S128 = __int128;
using U128 = unsigned __int128;

Type to_type(const Instr& in) { return in.type("dtype"); }
Type from_type(const Instr& in) { return in.type("atype"); }
bool rounds_to_integral(const Instr& in) { return !in.word("irnd").empty(); }

// --- references
Number read(const LaneArgs& a) {
  const Type t = from_type(a.instr);
  if (!ptx::is_float(t)) {
    const unsigned bits = ptx::bits_of(t);
    const bool negative = ptx::is_signed(t) && as_signed(a.in[0], bits) < 0;
    return from_integer(negative, negative ? uint64_t{0} - static_cast<uint64_t>(as_signed(a.in[0], bits)) : a.in[0]);
  }
  const bool flush = t == Type::kF32 && a.instr.has("ftz");
  return unpack(format_of(t), flush ? flush_subnormal(kF32, a.in[0]) : a.in[0]);
}
U128 range_end(Type t) { return U128{1} << (ptx::bits_of(t) - (ptx::is_signed(t) ? 1 : 0)); }

/// A whole number to the nearest value of the integer type.
uint64_t clamped(const Number& n, Type t) {
  const U128 end = range_end(t);
  if (n.kind == NumberKind::kZero) return 0;
  const U128 most = n.negative ? (ptx::is_signed(t) ? end : 0) : end - 1;
  U128 magnitude = most;
  if (n.kind == NumberKind::kFinite && n.exponent < 64) magnitude = std::min(most, n.mantissa << n.exponent);
  return static_cast<uint64_t>(n.negative ? -static_cast<S128>(magnitude) : static_cast<S128>(magnitude));
}
uint64_t nan_as_integer(Type from, Type to) {
  const bool wide = from == Type::kF64 || ptx::bits_of(to) == 64;
  return wide ? uint64_t{1} << (ptx::bits_of(to) - 1) : 0;
}
uint64_t saturated(const FloatFormat& f, uint64_t v) {
  if (is_nan(f, v) || (v & f.sign_bit()) != 0) return 0;
  const uint64_t one = static_cast<uint64_t>(f.bias()) << f.mantissa_bits;
  return std::min(v, one);
}
void ref_cvt_integer(const LaneArgs& a) {
  const Type from = from_type(a.instr), to = to_type(a.instr);
  if (a.instr.has("sat")) return put(a, clamped(read(a), to));
  put(a, ptx::is_signed(from) ? static_cast<uint64_t>(as_signed(a.in[0], ptx::bits_of(from))) : a.in[0]);
}
void ref_cvt_to_integer(const LaneArgs& a) {
  const Number n = read(a);
  if (n.kind == NumberKind::kNan) return put(a, nan_as_integer(from_type(a.instr), to_type(a.instr)));
  put(a, clamped(round_to_integer(n, rounding_of(a.instr)), to_type(a.instr)));
}
uint64_t to_float(const Instr& in, const Number& n, const FloatFormat& f) {
  const bool integral = rounds_to_integral(in);
  const Overflow overflow = in.has("satfinite") ? Overflow::kSaturate : Overflow::kInfinity;
  uint64_t v = pack(f, integral ? round_to_integer(n, rounding_of(in)) : n,
                    integral ? Rounding::kNearestEven : rounding_of(in), overflow);
  if (in.has("relu") && n.kind != NumberKind::kNan && (v & f.sign_bit()) != 0) v = 0;
  return v;
}
/// NaN of a conversion between floats [measured]. A plain copy of f32 or f64 changes nothing, bf16 to f32 only appends
/// zeros; where f64 is on either side the payload moves along and the NaN becomes quiet (unless .ftz made it canonical
/// before); else the result is canonical.
uint64_t converted_nan(const LaneArgs& a) {
  const Type from = from_type(a.instr), to = to_type(a.instr);
  const FloatFormat &f = format_of(from), &g = format_of(to);
  uint64_t v = a.in[0];
  const bool plain = !rounds_to_integral(a.instr) && !a.instr.has("ftz");
  if (from == to && plain && ptx::bits_of(from) >= 32) return v;
  if (from == Type::kBF16 && to == Type::kF32 && plain) return v << 16;
  if (to != Type::kF64 && from != Type::kF64) return g.canonical_nan;
  if (from == Type::kF32 && a.instr.has("ftz")) v = kF32.canonical_nan;
  const uint64_t payload = v & ((uint64_t{1} << f.mantissa_bits) - 1);
  const int up = g.mantissa_bits - f.mantissa_bits;
  const uint64_t sign = (v & f.sign_bit()) != 0 ? g.sign_bit() : 0;
  return quiet(g, sign | g.infinity() | (up >= 0 ? payload << up : payload >> -up));
}
void ref_cvt_to_float(const LaneArgs& a) {
  const FloatFormat& f = format_of(to_type(a.instr));
  const bool sat = a.instr.has("sat");
  if (!sat && ptx::is_float(from_type(a.instr)) && is_nan(format_of(from_type(a.instr)), a.in[0]))
    return put(a, converted_nan(a));
  uint64_t v = to_float(a.instr, read(a), f);
  if (to_type(a.instr) == Type::kF32 && a.instr.has("ftz")) v = flush_subnormal(f, v);
  put(a, sat ? saturated(f, v) : v);
}
/// Two floats into one packed register: the first operand goes to the upper half.
void ref_cvt_pair(const LaneArgs& a) {
  const FloatFormat& f = format_of(to_type(a.instr));
  const uint64_t high = to_float(a.instr, unpack(kF32, a.in[0]), f), low = to_float(a.instr, unpack(kF32, a.in[1]), f);
  put(a, high << f.bits() | low);
}
/// A packed pair to a packed pair of another format.
void ref_cvt_packed(const LaneArgs& a) {
  const FloatFormat &f = format_of(to_type(a.instr)), &g = format_of(from_type(a.instr));
  const auto part = [&](int i) {
    return to_float(a.instr, unpack(g, (a.in[0] >> (g.bits() * i)) & low_bits(static_cast<unsigned>(g.bits()))), f);
  };
  put(a, part(1) << f.bits() | part(0));
}
/// tf32 keeps the upper 19 bits of an f32; the lower 13 are zero, of a NaN too (.rna may make it infinite) [measured].
void ref_cvt_tf32(const LaneArgs& a) {
  const Number n = unpack(kF32, a.in[0]);
  const bool away = a.instr.has("rna"), nan = n.kind == NumberKind::kNan;
  if (nan && !away) return put(a, 0x7fffe000);
  uint64_t v = nan ? a.in[0] >> 13 : away ? pack_ties_away(kTF32, n) : to_float(a.instr, n, kTF32);
  const bool infinite = (v & ~kTF32.sign_bit()) == kTF32.largest() + 1;
  if (a.instr.has("satfinite") && (!nan || infinite))
    v = std::min(v & ~kTF32.sign_bit(), kTF32.largest()) | (v & kTF32.sign_bit());
  put(a, v << 13);
}
/// Saturates both operands to a narrow integer; the second one goes lowest, the first above it, c (if any) above both.
void ref_cvt_pack(const LaneArgs& a) {
  const std::string_view word = a.instr.word("to");
  const unsigned bits = word.substr(1) == "16" ? 16 : static_cast<unsigned>(word[1] - '0');
  const int64_t most = word[0] == 's' ? static_cast<int64_t>(low_bits(bits - 1)) : static_cast<int64_t>(low_bits(bits));
  const int64_t least = word[0] == 's' ? -most - 1 : 0;
  const auto part = [&](size_t i) {
    return static_cast<uint64_t>(std::clamp(as_signed(a.in[i], 32), least, most)) & low_bits(bits);
  };
  const uint64_t c = a.in.size() > 2 ? a.in[2] << (2 * bits) : 0;
  put(a, c | part(0) << bits | part(1));
}

// --- lowerings
LaneValue resized(LaneBuilder& b, LaneValue v, Elem to, bool sign) {
  if (codegen::bits_of(to) < codegen::bits_of(v.elem)) return b.trunc(v, to);
  if (codegen::bits_of(to) == codegen::bits_of(v.elem)) return v;
  return sign ? b.sext(v, to) : b.zext(v, to);
}
/// Limits `v`, an integer of either sign, to the range of a type no wider than `v`.
LaneValue clamped(LaneBuilder& b, LaneValue v, bool v_signed, Type to) {
  const auto end = static_cast<uint64_t>(range_end(to) - 1);
  if (!v_signed) return b.min(v, b.constant(v.elem, end), false);
  const uint64_t least = ptx::is_signed(to) ? ~end : 0;
  return b.min(b.max(v, b.constant(v.elem, least), true), b.constant(v.elem, end), true);
}
void lower_cvt_integer(LaneBuilder& b, const Instr& in) {
  const Type from = from_type(in), to = to_type(in);
  const bool sign = ptx::is_signed(from);
  LaneValue v = b.src(1);
  if (in.has("sat")) {
    // Both fit in 64 bits with their sign, unless both are u64 (or one u64 and one s64: handled by its own comparison).
    if (from == Type::kU64 || to == Type::kU64) {
      if (from == Type::kU64 && to != Type::kU64) v = clamped(b, v, false, to);
      if (from != Type::kU64) v = resized(b, sign ? b.max(v, b.constant(v.elem, 0), true) : v, Elem::kI64, false);
    } else {
      v = clamped(b, resized(b, v, Elem::kI64, sign), true, to);
    }
    return b.set(0, resized(b, v, codegen::elem_of(to), false));
  }
  b.set(0, resized(b, v, codegen::elem_of(to), sign));
}
LaneValue float_source(LaneBuilder& b, const Instr& in) {
  const LaneValue v = b.src(1);
  return from_type(in) == Type::kF32 && in.has("ftz") ? b.ftz(v) : v;
}
void lower_cvt_to_integer(LaneBuilder& b, const Instr& in) {
  const Type from = from_type(in), to = to_type(in);
  LaneValue v = float_source(b, in);
  if (v.elem == Elem::kF16 || v.elem == Elem::kBF16) v = b.float_extend(v, Elem::kF32);
  const unsigned bits = ptx::bits_of(to);
  const bool sign = ptx::is_signed(to);
  LaneValue whole =
      b.float_to_int(v, bits >= 32 ? codegen::elem_of(to) : Elem::kI32, sign || bits < 32, rounding_of(in));
  if (bits < 32) whole = clamped(b, whole, true, to);
  if (const uint64_t nan = nan_as_integer(from, to); nan != 0 && bits < 64)
    whole = b.select(b.fcompare(FCompare::kNan, v, v), b.i32(static_cast<uint32_t>(nan)), whole);
  b.set(0, bits < 32 ? b.trunc(whole, codegen::elem_of(to)) : whole);
}
/// Whether a NaN comes out canonical; elsewhere the host's conversions treat it as the hardware does (converted_nan
/// above).
bool makes_nan_canonical(const Instr& in) {
  const Type from = from_type(in), to = to_type(in);
  if (from == to && from == Type::kF32) return rounds_to_integral(in) || in.has("ftz");
  if (from == Type::kBF16 && to == Type::kF32) return in.has("ftz");
  return to != Type::kF64 && from != Type::kF64;
}
void finish_float(LaneBuilder& b, const Instr& in, LaneValue v) {
  if (to_type(in) == Type::kF32 && in.has("ftz")) v = b.ftz(v);
  b.set(0, in.has("sat") ? b.saturate(v) : makes_nan_canonical(in) ? b.canonical_nan(v) : v);
}
void lower_cvt_from_integer(LaneBuilder& b, const Instr& in) {
  const Type from = from_type(in), to = to_type(in);
  const bool half = to == Type::kF16 || to == Type::kBF16;
  // 64-bit integers to half go through no host type without rounding twice.
  if (half && ptx::bits_of(from) == 64) return b.call_reference();
  LaneValue v = b.src(1);
  const bool sign = ptx::is_signed(from);
  if (ptx::bits_of(from) < 32) v = resized(b, v, Elem::kI32, sign);
  const LaneValue f = b.int_to_float(v, half ? Elem::kF64 : codegen::elem_of(to), sign, rounding_of(in));
  finish_float(b, in, half ? b.float_truncate(f, codegen::elem_of(to), rounding_of(in)) : f);
}
void lower_cvt_integral(LaneBuilder& b, const Instr& in) {
  const LaneValue v = float_source(b, in);
  if (!rounds_to_integral(in)) return finish_float(b, in, v);
  if (v.elem != Elem::kF16 && v.elem != Elem::kBF16)
    return finish_float(b, in, b.round_to_integral(v, rounding_of(in)));
  // A whole number that a half rounds to is a half, or the next power of two, which is one as well.
  const LaneValue whole = b.round_to_integral(b.float_extend(v, Elem::kF32), rounding_of(in));
  finish_float(b, in, b.float_truncate(whole, v.elem, Rounding::kNearestEven));
}
void lower_cvt_widen(LaneBuilder& b, const Instr& in) {
  LaneValue v = float_source(b, in);
  if (from_type(in) == Type::kF32 &&
      in.has("ftz"))  // through the bits: a NaN is made canonical when they are looked at
    v = b.bitcast(b.bitcast(b.canonical_nan(v), Elem::kI32), Elem::kF32);
  finish_float(b, in, b.float_extend(v, codegen::elem_of(to_type(in))));
}
/// An f64 NaN as a half: sign, the upper bits of the payload, quiet (converted_nan above).
LaneValue narrow_nan(LaneBuilder& b, LaneValue v, Elem to) {
  const FloatFormat& g = to == Elem::kF16 ? kF16 : kBF16;
  const LaneValue bits = b.bitcast(v, Elem::kI64);
  const auto upper = [&](uint32_t shift, uint64_t mask) {
    return b.and_(b.trunc(b.lshr(bits, b.i32(shift)), Elem::kI16), b.constant(Elem::kI16, mask));
  };
  const LaneValue payload =
      upper(static_cast<uint32_t>(52 - g.mantissa_bits), low_bits(static_cast<unsigned>(g.mantissa_bits)));
  const LaneValue fixed = b.constant(Elem::kI16, quiet(g, g.infinity()));
  return b.bitcast(b.or_(b.or_(upper(48, 0x8000), payload), fixed), to);
}
LaneValue narrowed(LaneBuilder& b, const Instr& in, LaneValue v, Elem to) {
  if (v.elem == Elem::kBF16 || v.elem == Elem::kF16) v = b.float_extend(v, Elem::kF32);
  LaneValue d = b.float_truncate(v, to, rounding_of(in));
  if (to == Elem::kF32) return d;
  d = from_type(in) == Type::kF64 ? b.select(b.fcompare(FCompare::kNan, v, v), narrow_nan(b, v, to), d)
                                  : b.canonical_nan(d);
  if (in.has("relu"))  // a signed comparison of the bits: NaN is canonical, so positive
    d = b.bitcast(b.max(b.bitcast(d, Elem::kI16), b.constant(Elem::kI16, 0), true), to);
  return d;
}
void lower_cvt_narrow(LaneBuilder& b, const Instr& in) {
  if (in.has("satfinite")) return b.call_reference();
  finish_float(b, in, narrowed(b, in, float_source(b, in), codegen::elem_of(to_type(in))));
}
void lower_cvt_pair(LaneBuilder& b, const Instr& in) {
  if (in.has("satfinite")) return b.call_reference();
  const Elem elem = to_type(in) == Type::kBF16x2 ? Elem::kBF16 : Elem::kF16;
  b.set(0, join_halves(b, narrowed(b, in, b.src(2), elem), narrowed(b, in, b.src(1), elem)));
}

#define WL_SECTION "Data Movement and Conversion Instructions: "
#define WL_INTEGERS "{.u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64}"
#define WL_FRND ".frnd = {.rn, .rz, .rm, .rp}"
#define WL_IRND ".irnd = {.rni, .rzi, .rmi, .rpi}"
#define WL_CONVERT "{.ftz}{.sat}.dtype.atype d:dtype, a:atype; "
constexpr OpDef kRows[] = {
    {.form = "cvt{.sat}.dtype.atype d:dtype, a:atype; .dtype = .atype = " WL_INTEGERS,
     .spec = {WL_SECTION "cvt", 1, 0, 10},
     .reference = {.lane = ref_cvt_integer},
     .lower = lower_cvt_integer},
    {.form = "cvt.irnd" WL_CONVERT WL_IRND "; .dtype = " WL_INTEGERS "; .atype = {.f16, .bf16, .f32, .f64}",
     .spec = {WL_SECTION "cvt", 1, 0, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_to_integer},
     .lower = lower_cvt_to_integer},
    {.form = "cvt.frnd" WL_CONVERT WL_FRND "; .dtype = {.f16, .bf16, .f32, .f64}; .atype = " WL_INTEGERS,
     .spec = {WL_SECTION "cvt", 1, 0, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_from_integer},
    {.form = "cvt{.irnd}" WL_CONVERT WL_IRND "; .dtype = {.f32}; .atype = {.f32}",
     .spec = {WL_SECTION "cvt", 1, 0, 10},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_integral},
    {.form = "cvt{.irnd}{.sat}.dtype.atype d:dtype, a:atype; " WL_IRND "; .dtype = {.f64}; .atype = {.f64}",
     .spec = {WL_SECTION "cvt", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_integral},
    {.form = "cvt{.irnd}" WL_CONVERT WL_IRND "; .dtype = {.f16}; .atype = {.f16}",
     .spec = {WL_SECTION "cvt", 4, 2, 53},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_integral},
    {.form = "cvt{.irnd}" WL_CONVERT WL_IRND "; .dtype = {.bf16}; .atype = {.bf16}",
     .spec = {WL_SECTION "cvt", 7, 8, 90},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_integral},
    {.form = "cvt" WL_CONVERT ".dtype = {.f32}; .atype = {.f16, .bf16}",
     .spec = {WL_SECTION "cvt", 4, 2, 53},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_widen},
    {.form = "cvt" WL_CONVERT ".dtype = {.f64}; .atype = {.f16, .bf16, .f32}",
     .spec = {WL_SECTION "cvt", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_widen},
    {.form = "cvt.frnd" WL_CONVERT WL_FRND "; .dtype = {.f32}; .atype = {.f64}",
     .spec = {WL_SECTION "cvt", 1, 0, 13},
     .pipe = Pipe::kFp64,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_narrow},
    {.form = "cvt.frnd{.relu}{.satfinite}{.ftz}{.sat}.dtype.atype d:dtype, a:atype; " WL_FRND
             "; .dtype = {.f16, .bf16}; .atype = {.f32, .f64}",
     .spec = {WL_SECTION "cvt", 4, 2, 53},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_narrow},
    {.form = "cvt.frnd{.sat}.dtype.atype d:dtype, a:atype; " WL_FRND "; .dtype = {.f16}; .atype = {.bf16}",
     .spec = {WL_SECTION "cvt", 7, 8, 90},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_narrow},
    {.form = "cvt.frnd{.sat}.dtype.atype d:dtype, a:atype; " WL_FRND "; .dtype = {.bf16}; .atype = {.f16}",
     .spec = {WL_SECTION "cvt", 7, 8, 90},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_to_float},
     .lower = lower_cvt_narrow},
    {.form =
         "cvt.frnd{.relu}{.satfinite}.dtype.f32 d:dtype, a:f32, b:f32; .frnd = {.rn, .rz}; .dtype = {.f16x2, .bf16x2}",
     .spec = {WL_SECTION "cvt", 7, 0, 80},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_pair},
     .lower = lower_cvt_pair},
    {.form = "cvt.rna{.satfinite}.dtype.f32 d:b32, a:f32; .dtype = {.tf32}",
     .spec = {WL_SECTION "cvt", 7, 0, 80},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_tf32}},
    {.form = "cvt.frnd{.satfinite}{.relu}.dtype.f32 d:b32, a:f32; .frnd = {.rn, .rz}; .dtype = {.tf32}",
     .spec = {WL_SECTION "cvt", 7, 8, 90},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_tf32}},
    {.form = "cvt.rn.satfinite{.relu}.dtype.f32 d:b16, a:f32, b:f32; .dtype = {.e4m3x2, .e5m2x2}",
     .spec = {WL_SECTION "cvt", 7, 8, 89},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_pair}},
    {.form = "cvt.rn.satfinite{.relu}.dtype.atype d:b16, a:b32; .dtype = {.e4m3x2, .e5m2x2}; .atype = {.f16x2}",
     .spec = {WL_SECTION "cvt", 7, 8, 89},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_packed}},
    {.form = "cvt.rn{.relu}.dtype.atype d:b32, a:b16; .dtype = {.f16x2}; .atype = {.e4m3x2, .e5m2x2}",
     .spec = {WL_SECTION "cvt", 7, 8, 89},
     .pipe = Pipe::kXu,
     .reference = {.lane = ref_cvt_packed}},
    {.form = "cvt.pack.sat.to.s32 d:b32, a:s32, b:s32; .to = {.u16, .s16}",
     .spec = {WL_SECTION "cvt.pack", 6, 5, 72},
     .reference = {.lane = ref_cvt_pack}},
    {.form = "cvt.pack.sat.to.s32.b32 d:b32, a:s32, b:s32, c:b32; .to = {.u2, .s2, .u4, .s4, .u8, .s8}",
     .spec = {WL_SECTION "cvt.pack", 6, 5, 72},
     .reference = {.lane = ref_cvt_pack}},
};

}  // namespace

Chapter convert_chapter() { return kRows; }

}  // namespace warplens::ops
