// SPDX-License-Identifier: Apache-2.0
#include "session/fill.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/bits.h"
#include "base/check.h"

namespace warplens::session {
namespace {

/// Output number `index` + 1 of splitmix64 (Steele, Lea, Flood 2014) from state `seed`.
uint64_t random_bits(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

constexpr double kPower53 = 9007199254740992.0;

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(at, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

template <typename Number>
bool read_number(std::string_view text, Number& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

/// Whether both ends of the range are values of the type, so that every draw is one.
bool range_fits(ElementType type, double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) return false;
  if (kind_of(type) == 'f') return true;
  if (low != std::floor(low) || high != std::floor(high)) return false;
  const unsigned bits = type == ElementType::kBool ? 1 : 8 * bytes_of(type);
  const double above = std::ldexp(1.0, static_cast<int>(kind_of(type) == 'i' ? bits - 1 : bits));
  return low >= (kind_of(type) == 'i' ? -above : 0) && high <= above;
}

Result<Fill> parse_random(std::string_view text, ElementType type, const std::string& what) {
  const auto parts = split(text, ':');
  Fill fill{.kind = Fill::Kind::kRandom};
  if (kind_of(type) == 'b') fill.high = 2;
  if (kind_of(type) == 'i' || kind_of(type) == 'u') fill.high = 100;
  const Diagnostic wrong =
      make_error(fmt::format("{}: '{}' is not a random fill", what, text),
                 "random:SEED or random:SEED:LOW:HIGH, with a whole SEED and LOW < HIGH that fit the type");
  if (parts[0] != "random" || parts.size() == 3 || parts.size() > 4) return wrong;
  if (parts.size() > 1 && !read_number(parts[1], fill.seed)) return wrong;
  if (parts.size() == 4) {
    if (!read_number(parts[2], fill.low) || !read_number(parts[3], fill.high)) return wrong;
    if (!range_fits(type, fill.low, fill.high)) return wrong;
  }
  return fill;
}

uint64_t random_element(ElementType type, const Fill& fill, uint64_t index) {
  const double unit = static_cast<double>(random_bits(fill.seed, index) >> 11) / kPower53;
  const double value = fill.low + unit * (fill.high - fill.low);
  return bits_of(type, kind_of(type) == 'f' ? value : std::floor(value));
}

}  // namespace

Result<Fill> parse_fill(std::string_view text, ElementType type, const std::string& what) {
  if (text == "zeros") return Fill{};
  if (text == "ones") return Fill{.kind = Fill::Kind::kOnes};
  if (text == "iota" || text == "arange") return Fill{.kind = Fill::Kind::kIota};
  if (text == "poison") return Fill{.kind = Fill::Kind::kPoison};
  if (text.starts_with("random")) return parse_random(text, type, what);
  const bool number = !text.empty() && (std::strchr("+-.0123456789", text[0]) != nullptr || text == "inf" ||
                                        text == "nan" || text == "true" || text == "false");
  if (!number)
    return make_error(fmt::format("{}: unknown fill '{}'", what, text),
                      "zeros, ones, iota, random:SEED, random:SEED:LOW:HIGH, poison, or a number");
  const auto bits = bits_of(type, text, what);
  if (!bits) return bits.error();
  return Fill{.kind = Fill::Kind::kConstant, .bits = *bits};
}

Array make_array(ElementType type, std::vector<uint64_t> shape, const Fill& fill) {
  const auto count = count_of(type, shape);
  WL_CHECK(count.has_value());
  const unsigned bytes = bytes_of(type);
  Array array{type, std::move(shape), std::vector<uint8_t>(*count * bytes)};
  if (fill.kind == Fill::Kind::kZeros) return array;
  for (uint64_t i = 0; i < *count; ++i) {
    uint64_t bits = 0;
    switch (fill.kind) {
      case Fill::Kind::kZeros: break;
      case Fill::Kind::kOnes: bits = bits_of(type, 1.0); break;
      case Fill::Kind::kIota:
        if (kind_of(type) == 'f')
          bits = bits_of(type, static_cast<double>(i));
        else
          bits = type == ElementType::kBool ? i & 1 : i;
        break;
      case Fill::Kind::kRandom: bits = random_element(type, fill, i); break;
      case Fill::Kind::kConstant: bits = fill.bits; break;
      case Fill::Kind::kPoison: bits = ~uint64_t{0}; break;
    }
    std::memcpy(array.bytes.data() + i * bytes, &bits, bytes);
  }
  return array;
}

}  // namespace warplens::session
