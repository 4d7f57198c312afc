// SPDX-License-Identifier: Apache-2.0
// Constants as PTX writes them (manual section "Constants"): 64-bit integers, signed unless they have the suffix U or
// do not fit; floats in decimal or as bit patterns; and what becomes of them when an operand or initialiser has a type.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "ptx/types.h"

namespace warplens::ptx {

struct Constant {
  enum class Kind : uint8_t { kSigned, kUnsigned, kSingle, kDouble };
  Kind kind = Kind::kSigned;
  uint64_t bits = 0;  ///< of an int64_t, uint64_t, float (in the low half) or double

  bool is_integer() const { return kind == Kind::kSigned || kind == Kind::kUnsigned; }
  double as_double() const;  ///< value, whatever the kind
  static Constant of(int64_t v) { return {Kind::kSigned, static_cast<uint64_t>(v)}; }
  static Constant of_unsigned(uint64_t v) { return {Kind::kUnsigned, v}; }
  static Constant of_double(double v);
};

/// The number with that spelling: "12", "0x1fU", "017", "0b101", "1.5e3", "0f3F800000", "0d3FF0000000000000".
std::optional<Constant> parse_number(std::string_view text);

/// The raw bits of the constant as a value of `type`: integers are truncated to its width, floats are rounded to it.
/// Nothing when PTX has no such conversion (a float for an integer type, an integer for f32 and f64).
/// Untyped bits take both: a float for b32 is its single-precision pattern, for b64 the double one.
std::optional<uint64_t> convert(const Constant& c, Type type);

}  // namespace warplens::ptx
