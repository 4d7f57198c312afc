// SPDX-License-Identifier: Apache-2.0
// Exact floating-point arithmetic in 128-bit integers; float_format.h says what for.
#include "ops/float_format.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace warplens::ops {

namespace {

/// Position of the highest set bit; `v` is not 0.
int top_bit(Wide v) {
  const auto high = static_cast<uint64_t>(v >> 64);
  return high != 0 ? 127 - std::countl_zero(high) : 63 - std::countl_zero(static_cast<uint64_t>(v));
}

/// v >> n with everything shifted out kept as a sticky lowest bit.
Wide shift_right_sticky(Wide v, int n) {
  if (n <= 0) return v;
  if (n >= 128) return v != 0 ? 1 : 0;
  return (v >> n) | static_cast<Wide>((v & ((Wide{1} << n) - 1)) != 0);
}

struct Split {
  Wide quotient = 0;
  int tail = 0;  ///< what was cut off: 0 nothing, 1 less than half a unit, 2 half, 3 more
};
Split split(Wide v, int n) {
  if (n <= 0) return {v << -n, 0};
  if (n > 128) return {0, v != 0 ? 1 : 0};
  const Wide half = Wide{1} << (n - 1);
  const Wide rest = n == 128 ? v : v & ((Wide{1} << n) - 1);
  return {n == 128 ? 0 : v >> n, rest == 0 ? 0 : rest < half ? 1 : rest == half ? 2 : 3};
}

bool rounds_up(const Split& s, bool negative, Rounding r) {
  switch (r) {
    case Rounding::kNearestEven: return s.tail == 3 || (s.tail == 2 && (s.quotient & 1) != 0);
    case Rounding::kZero: return false;
    case Rounding::kMinusInf: return negative && s.tail != 0;
    case Rounding::kPlusInf: return !negative && s.tail != 0;
  }
  return false;
}

/// Position of the last place that the format keeps of `n`, as a shift of the mantissa.
int last_place(const FloatFormat& f, const Number& n) {
  return std::max(top_bit(n.mantissa) + n.exponent - f.mantissa_bits, f.least_exponent()) - n.exponent;
}
/// Encodes quotient x 2^exponent; a carry out of the mantissa falls into the exponent field by itself.
uint64_t encode(const FloatFormat& f, Wide quotient, int exponent) {
  return (static_cast<uint64_t>(exponent - f.least_exponent()) << f.mantissa_bits) + static_cast<uint64_t>(quotient);
}

bool overflows_to_infinity(bool negative, Rounding r) {
  return r == Rounding::kNearestEven || r == (negative ? Rounding::kMinusInf : Rounding::kPlusInf);
}

Number nan() { return {NumberKind::kNan, false, 0, 0}; }
Number zero(bool negative) { return {NumberKind::kZero, negative, 0, 0}; }

}  // namespace

const FloatFormat& format_of(ptx::Type t) {
  switch (t) {
    case ptx::Type::kF16:
    case ptx::Type::kF16x2: return kF16;
    case ptx::Type::kBF16:
    case ptx::Type::kBF16x2: return kBF16;
    case ptx::Type::kTF32: return kTF32;
    case ptx::Type::kE4M3:
    case ptx::Type::kE4M3x2: return kE4M3;
    case ptx::Type::kE5M2:
    case ptx::Type::kE5M2x2: return kE5M2;
    case ptx::Type::kF64: return kF64;
    default: break;
  }
  WL_CHECK(t == ptx::Type::kF32 || t == ptx::Type::kF32x2, "no float format for .{}", ptx::name_of(t));
  return kF32;
}

Number unpack(const FloatFormat& f, uint64_t bits) {
  Number n;
  n.negative = (bits & f.sign_bit()) != 0;
  const uint64_t magnitude = bits & (f.sign_bit() - 1);
  if (magnitude == 0) return n;
  if (is_nan(f, bits)) return {NumberKind::kNan, n.negative, 0, 0};
  if (f.has_infinity && magnitude == f.infinity()) {
    n.kind = NumberKind::kInfinite;
    return n;
  }
  n.kind = NumberKind::kFinite;
  const uint64_t field = magnitude >> f.mantissa_bits;
  const uint64_t fraction = magnitude & ((uint64_t{1} << f.mantissa_bits) - 1);
  n.mantissa = field == 0 ? fraction : fraction | (uint64_t{1} << f.mantissa_bits);
  n.exponent = f.least_exponent() + static_cast<int>(field == 0 ? 0 : field - 1);
  return n;
}

Number from_integer(bool negative, uint64_t magnitude) {
  if (magnitude == 0) return zero(false);
  return {NumberKind::kFinite, negative, magnitude, 0};
}

uint64_t pack(const FloatFormat& f, const Number& n, Rounding r, Overflow o) {
  const uint64_t sign = n.negative ? f.sign_bit() : 0;
  switch (n.kind) {
    case NumberKind::kNan: return f.canonical_nan;
    case NumberKind::kZero: return sign;
    case NumberKind::kInfinite: return sign | (o == Overflow::kSaturate ? f.largest() : f.infinity());
    case NumberKind::kFinite: break;
  }
  const int shift = last_place(f, n);
  const Split s = split(n.mantissa, shift);
  const uint64_t bits = encode(f, s.quotient + (rounds_up(s, n.negative, r) ? 1 : 0), n.exponent + shift);
  if (bits <= f.largest()) return sign | bits;
  const bool infinite = o == Overflow::kInfinity && f.has_infinity && overflows_to_infinity(n.negative, r);
  return sign | (infinite ? f.infinity() : f.largest());
}

uint64_t pack_flushing(const FloatFormat& f, const Number& n, Rounding r) {
  if (n.kind == NumberKind::kFinite) {
    const int shift = top_bit(n.mantissa) - f.mantissa_bits;
    const Split s = split(n.mantissa, shift);
    const Wide rounded = s.quotient + (rounds_up(s, n.negative, r) ? 1 : 0);
    if (top_bit(rounded) + shift + n.exponent < f.least_exponent() + f.mantissa_bits)
      return n.negative ? f.sign_bit() : 0;
  }
  return pack(f, n, r);
}

uint64_t pack_ties_away(const FloatFormat& f, const Number& n) {
  if (n.kind != NumberKind::kFinite) return pack(f, n, Rounding::kNearestEven);
  const int shift = last_place(f, n);
  const Split s = split(n.mantissa, shift);
  const uint64_t bits = encode(f, s.quotient + (s.tail >= 2 ? 1 : 0), n.exponent + shift);
  return (n.negative ? f.sign_bit() : 0) | std::min(bits, f.infinity());
}

Number add(const Number& a, const Number& b, Rounding r) {
  if (a.kind == NumberKind::kNan || b.kind == NumberKind::kNan) return nan();
  if (a.kind == NumberKind::kInfinite || b.kind == NumberKind::kInfinite) {
    if (a.kind == b.kind && a.negative != b.negative) return nan();
    return a.kind == NumberKind::kInfinite ? a : b;
  }
  const bool zero_sign = a.negative == b.negative ? a.negative : r == Rounding::kMinusInf;
  if (a.kind == NumberKind::kZero) return b.kind == NumberKind::kZero ? zero(zero_sign) : b;
  if (b.kind == NumberKind::kZero) return a;
  const int top_a = top_bit(a.mantissa) + a.exponent, top_b = top_bit(b.mantissa) + b.exponent;
  const Number& large = top_a >= top_b ? a : b;
  const Number& small = top_a >= top_b ? b : a;
  // The larger one's highest bit goes to bit 125, which leaves room for the carry; the smaller one is aligned below it.
  constexpr int kTop = 125;
  const int exponent = std::max(top_a, top_b) - kTop;
  const Wide x = large.mantissa << (large.exponent - exponent);
  const int down = exponent - small.exponent;
  const Wide y = down <= 0 ? small.mantissa << -down : shift_right_sticky(small.mantissa, down);
  if (large.negative == small.negative) return {NumberKind::kFinite, large.negative, x + y, exponent};
  if (x == y) return zero(zero_sign);
  const bool flipped = y > x;
  return {NumberKind::kFinite, large.negative != flipped, flipped ? y - x : x - y, exponent};
}

Number mul(const Number& a, const Number& b) {
  if (a.kind == NumberKind::kNan || b.kind == NumberKind::kNan) return nan();
  const bool negative = a.negative != b.negative;
  const bool infinite = a.kind == NumberKind::kInfinite || b.kind == NumberKind::kInfinite;
  if (a.kind == NumberKind::kZero || b.kind == NumberKind::kZero) return infinite ? nan() : zero(negative);
  if (infinite) return {NumberKind::kInfinite, negative, 0, 0};
  return {NumberKind::kFinite, negative, a.mantissa * b.mantissa, a.exponent + b.exponent};
}

Number div(const Number& a, const Number& b) {
  if (a.kind == NumberKind::kNan || b.kind == NumberKind::kNan) return nan();
  const bool negative = a.negative != b.negative;
  if (a.kind == b.kind && a.kind != NumberKind::kFinite) return nan();  // 0/0, inf/inf
  if (a.kind == NumberKind::kInfinite || b.kind == NumberKind::kZero) return {NumberKind::kInfinite, negative, 0, 0};
  if (a.kind == NumberKind::kZero || b.kind == NumberKind::kInfinite) return zero(negative);
  const int up = 126 - top_bit(a.mantissa);
  const Wide numerator = a.mantissa << up;
  Wide quotient = numerator / b.mantissa;  // at least 126 - 52 bits
  if (numerator % b.mantissa != 0) quotient |= 1;
  return {NumberKind::kFinite, negative, quotient, a.exponent - up - b.exponent};
}

Number sqrt(const Number& a) {
  if (a.kind == NumberKind::kNan || a.kind == NumberKind::kZero) return a;
  if (a.negative) return nan();
  if (a.kind == NumberKind::kInfinite) return a;
  int up = 124 - top_bit(a.mantissa);
  if ((a.exponent - up) % 2 != 0) ++up;
  const Wide target = a.mantissa << up;
  Wide root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Wide next = root | (Wide{1} << bit);
    if (next * next <= target) root = next;
  }
  const bool exact = root * root == target;
  return {NumberKind::kFinite, false, (root << 1) | (exact ? 0 : 1), (a.exponent - up) / 2 - 1};
}

Number round_to_integer(const Number& a, Rounding r) {
  if (a.kind != NumberKind::kFinite || a.exponent >= 0) return a;
  const Split s = split(a.mantissa, -a.exponent);
  const Wide whole = s.quotient + (rounds_up(s, a.negative, r) ? 1 : 0);
  if (whole == 0) return zero(a.negative);
  return {NumberKind::kFinite, a.negative, whole, 0};
}

uint64_t flush_subnormal(const FloatFormat& f, uint64_t bits) {
  return (bits & f.infinity()) == 0 ? bits & f.sign_bit() : bits;
}

bool is_nan(const FloatFormat& f, uint64_t bits) {
  const uint64_t magnitude = bits & (f.sign_bit() - 1);
  return f.has_infinity ? magnitude > f.infinity() : magnitude == f.sign_bit() - 1;
}

}  // namespace warplens::ops
