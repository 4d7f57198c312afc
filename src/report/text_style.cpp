// SPDX-License-Identifier: Apache-2.0
#include "report/text_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace warplens::report {
namespace {

constexpr unsigned kSmallest = 40, kLargest = 200;

bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

/// Byte position after the first `count` code points.
size_t position(std::string_view text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if (starts_code_point(text[at]) && count-- == 0) break;
  return at;
}

const char* code(Tone tone) {
  switch (tone) {
    case Tone::kHeading: return "\033[1m";
    case Tone::kFaint: return "\033[2m";
    case Tone::kBad: return "\033[31m";
    case Tone::kFair: return "\033[33m";
    case Tone::kGood: return "\033[32m";
    case Tone::kPlain: break;
  }
  return "";
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

TextStyle style_of(int fd) {
  TextStyle style;
  const bool terminal = ::isatty(fd) == 1;
  winsize size{};
  if (is_set("COLUMNS")) {
    style.width = static_cast<unsigned>(std::strtoul(std::getenv("COLUMNS"), nullptr, 10));
    if (style.width == 0) style.width = 80;
  } else if (terminal && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
    style.width = size.ws_col;
  }
  style.width = std::clamp(style.width, kSmallest, kLargest);
  const char* term = std::getenv("TERM");
  style.colour = terminal && !is_set("NO_COLOR") && (term == nullptr || std::string_view(term) != "dumb");
  return style;
}

std::string painted(const TextStyle& style, Tone tone, std::string_view text) {
  if (!style.colour || tone == Tone::kPlain || text.empty()) return std::string(text);
  return code(tone) + std::string(text) + "\033[0m";
}

size_t columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string fitted(std::string_view text, size_t width) {
  if (columns(text) <= width) return std::string(text);
  if (width <= 3) return std::string(text.substr(0, position(text, width)));
  return std::string(text.substr(0, position(text, width - 3))) + "...";
}

std::string fitted_middle(std::string_view text, size_t width) {
  const size_t have = columns(text);
  if (have <= width || width <= 5) return fitted(text, width);
  const size_t tail = (width - 3) / 2, head = width - 3 - tail;
  return std::string(text.substr(0, position(text, head))) + "..." +
         std::string(text.substr(position(text, have - tail)));
}

std::string wrapped(std::string_view text, size_t width, size_t indent) {
  std::string out, line;
  const auto flush = [&] {
    out += std::string(indent, ' ') + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view part = text.substr(0, end);
    if (!line.empty() && indent + columns(line) + 1 + columns(part) > width) flush();
    if (!part.empty()) line += (line.empty() ? "" : " ") + std::string(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  flush();
  return out;
}

}  // namespace warplens::report
