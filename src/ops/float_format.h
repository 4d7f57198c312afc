// SPDX-License-Identifier: Apache-2.0
// Exact arithmetic on floating-point numbers of any format, in integers: what the references of the float, half and
// convert chapters compute with. A Number is sign x mantissa x 2^exponent; sums and products are exact, or keep a
// sticky lowest bit far below every format's precision; pack() then rounds once, in the mode asked for. That is IEEE
// 754's definition taken literally, so there is nothing here to be subtle about, and no dependence on the host's
// rounding mode.
#pragma once
#include <cstdint>

#include "codegen/lane_builder.h"
#include "ptx/types.h"

namespace warplens::ops {

using codegen::Rounding;
using Wide = unsigned __int128;

/// An IEEE-like format. e4m3 has no infinity: its largest exponent holds numbers, and all ones is its NaN.
struct FloatFormat {
  int exponent_bits = 0, mantissa_bits = 0;
  bool has_infinity = true;
  uint64_t canonical_nan = 0;  ///< what an operation that invents a NaN writes [measured on an H200]
  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// Exponent of the last place of subnormal numbers.
  constexpr int least_exponent() const { return 1 - bias() - mantissa_bits; }
  constexpr uint64_t infinity() const { return ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits; }
  constexpr uint64_t largest() const { return has_infinity ? infinity() - 1 : (uint64_t{1} << (bits() - 1)) - 2; }
  constexpr uint64_t sign_bit() const { return uint64_t{1} << (bits() - 1); }
};
inline constexpr FloatFormat kF16{5, 10, true, 0x7fff};
inline constexpr FloatFormat kBF16{8, 7, true, 0x7fff};
inline constexpr FloatFormat kTF32{8, 10, true, 0x3ffff};  // as 19 bits; in a register they are the upper ones of 32
inline constexpr FloatFormat kE4M3{4, 3, false, 0x7f};
inline constexpr FloatFormat kE5M2{5, 2, true, 0x7f};
inline constexpr FloatFormat kF32{8, 23, true, 0x7fffffff};
inline constexpr FloatFormat kF64{11, 52, true, 0xfff8000000000000};
/// Format of a type; of the halves of a packed one.
const FloatFormat& format_of(ptx::Type t);

enum class NumberKind : uint8_t { kZero, kFinite, kInfinite, kNan };
struct Number {
  NumberKind kind = NumberKind::kZero;
  bool negative = false;
  Wide mantissa = 0;
  int exponent = 0;
};

Number unpack(const FloatFormat& f, uint64_t bits);
Number from_integer(bool negative, uint64_t magnitude);

enum class Overflow : uint8_t { kInfinity, kSaturate };
/// Rounds to the format. A NaN becomes the canonical one. kSaturate: the largest finite number instead of infinity.
uint64_t pack(const FloatFormat& f, const Number& n, Rounding r, Overflow o = Overflow::kInfinity);
/// Round to nearest, ties away from zero (cvt.rna).
uint64_t pack_ties_away(const FloatFormat& f, const Number& n);

/// Sum; `r` decides only the sign of an exact zero from operands of opposite sign.
Number add(const Number& a, const Number& b, Rounding r);
Number mul(const Number& a, const Number& b);
Number div(const Number& a, const Number& b);
Number sqrt(const Number& a);
/// The nearest integer in the mode given, as a Number (kZero keeps the sign).
Number round_to_integer(const Number& a, Rounding r);

/// Bits of `bits` with a subnormal replaced by zero of its sign.
uint64_t flush_subnormal(const FloatFormat& f, uint64_t bits);
bool is_nan(const FloatFormat& f, uint64_t bits);
/// The NaN `bits` with its quiet bit set.
constexpr uint64_t quiet(const FloatFormat& f, uint64_t bits) { return bits | uint64_t{1} << (f.mantissa_bits - 1); }
/// Rounds as an instruction with .ftz does: a result that is below the normal numbers when rounded to the format's
/// precision, exponents unbounded, becomes zero of its sign, even if rounding to the subnormal grid would lift it.
/// [measured]
uint64_t pack_flushing(const FloatFormat& f, const Number& n, Rounding r);

}  // namespace warplens::ops
