// SPDX-License-Identifier: Apache-2.0
#include "gate/json_place.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace warplens::gate {
namespace {

class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) {}

  size_t find(const JsonPath& path) {
    skip_blanks();
    for (const auto& step : path) {
      const size_t here = at_;
      if (!enter(step)) return here;
    }
    return at_;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  /// The string at the place, with its quotes.
  std::string_view take_string() {
    const size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
    return text_.substr(begin, at_ - begin);
  }

  /// No recursion: a text may be nested as deeply as it likes.
  void skip_value() {
    size_t depth = 0;
    do {
      skip_blanks();
      const char c = peek();
      if (c == '"') {
        take_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++at_;
      } else if (c == ',' || c == ':') {
        ++at_;
      } else {
        while (at_ < text_.size() && std::string_view(",:]}[{\" \t\r\n").find(text_[at_]) == std::string_view::npos)
          ++at_;
      }
    } while (depth != 0 && at_ < text_.size());
  }

  /// Goes to a member or an element; false when there is none.
  bool enter(const std::variant<std::string, size_t>& step) {
    const std::string* name = std::get_if<std::string>(&step);
    if (peek() != (name != nullptr ? '{' : '[')) return false;
    ++at_;
    for (size_t index = 0;; ++index) {
      skip_blanks();
      if (peek() == '}' || peek() == ']' || at_ >= text_.size()) return false;
      bool wanted = name == nullptr && index == std::get<size_t>(step);
      if (name != nullptr) {
        const std::string_view key = take_string();
        wanted = nlohmann::json::parse(key, nullptr, false) == *name;
        skip_blanks();
        ++at_;  // the colon
        skip_blanks();
      }
      if (wanted) return true;
      skip_value();
      skip_blanks();
      if (peek() == ',') ++at_;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

SourcePos byte_place(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const size_t line = before.rfind('\n');
  return {static_cast<uint32_t>(1 + std::ranges::count(before, '\n')),
          static_cast<uint32_t>(before.size() - (line == std::string_view::npos ? 0 : line + 1) + 1)};
}

SourcePos json_place(std::string_view text, const JsonPath& path) { return byte_place(text, Walker(text).find(path)); }

}  // namespace warplens::gate
