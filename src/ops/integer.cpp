// SPDX-License-Identifier: Apache-2.0
// Chapter: integer arithmetic. Arithmetic is modulo 2^width unless .sat; the manual's sections "Integer Arithmetic
// Instructions" define everything here but the results of division by zero, which it calls unspecified: they are what
// an H200 gives (all ones, for quotient and remainder alike).
#include <algorithm>
#include <limits>

#include "ops/chapters.h"
#include "ops/lane_values.h"

namespace warplens::ops {
namespace {

using S128 = __int128;
using U128 = unsigned __int128;

unsigned width_of(const LaneArgs& a) { return ptx::bits_of(type_at(a.instr, 1)); }
bool is_signed(const Instr& in) { return ptx::is_signed(type_at(in, 1)); }
/// Source `i` as the mathematical integer that its type makes of the bits.
S128 value(const LaneArgs& a, int i) {
  const auto v = a.in[static_cast<size_t>(i)];
  return is_signed(a.instr) ? S128{as_signed(v, width_of(a))} : S128{v};
}
uint64_t low(S128 v) { return static_cast<uint64_t>(v); }

int64_t clamp_s32(S128 v) {
  return static_cast<int64_t>(
      std::clamp<S128>(v, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

// --- references
void ref_add(const LaneArgs& a) { put(a, a.in[0] + a.in[1]); }
void ref_sub(const LaneArgs& a) { put(a, a.in[0] - a.in[1]); }
void ref_add_sat(const LaneArgs& a) {
  const S128 sum = value(a, 0) + value(a, 1);
  put(a, a.instr.has("sat") ? low(clamp_s32(sum)) : low(sum));
}
void ref_sub_sat(const LaneArgs& a) {
  const S128 difference = value(a, 0) - value(a, 1);
  put(a, a.instr.has("sat") ? low(clamp_s32(difference)) : low(difference));
}
void ref_add_x2(const LaneArgs& a) {
  put(a, each_half([](uint16_t x, uint16_t y, uint16_t) { return static_cast<uint16_t>(x + y); }, a.in[0], a.in[1]));
}

/// The exact product, whatever its sign: unsigned 64 x 64 needs all of 128 bits.
U128 product(const LaneArgs& a) { return static_cast<U128>(value(a, 0)) * static_cast<U128>(value(a, 1)); }
void ref_mul_lo(const LaneArgs& a) { put(a, a.in[0] * a.in[1]); }
void ref_mul_hi(const LaneArgs& a) { put(a, static_cast<uint64_t>(product(a) >> width_of(a))); }
void ref_mul_wide(const LaneArgs& a) { put(a, static_cast<uint64_t>(product(a))); }
void ref_mad_lo(const LaneArgs& a) { put(a, a.in[0] * a.in[1] + a.in[2]); }
void ref_mad_hi(const LaneArgs& a) { put(a, static_cast<uint64_t>(product(a) >> width_of(a)) + a.in[2]); }
void ref_mad_hi_sat(const LaneArgs& a) {
  put(a, low(clamp_s32((value(a, 0) * value(a, 1) >> 32) + S128{as_signed(a.in[2], 32)})));
}
void ref_mad_wide(const LaneArgs& a) { put(a, static_cast<uint64_t>(product(a)) + a.in[2]); }

/// Product of the low 24 bits: 48 bits, of which .lo takes the low 32 and .hi the high 32.
uint64_t product24(const LaneArgs& a) {
  const auto v = [&](int i) -> int64_t {
    const uint64_t bits = a.in[static_cast<size_t>(i)] & 0xffffff;
    return is_signed(a.instr) ? as_signed(bits, 24) : static_cast<int64_t>(bits);
  };
  const auto p = static_cast<uint64_t>(v(0) * v(1));
  return a.instr.has("hi") ? p >> 16 : p;
}
void ref_mul24(const LaneArgs& a) { put(a, product24(a)); }
void ref_mad24(const LaneArgs& a) {
  const uint64_t p = product24(a);
  if (a.instr.has("sat"))
    put(a, low(clamp_s32(S128{as_signed(p, 32)} + as_signed(a.in[2], 32))));
  else
    put(a, p + a.in[2]);
}

void ref_sad(const LaneArgs& a) {
  const S128 x = value(a, 0), y = value(a, 1);
  put(a, a.in[2] + low(x < y ? y - x : x - y));
}
void ref_div(const LaneArgs& a) { put(a, a.in[1] == 0 ? ~uint64_t{0} : low(value(a, 0) / value(a, 1))); }
void ref_rem(const LaneArgs& a) { put(a, a.in[1] == 0 ? ~uint64_t{0} : low(value(a, 0) % value(a, 1))); }
void ref_abs(const LaneArgs& a) { put(a, low(value(a, 0) < 0 ? -value(a, 0) : value(a, 0))); }
void ref_neg(const LaneArgs& a) { put(a, uint64_t{0} - a.in[0]); }
void ref_min(const LaneArgs& a) {
  const S128 least = std::min(value(a, 0), value(a, 1));
  put(a, low(a.instr.has("relu") ? std::max<S128>(least, 0) : least));
}
void ref_max(const LaneArgs& a) {
  const S128 most = std::max(value(a, 0), value(a, 1));
  put(a, low(a.instr.has("relu") ? std::max<S128>(most, 0) : most));
}
template <bool kMax>
void ref_minmax_x2(const LaneArgs& a) {
  const bool sign = a.instr.type() == Type::kS16x2, relu = a.instr.has("relu");
  const auto pick = [&](uint16_t x, uint16_t y, uint16_t) {
    const int64_t u = sign ? as_signed(x, 16) : x, v = sign ? as_signed(y, 16) : y;
    const int64_t r = kMax ? std::max(u, v) : std::min(u, v);
    return static_cast<uint16_t>(relu ? std::max<int64_t>(r, 0) : r);
  };
  put(a, each_half(pick, a.in[0], a.in[1]));
}

/// Sum of the products of `count` pairs of bytes or halves.
int64_t element(uint64_t v, int index, unsigned bits, bool sign) {
  const uint64_t e = (v >> (bits * static_cast<unsigned>(index))) & low_bits(bits);
  return sign ? as_signed(e, bits) : static_cast<int64_t>(e);
}
void ref_dp4a(const LaneArgs& a) {
  const bool sa = a.instr.type("atype") == Type::kS32, sb = a.instr.type("btype") == Type::kS32;
  int64_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += element(a.in[0], i, 8, sa) * element(a.in[1], i, 8, sb);
  put(a, a.in[2] + static_cast<uint64_t>(sum));
}
void ref_dp2a(const LaneArgs& a) {
  const bool sa = a.instr.type("atype") == Type::kS32, sb = a.instr.type("btype") == Type::kS32;
  const int first = a.instr.has("hi") ? 2 : 0;
  int64_t sum = 0;
  for (int i = 0; i < 2; ++i) sum += element(a.in[0], i, 16, sa) * element(a.in[1], first + i, 8, sb);
  put(a, a.in[2] + static_cast<uint64_t>(sum));
}

// --- lowerings
void lower_add_sat(LaneBuilder& b, const Instr& in) {
  b.set(0, in.has("sat") ? b.add_sat(b.src(1), b.src(2)) : b.add(b.src(1), b.src(2)));
}
void lower_sub_sat(LaneBuilder& b, const Instr& in) {
  b.set(0, in.has("sat") ? b.sub_sat(b.src(1), b.src(2)) : b.sub(b.src(1), b.src(2)));
}
LaneValue widen(LaneBuilder& b, LaneValue v, Elem to, bool sign) { return sign ? b.sext(v, to) : b.zext(v, to); }
Elem twice(Elem e) { return e == Elem::kI16 ? Elem::kI32 : Elem::kI64; }

/// High half of a 64 x 64 product from four 32 x 32 products: no vector unit has 128-bit lanes.
LaneValue mul_hi_64(LaneBuilder& b, LaneValue x, LaneValue y, bool sign) {
  const LaneValue mask = b.constant(Elem::kI64, 0xffffffff), half = b.i32(32);
  const LaneValue xl = b.and_(x, mask), xh = b.lshr(x, half), yl = b.and_(y, mask), yh = b.lshr(y, half);
  const LaneValue ll = b.mul(xl, yl), hl = b.mul(xh, yl), lh = b.mul(xl, yh), hh = b.mul(xh, yh);
  const LaneValue middle = b.add(b.add(b.lshr(ll, half), b.and_(hl, mask)), b.and_(lh, mask));
  LaneValue high = b.add(b.add(hh, b.lshr(hl, half)), b.add(b.lshr(lh, half), b.lshr(middle, half)));
  if (sign) {  // a negative factor counts 2^64 too much of the other one
    const LaneValue top = b.i32(63);
    high = b.sub(high, b.and_(b.ashr(x, top), y));
    high = b.sub(high, b.and_(b.ashr(y, top), x));
  }
  return high;
}
LaneValue mul_hi(LaneBuilder& b, LaneValue x, LaneValue y, bool sign) {
  if (x.elem == Elem::kI64) return mul_hi_64(b, x, y, sign);
  const Elem wide = twice(x.elem);
  const LaneValue p = b.mul(widen(b, x, wide, sign), widen(b, y, wide, sign));
  return b.trunc(b.lshr(p, b.i32(codegen::bits_of(x.elem))), x.elem);
}
LaneValue mul_wide(LaneBuilder& b, const Instr& in) {
  const LaneValue x = b.src(1), y = b.src(2);
  const Elem wide = twice(x.elem);
  return b.mul(widen(b, x, wide, is_signed(in)), widen(b, y, wide, is_signed(in)));
}
void lower_mul_hi(LaneBuilder& b, const Instr& in) { b.set(0, mul_hi(b, b.src(1), b.src(2), is_signed(in))); }
void lower_mul_wide(LaneBuilder& b, const Instr& in) { b.set(0, mul_wide(b, in)); }
void lower_mad_lo(LaneBuilder& b, const Instr&) { b.set(0, b.add(b.mul(b.src(1), b.src(2)), b.src(3))); }
void lower_mad_hi(LaneBuilder& b, const Instr& in) {
  const LaneValue high = mul_hi(b, b.src(1), b.src(2), is_signed(in));
  b.set(0, in.has("sat") ? b.add_sat(high, b.src(3)) : b.add(high, b.src(3)));
}
void lower_mad_wide(LaneBuilder& b, const Instr& in) { b.set(0, b.add(mul_wide(b, in), b.src(3))); }

LaneValue product24(LaneBuilder& b, const Instr& in) {
  const auto part = [&](int i) {
    const LaneValue v = b.shl(b.src(i), b.i32(8));
    return is_signed(in) ? b.ashr(v, b.i32(8)) : b.lshr(v, b.i32(8));
  };
  if (!in.has("hi")) return b.mul(part(1), part(2));
  const LaneValue p = b.mul(widen(b, part(1), Elem::kI64, is_signed(in)), widen(b, part(2), Elem::kI64, is_signed(in)));
  return b.trunc(b.lshr(p, b.i32(16)), Elem::kI32);
}
void lower_mul24(LaneBuilder& b, const Instr& in) { b.set(0, product24(b, in)); }
void lower_mad24(LaneBuilder& b, const Instr& in) {
  const LaneValue p = product24(b, in);
  b.set(0, in.has("sat") ? b.add_sat(p, b.src(3)) : b.add(p, b.src(3)));
}
void lower_sad(LaneBuilder& b, const Instr& in) {
  const LaneValue x = b.src(1), y = b.src(2);
  b.set(0, b.add(b.src(3), b.sub(b.max(x, y, is_signed(in)), b.min(x, y, is_signed(in)))));
}
void lower_div(LaneBuilder& b, const Instr& in) { b.set(0, b.div(b.src(1), b.src(2), is_signed(in))); }
void lower_rem(LaneBuilder& b, const Instr& in) { b.set(0, b.rem(b.src(1), b.src(2), is_signed(in))); }
void lower_abs(LaneBuilder& b, const Instr&) { b.set(0, b.max(b.src(1), b.neg(b.src(1)), true)); }
void lower_neg(LaneBuilder& b, const Instr&) { b.set(0, b.neg(b.src(1))); }
template <bool kMax>
void lower_minmax(LaneBuilder& b, const Instr& in) {
  const LaneValue x = b.src(1), y = b.src(2);
  LaneValue r = kMax ? b.max(x, y, is_signed(in)) : b.min(x, y, is_signed(in));
  if (in.has("relu")) r = b.max(r, b.constant(r.elem, 0), true);
  b.set(0, r);
}
/// A 16-bit operation on both halves of packed operands.
template <typename F>
void lower_halves(LaneBuilder& b, F&& f) {
  const LaneValue x = b.src(1), y = b.src(2);
  b.set(0, join_halves(b, f(low_half(b, x, Elem::kI16), low_half(b, y, Elem::kI16)),
                       f(high_half(b, x, Elem::kI16), high_half(b, y, Elem::kI16))));
}
void lower_add_x2(LaneBuilder& b, const Instr&) {
  lower_halves(b, [&](LaneValue x, LaneValue y) { return b.add(x, y); });
}
template <bool kMax>
void lower_minmax_x2(LaneBuilder& b, const Instr& in) {
  const bool sign = in.type() == Type::kS16x2;
  lower_halves(b, [&](LaneValue x, LaneValue y) {
    const LaneValue r = kMax ? b.max(x, y, sign) : b.min(x, y, sign);
    return in.has("relu") ? b.max(r, b.constant(r.elem, 0), true) : r;
  });
}

LaneValue element(LaneBuilder& b, LaneValue v, int index, unsigned bits, bool sign) {
  const LaneValue up = b.shl(v, b.i32(32 - bits * static_cast<unsigned>(index + 1)));
  return sign ? b.ashr(up, b.i32(32 - bits)) : b.lshr(up, b.i32(32 - bits));
}
void lower_dp4a(LaneBuilder& b, const Instr& in) {
  const bool sa = in.type("atype") == Type::kS32, sb = in.type("btype") == Type::kS32;
  const LaneValue x = b.src(1), y = b.src(2);
  LaneValue sum = b.src(3);
  for (int i = 0; i < 4; ++i) sum = b.add(sum, b.mul(element(b, x, i, 8, sa), element(b, y, i, 8, sb)));
  b.set(0, sum);
}
void lower_dp2a(LaneBuilder& b, const Instr& in) {
  const bool sa = in.type("atype") == Type::kS32, sb = in.type("btype") == Type::kS32;
  const int first = in.has("hi") ? 2 : 0;
  const LaneValue x = b.src(1), y = b.src(2);
  LaneValue sum = b.src(3);
  for (int i = 0; i < 2; ++i) sum = b.add(sum, b.mul(element(b, x, i, 16, sa), element(b, y, first + i, 8, sb)));
  b.set(0, sum);
}

#define WL_SECTION "Integer Arithmetic Instructions: "
constexpr OpDef kRows[] = {
    {.form = "add.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s64}",
     .spec = {WL_SECTION "add", 1, 0, 10},
     .reference = {.lane = ref_add},
     .lower = lower_binary<&LaneBuilder::add>},
    {.form = "add{.sat}.type d, a, b; .type = {.s32}",
     .spec = {WL_SECTION "add", 1, 0, 10},
     .reference = {.lane = ref_add_sat},
     .lower = lower_add_sat},
    {.form = "add.type d, a, b; .type = {.u16x2, .s16x2}",
     .spec = {WL_SECTION "add", 8, 0, 90},
     .reference = {.lane = ref_add_x2},
     .lower = lower_add_x2},
    {.form = "sub.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s64}",
     .spec = {WL_SECTION "sub", 1, 0, 10},
     .reference = {.lane = ref_sub},
     .lower = lower_binary<&LaneBuilder::sub>},
    {.form = "sub{.sat}.type d, a, b; .type = {.s32}",
     .spec = {WL_SECTION "sub", 1, 0, 10},
     .reference = {.lane = ref_sub_sat},
     .lower = lower_sub_sat},
    {.form = "mul.lo.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64}",
     .spec = {WL_SECTION "mul", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mul_lo},
     .lower = lower_binary<&LaneBuilder::mul>},
    {.form = "mul.hi.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64}",
     .spec = {WL_SECTION "mul", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mul_hi},
     .lower = lower_mul_hi},
    {.form = "mul.wide.type d:u32, a, b; .type = {.u16}",
     .spec = {WL_SECTION "mul", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mul_wide},
     .lower = lower_mul_wide},
    {.form = "mul.wide.type d:s32, a, b; .type = {.s16}",
     .spec = {WL_SECTION "mul", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mul_wide},
     .lower = lower_mul_wide},
    {.form = "mul.wide.type d:u64, a, b; .type = {.u32}",
     .spec = {WL_SECTION "mul", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mul_wide},
     .lower = lower_mul_wide},
    {.form = "mul.wide.type d:s64, a, b; .type = {.s32}",
     .spec = {WL_SECTION "mul", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mul_wide},
     .lower = lower_mul_wide},
    {.form = "mad.lo.type d, a, b, c; .type = {.u16, .u32, .u64, .s16, .s32, .s64}",
     .spec = {WL_SECTION "mad", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad_lo},
     .lower = lower_mad_lo},
    {.form = "mad.hi.type d, a, b, c; .type = {.u16, .u32, .u64, .s16, .s32, .s64}",
     .spec = {WL_SECTION "mad", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad_hi},
     .lower = lower_mad_hi},
    {.form = "mad.hi.sat.type d, a, b, c; .type = {.s32}",
     .spec = {WL_SECTION "mad", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad_hi_sat},
     .lower = lower_mad_hi},
    {.form = "mad.wide.type d:u32, a, b, c:u32; .type = {.u16}",
     .spec = {WL_SECTION "mad", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad_wide},
     .lower = lower_mad_wide},
    {.form = "mad.wide.type d:s32, a, b, c:s32; .type = {.s16}",
     .spec = {WL_SECTION "mad", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad_wide},
     .lower = lower_mad_wide},
    {.form = "mad.wide.type d:u64, a, b, c:u64; .type = {.u32}",
     .spec = {WL_SECTION "mad", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad_wide},
     .lower = lower_mad_wide},
    {.form = "mad.wide.type d:s64, a, b, c:s64; .type = {.s32}",
     .spec = {WL_SECTION "mad", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad_wide},
     .lower = lower_mad_wide},
    {.form = "mul24.mode.type d, a, b; .mode = {.hi, .lo}; .type = {.u32, .s32}",
     .spec = {WL_SECTION "mul24", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mul24},
     .lower = lower_mul24},
    {.form = "mad24.mode.type d, a, b, c; .mode = {.hi, .lo}; .type = {.u32, .s32}",
     .spec = {WL_SECTION "mad24", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad24},
     .lower = lower_mad24},
    {.form = "mad24.hi.sat.type d, a, b, c; .type = {.s32}",
     .spec = {WL_SECTION "mad24", 1, 0, 10},
     .pipe = Pipe::kFma,
     .reference = {.lane = ref_mad24},
     .lower = lower_mad24},
    {.form = "sad.type d, a, b, c; .type = {.u16, .u32, .u64, .s16, .s32, .s64}",
     .spec = {WL_SECTION "sad", 1, 0, 10},
     .reference = {.lane = ref_sad},
     .lower = lower_sad},
    {.form = "div.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64}",
     .spec = {WL_SECTION "div", 1, 0, 10},
     .reference = {.lane = ref_div},
     .lower = lower_div},
    {.form = "rem.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64}",
     .spec = {WL_SECTION "rem", 1, 0, 10},
     .reference = {.lane = ref_rem},
     .lower = lower_rem},
    {.form = "abs.type d, a; .type = {.s16, .s32, .s64}",
     .spec = {WL_SECTION "abs", 1, 0, 10},
     .reference = {.lane = ref_abs},
     .lower = lower_abs},
    {.form = "neg.type d, a; .type = {.s16, .s32, .s64}",
     .spec = {WL_SECTION "neg", 1, 0, 10},
     .reference = {.lane = ref_neg},
     .lower = lower_neg},
    {.form = "min.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s64}",
     .spec = {WL_SECTION "min", 1, 0, 10},
     .reference = {.lane = ref_min},
     .lower = lower_minmax<false>},
    {.form = "min{.relu}.type d, a, b; .type = {.s32}",
     .spec = {WL_SECTION "min", 1, 0, 10},
     .reference = {.lane = ref_min},
     .lower = lower_minmax<false>},
    {.form = "min.type d, a, b; .type = {.u16x2}",
     .spec = {WL_SECTION "min", 8, 0, 90},
     .reference = {.lane = ref_minmax_x2<false>},
     .lower = lower_minmax_x2<false>},
    {.form = "min{.relu}.type d, a, b; .type = {.s16x2}",
     .spec = {WL_SECTION "min", 8, 0, 90},
     .reference = {.lane = ref_minmax_x2<false>},
     .lower = lower_minmax_x2<false>},
    {.form = "max.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s64}",
     .spec = {WL_SECTION "max", 1, 0, 10},
     .reference = {.lane = ref_max},
     .lower = lower_minmax<true>},
    {.form = "max{.relu}.type d, a, b; .type = {.s32}",
     .spec = {WL_SECTION "max", 1, 0, 10},
     .reference = {.lane = ref_max},
     .lower = lower_minmax<true>},
    {.form = "max.type d, a, b; .type = {.u16x2}",
     .spec = {WL_SECTION "max", 8, 0, 90},
     .reference = {.lane = ref_minmax_x2<true>},
     .lower = lower_minmax_x2<true>},
    {.form = "max{.relu}.type d, a, b; .type = {.s16x2}",
     .spec = {WL_SECTION "max", 8, 0, 90},
     .reference = {.lane = ref_minmax_x2<true>},
     .lower = lower_minmax_x2<true>},
    {.form = "dp4a.atype.btype d:b32, a:atype, b:btype, c:b32; .atype = .btype = {.u32, .s32}",
     .spec = {WL_SECTION "dp4a", 5, 0, 61},
     .reference = {.lane = ref_dp4a},
     .lower = lower_dp4a},
    {.form = "dp2a.mode.atype.btype d:b32, a:atype, b:btype, c:b32; .atype = .btype = {.u32, .s32}; .mode = {.lo, .hi}",
     .spec = {WL_SECTION "dp2a", 5, 0, 61},
     .reference = {.lane = ref_dp2a},
     .lower = lower_dp2a},
};
#undef WL_SECTION

}  // namespace

Chapter integer_chapter() { return kRows; }

}  // namespace warplens::ops
