// SPDX-License-Identifier: Apache-2.0
// See constant.h.
#include "ptx/constant.h"

#include <bit>
#include <charconv>

#include "base/bits.h"

namespace warplens::ptx {
namespace {

std::optional<uint64_t> parse_digits(std::string_view digits, int base) {
  uint64_t v = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), v, base);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return v;
}

std::optional<Constant> parse_float_bits(std::string_view text) {
  const bool single = text[1] == 'f' || text[1] == 'F';
  const auto bits = parse_digits(text.substr(2), 16);
  if (!bits || text.size() != (single ? 10 : 18)) return std::nullopt;
  return Constant{single ? Constant::Kind::kSingle : Constant::Kind::kDouble, *bits};
}

}  // namespace

double Constant::as_double() const {
  switch (kind) {
    case Kind::kSigned: return static_cast<double>(static_cast<int64_t>(bits));
    case Kind::kUnsigned: return static_cast<double>(bits);
    case Kind::kSingle: return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case Kind::kDouble: return std::bit_cast<double>(bits);
  }
  return 0;
}

Constant Constant::of_double(double v) { return {Kind::kDouble, std::bit_cast<uint64_t>(v)}; }

std::optional<Constant> parse_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const char second = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : '\0';
  if (second == 'f' || second == 'd') return parse_float_bits(text);
  const bool hex = second == 'x';
  if (!hex && text.find_first_of(".eE") != std::string_view::npos) {
    double v = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (end != text.data() + text.size() || error != std::errc{}) return std::nullopt;
    return Constant::of_double(v);
  }
  const bool has_suffix = text.back() == 'U' || text.back() == 'u';
  if (has_suffix) text.remove_suffix(1);
  const int base = hex ? 16 : second == 'b' ? 2 : text.size() > 1 && text[0] == '0' ? 8 : 10;
  const auto v = parse_digits(text.substr(base == 16 || base == 2 ? 2 : 0), base);
  if (!v) return std::nullopt;
  const bool is_unsigned = has_suffix || *v > uint64_t{INT64_MAX};
  return is_unsigned ? Constant::of_unsigned(*v) : Constant::of(static_cast<int64_t>(*v));
}

std::optional<uint64_t> convert(const Constant& c, Type type) {
  if (type == Type::kPred) return c.is_integer() ? std::optional<uint64_t>(c.bits != 0) : std::nullopt;
  const unsigned bits = bits_of(type);
  const bool wants_float = type == Type::kF32 || type == Type::kF64;
  if (c.is_integer()) return wants_float || bits == 0 ? std::nullopt : std::optional(c.bits & low_bits(bits));
  if (!wants_float && type != Type::kB32 && type != Type::kB64) return std::nullopt;
  if (bits == 32) {
    // A single's pattern is kept as it is, so that the payload of a NaN survives.
    if (c.kind == Constant::Kind::kSingle) return c.bits;
    return std::bit_cast<uint32_t>(static_cast<float>(c.as_double()));
  }
  return std::bit_cast<uint64_t>(c.as_double());
}

}  // namespace warplens::ptx
