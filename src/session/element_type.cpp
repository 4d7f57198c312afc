// SPDX-License-Identifier: Apache-2.0
#include "session/element_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/bits.h"
#include "ops/float_format.h"

namespace warplens::session {
namespace {

struct Row {
  std::string_view name, npy;
  char kind;
  uint8_t bytes;
};
/// In the enum's order.
constexpr std::array<Row, kElementTypes> kRows = {{{"bool", "|b1", 'b', 1},
                                                   {"i8", "|i1", 'i', 1},
                                                   {"i16", "<i2", 'i', 2},
                                                   {"i32", "<i4", 'i', 4},
                                                   {"i64", "<i8", 'i', 8},
                                                   {"u8", "|u1", 'u', 1},
                                                   {"u16", "<u2", 'u', 2},
                                                   {"u32", "<u4", 'u', 4},
                                                   {"u64", "<u8", 'u', 8},
                                                   {"f16", "<f2", 'f', 2},
                                                   {"bf16", "<V2", 'f', 2},
                                                   {"f32", "<f4", 'f', 4},
                                                   {"f64", "<f8", 'f', 8}}};
const Row& row(ElementType type) { return kRows[static_cast<size_t>(type)]; }

constexpr uint64_t kMostBytes = uint64_t{1} << 40;

const ops::FloatFormat& format_of(ElementType type) {
  switch (type) {
    case ElementType::kF16: return ops::kF16;
    case ElementType::kBF16: return ops::kBF16;
    case ElementType::kF32: return ops::kF32;
    default: return ops::kF64;
  }
}

/// Whole number with sign; base 10, or 16 after 0x. Nothing for anything else, and for more than 64 bits.
struct Integer {
  bool negative = false;
  uint64_t magnitude = 0;
};
std::optional<Integer> parse_integer(std::string_view text) {
  Integer i;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    i.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), i.magnitude, hex ? 16 : 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return i;
}

std::optional<double> parse_double(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size()) return std::nullopt;
  if (error != std::errc()) return std::nullopt;
  return value;
}

bool fits(const Integer& i, bool is_signed, unsigned bits) {
  if (!is_signed) return (!i.negative || i.magnitude == 0) && i.magnitude <= low_bits(bits);
  return i.negative ? i.magnitude <= uint64_t{1} << (bits - 1) : i.magnitude <= low_bits(bits - 1);
}

}  // namespace

char kind_of(ElementType type) { return row(type).kind; }
unsigned bytes_of(ElementType type) { return row(type).bytes; }
std::string_view name_of(ElementType type) { return row(type).name; }
std::string_view npy_name_of(ElementType type) { return row(type).npy; }

std::string element_type_names() {
  std::vector<std::string_view> names;
  for (const Row& r : kRows) names.push_back(r.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<ElementType> element_type(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (kRows[i].name == name) return static_cast<ElementType>(i);
  return std::nullopt;
}

std::optional<ElementType> element_type_of_npy(std::string_view descr) {
  if (descr.empty()) return std::nullopt;
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].npy.substr(1) != descr.substr(1)) continue;
    // The byte order of one byte, or of plain bytes, says nothing; "=" is this machine's, which is little-endian.
    const bool orderless = kRows[i].bytes == 1 || kRows[i].npy[1] == 'V';
    if (descr[0] == '<' || descr[0] == '=' || (orderless && descr[0] == '|')) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}

Result<uint64_t> bits_of(ElementType type, std::string_view text, const std::string& what) {
  const unsigned bits = 8 * bytes_of(type);
  const auto integer = parse_integer(text);
  if (kind_of(type) == 'f') {
    const auto value = parse_double(text);
    if (value) return bits_of(type, *value);
    if (integer) return bits_of(type, static_cast<double>(integer->magnitude) * (integer->negative ? -1 : 1));
    return make_error(fmt::format("{}: '{}' is not a number", what, text));
  }
  if (type == ElementType::kBool) {
    if (text == "true" || text == "1") return uint64_t{1};
    if (text == "false" || text == "0") return uint64_t{0};
    return make_error(fmt::format("{}: '{}' is neither true nor false", what, text));
  }
  if (!integer) {
    const bool number = parse_double(text).has_value();
    return make_error(fmt::format("{}: '{}' is not a whole number{}", what, text, number ? " that fits" : ""));
  }
  if (!fits(*integer, kind_of(type) == 'i', bits))
    return make_error(fmt::format("{}: {} does not fit in {}", what, text, name_of(type)));
  return (integer->negative ? 0 - integer->magnitude : integer->magnitude) & low_bits(bits);
}

uint64_t bits_of(ElementType type, double value) {
  switch (type) {
    case ElementType::kF64: return std::bit_cast<uint64_t>(value);
    case ElementType::kF32: return std::bit_cast<uint32_t>(static_cast<float>(value));
    case ElementType::kF16:
    case ElementType::kBF16:
      return ops::pack(format_of(type), ops::unpack(ops::kF64, std::bit_cast<uint64_t>(value)),
                       ops::Rounding::kNearestEven);
    case ElementType::kBool: return value != 0;
    case ElementType::kU64: return static_cast<uint64_t>(value);
    default: return static_cast<uint64_t>(static_cast<int64_t>(value)) & low_bits(8 * bytes_of(type));
  }
}

double value_of(ElementType type, const uint8_t* element) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, bytes_of(type));
  switch (type) {
    case ElementType::kF64: return std::bit_cast<double>(bits);
    case ElementType::kF32: return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case ElementType::kF16:
    case ElementType::kBF16:
      return std::bit_cast<double>(
          ops::pack(ops::kF64, ops::unpack(format_of(type), bits), ops::Rounding::kNearestEven));
    default: break;
  }
  if (kind_of(type) != 'i') return static_cast<double>(bits);
  const unsigned unused = 64 - 8 * bytes_of(type);
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

std::string text_of(ElementType type, const uint8_t* element) {
  if (kind_of(type) == 'f') {
    const double value = value_of(type, element);
    if (std::isnan(value)) return "nan";
    return type == ElementType::kF64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  }
  uint64_t bits = 0;
  std::memcpy(&bits, element, bytes_of(type));
  if (type == ElementType::kBool) return bits != 0 ? "true" : "false";
  if (kind_of(type) == 'u') return fmt::format("{}", bits);
  const unsigned unused = 64 - 8 * bytes_of(type);
  return fmt::format("{}", static_cast<int64_t>(bits << unused) >> unused);
}

std::string describe(ElementType type, const std::vector<uint64_t>& shape) {
  return fmt::format("{}[{}]", name_of(type), fmt::join(shape, ","));
}

std::optional<uint64_t> count_of(ElementType type, const std::vector<uint64_t>& shape) {
  uint64_t count = 1;
  for (const uint64_t extent : shape) {
    if (extent == 0) return 0;
    if (count > kMostBytes / extent) return std::nullopt;
    count *= extent;
  }
  if (count > kMostBytes / bytes_of(type)) return std::nullopt;
  return count;
}

}  // namespace warplens::session
