// SPDX-License-Identifier: Apache-2.0
// See lexer.h. Characters are classed by one table; every byte is looked at once.
#include "ptx/lexer.h"

#include <algorithm>
#include <array>

namespace warplens::ptx {
namespace {

enum : uint8_t { kSpace = 1, kDigit = 2, kLetter = 4, kNameStart = 8, kName = 16, kHexDigit = 32 };

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> t = {};
  for (int c = 'a'; c <= 'z'; ++c) t[c] = t[c - 32] = kLetter | kNameStart | kName;
  for (int c = '0'; c <= '9'; ++c) t[c] = kDigit | kName | kHexDigit;
  for (int c = 'a'; c <= 'f'; ++c) {
    t[c] |= kHexDigit;
    t[c - 32] |= kHexDigit;
  }
  t['_'] = t['$'] = kNameStart | kName;
  t['%'] = kNameStart;
  t[' '] = t['\t'] = t['\r'] = t['\n'] = t['\f'] = t['\v'] = kSpace;
  return t;
}();

bool is_class(char c, uint8_t classes) { return (kClasses[static_cast<uint8_t>(c)] & classes) != 0; }

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) {
  // PTX taken from a fat binary ends with a NUL, or several.
  if (const size_t nul = text_.find('\0'); nul != std::string_view::npos) text_ = text_.substr(0, nul);
  next();
}

void Lexer::skip_space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      line_start_ = ++at_;
    } else if (is_class(c, kSpace)) {
      ++at_;
    } else if (c == '/' && at(at_ + 1) == '/') {
      const size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
    } else if (c == '/' && at(at_ + 1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return;  // next() reports it
      for (size_t i = at_; i < end; ++i) {
        if (text_[i] != '\n') continue;
        ++line_;
        line_start_ = i + 1;
      }
      at_ = end + 2;
    } else {
      return;
    }
  }
}

void Lexer::finish(TokenKind kind, size_t end) {
  token_.kind = kind;
  token_.text = text_.substr(at_, end - at_);
  at_ = end;
}

void Lexer::bad(std::string_view message, size_t length) {
  token_.kind = TokenKind::kBad;
  token_.text = message;
  at_ += length;
}

void Lexer::next() {
  skip_space();
  token_.pos = {line_, static_cast<uint32_t>(at_ - line_start_ + 1)};
  if (at_ >= text_.size()) return finish(TokenKind::kEnd, at_);
  const char c = text_[at_];
  if (is_class(c, kNameStart) && (c != '%' || is_class(at(at_ + 1), kName))) {
    size_t end = at_ + 1;
    while (is_class(at(end), kName)) ++end;
    return finish(TokenKind::kIdentifier, end);
  }
  if (c == '.' && is_class(at(at_ + 1), kName)) {
    size_t end = at_ + 2;
    while (is_class(at(end), kName) || (at(end) == ':' && at(end + 1) == ':' && is_class(at(end + 2), kName)))
      end += at(end) == ':' ? 2 : 1;
    return finish(TokenKind::kDirective, end);
  }
  if (is_class(c, kDigit)) return lex_number();
  if (c == '"') return lex_string();
  if (c == '/' && at(at_ + 1) == '*') return bad("unclosed comment", text_.size() - at_);
  lex_punct();
}

void Lexer::lex_number() {
  size_t end = at_ + 1;
  const char second = at(end);
  // Hexadecimal, binary and the bit patterns of floats (0f3F800000, 0d3FF0000000000000) are one run of name characters.
  const bool prefixed =
      text_[at_] == '0' && is_class(second, kLetter) && second != 'U' && second != 'e' && second != 'E';
  while (is_class(at(end), prefixed ? kName : kDigit)) ++end;
  if (!prefixed) {
    if (at(end) == '.' && is_class(at(end + 1), kDigit)) do
        ++end;
      while (is_class(at(end), kDigit));
    else if (at(end) == '.' && !is_class(at(end + 1), kNameStart | kName))
      ++end;  // "1."
    if (at(end) == 'e' || at(end) == 'E') {
      const size_t sign = at(end + 1) == '+' || at(end + 1) == '-' ? 1 : 0;
      if (is_class(at(end + 1 + sign), kDigit)) {
        end += 1 + sign;
        while (is_class(at(end), kDigit)) ++end;
      }
    }
    while (is_class(at(end), kName)) ++end;  // the suffix U; anything else is refused where the value is read
  }
  finish(TokenKind::kNumber, end);
}

void Lexer::lex_string() {
  size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') end += text_[end] == '\\' ? 2 : 1;
  if (at(end) != '"') return bad("unclosed string", std::min(end, text_.size()) - at_);
  finish(TokenKind::kString, end + 1);
  token_.text = token_.text.substr(1, token_.text.size() - 2);
}

void Lexer::lex_punct() {
  struct Pair {
    char first, second, code;
  };
  static constexpr Pair kPairs[] = {{'<', '<', punct::kShiftLeft}, {'>', '>', punct::kShiftRight},
                                    {'=', '=', punct::kEqual},     {'!', '=', punct::kNotEqual},
                                    {'<', '=', punct::kLessEqual}, {'>', '=', punct::kGreaterEqual},
                                    {'&', '&', punct::kAnd},       {'|', '|', punct::kOr}};
  const char c = text_[at_];
  for (const Pair& p : kPairs) {
    if (c != p.first || at(at_ + 1) != p.second) continue;
    token_.punct = p.code;
    return finish(TokenKind::kPunct, at_ + 2);
  }
  if (std::string_view(",;:()[]{}|!@+-*/<>=~&^%?.").find(c) == std::string_view::npos)
    return bad("a character that PTX does not use", 1);
  token_.punct = c;
  finish(TokenKind::kPunct, at_ + 1);
}

std::string_view Lexer::extend_opcode() {
  const size_t begin = at_ - token_.text.size();
  while (at(at_) == '.' && is_class(at(at_ + 1), kName)) {
    at_ += 2;
    while (is_class(at(at_), kName) || (at(at_) == ':' && at(at_ + 1) == ':')) at_ += at(at_) == ':' ? 2 : 1;
  }
  return token_.text = text_.substr(begin, at_ - begin);
}

void Lexer::extend_component() {
  if (at(at_) != '.' || is_class(at(at_ + 2), kName)) return;
  if (std::string_view("xyzwrgba").find(at(at_ + 1)) == std::string_view::npos) return;
  at_ += 2;
  token_.text = {token_.text.data(), token_.text.size() + 2};
}

bool Lexer::followed_by(char c) const {
  size_t i = at_;
  while (is_class(at(i), kSpace)) ++i;
  return at(i) == c;
}

void Lexer::skip_to_closing_brace() {
  while (at_ < text_.size() && text_[at_] != '}') {
    if (text_[at_] == '/' && at(at_ + 1) == '/') {  // a comment may contain braces
      at_ = std::min(text_.find('\n', at_), text_.size());
      continue;
    }
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    ++at_;
  }
  next();
}

void Lexer::skip_line() {
  const size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end;
  next();
}

}  // namespace warplens::ptx
