// SPDX-License-Identifier: Apache-2.0
#include "gate/escape.h"

#include <fmt/format.h>

#include <algorithm>

namespace warplens::gate {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// Bytes of the UTF-8 character at the begin of `text`; 0: there is none.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xc2 && first < 0xe0   ? 2
                      : first >= 0xe0 && first < 0xf0 ? 3
                      : first >= 0xf0 && first < 0xf5 ? 4
                                                      : 0;
  if (size == 0 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (first == 0xe0 && byte(1) < 0xa0) return 0;   // written longer than need be
  if (first == 0xed && byte(1) >= 0xa0) return 0;  // surrogates
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) >= 0x90) return 0;  // beyond U+10FFFF
  return size;
}

bool is_control(std::string_view character) {
  return character.size() == 1 && (static_cast<unsigned char>(character[0]) < ' ' || character[0] == 0x7f);
}

/// Calls `put` with each character; U+FFFD stands for bytes that are none.
template <typename Put>
void for_each_character(std::string_view text, Put put) {
  while (!text.empty()) {
    const size_t size = character_bytes(text);
    put(size == 0 ? kReplacement : text.substr(0, size));
    text.remove_prefix(std::max<size_t>(size, 1));
  }
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  for_each_character(text, [&](std::string_view c) { out += c; });
  return out;
}

std::string xml_text(std::string_view text) {
  std::string out;
  for_each_character(text, [&](std::string_view c) {
    if (c == "&")
      out += "&amp;";
    else if (c == "<")
      out += "&lt;";
    else if (c == ">")
      out += "&gt;";
    else if (c == "\"")
      out += "&quot;";
    else if (c == "\n")
      out += "&#10;";
    else if (c == "\r")
      out += "&#13;";
    else if (c == "\t")
      out += "&#9;";
    else if (is_control(c) || c == "\xef\xbf\xbe" || c == "\xef\xbf\xbf")
      out += kReplacement;
    else
      out += c;
  });
  return out;
}

std::string workflow_message(std::string_view text) {
  std::string out;
  for_each_character(text, [&](std::string_view c) {
    if (c == "%")
      out += "%25";
    else if (c == "\n")
      out += "%0A";
    else if (c == "\r")
      out += "%0D";
    else
      out += is_control(c) ? "?" : c;
  });
  return out;
}

std::string workflow_property(std::string_view text) {
  std::string out;
  for (const char c : workflow_message(text)) {
    if (c == ':')
      out += "%3A";
    else if (c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for_each_character(text, [&](std::string_view c) {
    constexpr std::string_view kSpecial = "\\`*_{}[]<>()#!|&~@$";
    if (is_control(c))
      out += " ";
    else if (c.size() == 1 && kSpecial.find(c[0]) != kSpecial.npos)
      out += fmt::format("&#{};", static_cast<int>(c[0]));
    else
      out += c;
  });
  return out;
}

std::string markdown_code(std::string_view text) {
  std::string out;
  size_t longest = 0, run = 0;
  for_each_character(text, [&](std::string_view c) {
    run = c == "`" ? run + 1 : 0;
    longest = std::max(longest, run);
    out += is_control(c) ? " " : c;
  });
  if (out.find_first_not_of(' ') == out.npos) return {};
  const std::string fence(longest + 1, '`');
  // A span that begins or ends in a backquote or blank needs a blank of its own, which is not shown.
  const bool padded = out.front() == '`' || out.back() == '`' || (out.front() == ' ' && out.back() == ' ');
  const char* blank = padded ? " " : "";
  return fence + blank + out + blank + fence;
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : markdown_code(text)) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string uri_path(std::string_view path) {
  std::string out;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || c == '/';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace warplens::gate
