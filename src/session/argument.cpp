// SPDX-License-Identifier: Apache-2.0
#include "session/argument.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <filesystem>

#include "session/npy.h"

namespace warplens::session {
namespace {

constexpr const char* kForms =
    "x.npy, f32[1024]=random:7, out:f32[1024], i32:5, f32:0.5, ptr:null or bytes:00ff; docs/bare-ptx.md has all forms";
constexpr size_t kMostExtents = 32;

std::string label(size_t number, std::string_view text) { return fmt::format("--arg {} ('{}')", number, text); }

/// "12", all of it.
std::optional<uint64_t> whole_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "[512,512]" at the start of `text`, which is moved behind it.
std::optional<std::vector<uint64_t>> take_shape(std::string_view& text) {
  const size_t close = text.find(']');
  if (!text.starts_with('[') || close == std::string_view::npos) return std::nullopt;
  std::string_view inside = text.substr(1, close - 1);
  text.remove_prefix(close + 1);
  std::vector<uint64_t> shape;
  for (;;) {
    const size_t comma = inside.find_first_of(",x");
    const auto extent = whole_number(inside.substr(0, comma));
    if (!extent || shape.size() == kMostExtents) return std::nullopt;
    shape.push_back(*extent);
    if (comma == std::string_view::npos) return shape;
    inside.remove_prefix(comma + 1);
  }
}

Result<Argument> parse_array(Argument a, std::string_view text, const std::string& what) {
  const size_t bracket = text.find('[');
  const auto type = element_type(text.substr(0, bracket));
  if (!type)
    return make_error(fmt::format("{}: unknown type '{}'", what, text.substr(0, bracket)),
                      "types: " + element_type_names());
  text.remove_prefix(bracket);
  auto shape = take_shape(text);
  if (!shape || (!text.empty() && text[0] != '='))
    return make_error(fmt::format("{}: the shape is not readable", what), "write f32[1024] or f32[512,512]=ones");
  if (!count_of(*type, *shape)) return make_error(fmt::format("{}: {} is too large", what, describe(*type, *shape)));
  Fill fill;
  if (!text.empty()) {
    const auto parsed = parse_fill(text.substr(1), *type, what);
    if (!parsed) return parsed.error();
    fill = *parsed;
  }
  a.array = make_array(*type, std::move(*shape), fill);
  return a;
}

Result<Argument> parse_pointer(Argument a, std::string_view text, const std::string& what) {
  a.kind = Argument::Kind::kPointer;
  if (text == "null" || text == "0") return a;
  const size_t plus = text.find('+');
  const auto target = whole_number(text.substr(0, plus));
  const auto offset = plus == std::string_view::npos ? uint64_t{0} : whole_number(text.substr(plus + 1));
  if (!target || *target == 0 || !offset)
    return make_error(fmt::format("{}: no pointer", what),
                      "ptr:null, or ptr:2 for the array of argument 2, or ptr:2+256 for 256 bytes into it");
  a.target = *target;
  a.offset = *offset;
  return a;
}

Result<Argument> parse_bytes(Argument a, std::string_view text, const std::string& what) {
  a.kind = Argument::Kind::kBytes;
  bool good = text.size() % 2 == 0;
  for (size_t i = 0; good && i < text.size(); i += 2) {
    uint8_t byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
    good = error == std::errc() && end == text.data() + i + 2;
    a.bytes.push_back(byte);
  }
  if (good) return a;
  return make_error(fmt::format("{}: these are not hexadecimal bytes", what), "two digits a byte: bytes:00ff12");
}

Result<Argument> parse_scalar(Argument a, ElementType type, std::string_view value, const std::string& what) {
  a.kind = Argument::Kind::kScalar;
  a.type = type;
  const auto bits = bits_of(type, value, what);
  if (!bits) return bits.error();
  a.bytes.resize(bytes_of(type));
  std::memcpy(a.bytes.data(), &*bits, a.bytes.size());
  return a;
}

Result<Argument> parse_file(Argument a, const std::string& path) {
  auto array = read_npy(path);
  if (!array) return array.error();
  a.array = std::move(*array);
  return a;
}

/// Whether `text` means a file: it ends as one, or there is one.
bool is_file(std::string_view text) {
  std::error_code error;
  return text.ends_with(".npy") || std::filesystem::is_regular_file(std::filesystem::path(text), error);
}

Result<Argument> parse_by_value(Argument a, std::string_view text, const std::string& what) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return make_error(fmt::format("{}: not an argument", what), kForms);
  const std::string_view head = text.substr(0, colon), value = text.substr(colon + 1);
  if (a.output)
    return make_error(fmt::format("{}: only arrays can be results", what), "write out:f32[1024] or out:x.npy");
  if (head == "ptr") return parse_pointer(std::move(a), value, what);
  if (head == "bytes") return parse_bytes(std::move(a), value, what);
  if (const auto type = element_type(head)) return parse_scalar(std::move(a), *type, value, what);
  return make_error(fmt::format("{}: unknown type '{}'", what, head),
                    "types: " + element_type_names() + ", and ptr and bytes");
}

}  // namespace

Result<Argument> parse_argument(const std::string& written, size_t number) {
  const std::string what = label(number, written);
  Argument a;
  a.text = written;
  std::string_view text = written;
  a.output = text.starts_with("out:");
  if (a.output) text.remove_prefix(4);
  if (text.empty()) return make_error(fmt::format("{}: nothing is given", what), kForms);
  if (is_file(text)) return parse_file(std::move(a), std::string(text));
  const size_t bracket = text.find('[');
  if (bracket != std::string_view::npos && text.find(':') > bracket) return parse_array(std::move(a), text, what);
  return parse_by_value(std::move(a), text, what);
}

Result<std::vector<Argument>> parse_arguments(const std::vector<std::string>& texts) {
  std::vector<Argument> arguments;
  Diagnostics faults;
  for (size_t i = 0; i < texts.size(); ++i) {
    auto argument = parse_argument(texts[i], i + 1);
    if (argument)
      arguments.push_back(std::move(*argument));
    else
      faults.insert(faults.end(), argument.error().begin(), argument.error().end());
  }
  if (!faults.empty()) return faults;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    if (a.kind != Argument::Kind::kPointer || a.target == 0) continue;
    const bool array = a.target <= arguments.size() && arguments[a.target - 1].kind == Argument::Kind::kArray;
    if (!array || a.offset > arguments[a.target - 1].array.bytes.size())
      faults.push_back(make_error(fmt::format("{}: argument {} is no array{}", label(i + 1, a.text), a.target,
                                              array ? " of so many bytes" : "")));
  }
  if (!faults.empty()) return faults;
  return arguments;
}

}  // namespace warplens::session
