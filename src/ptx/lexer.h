// SPDX-License-Identifier: Apache-2.0
// Splits PTX text into tokens, one at a time (manual section "Syntax"). The parser looks only at the current token and
// at the raw text behind it, so no list of tokens is made: a megabyte of PTX is a third of a million of them.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/diagnostic.h"

namespace warplens::ptx {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,  ///< names, with leading letter, _, $ or %
  kDirective,   ///< ".reg", ".shared::cta"
  kNumber,
  kString,  ///< text without the quotes
  kPunct,
  kBad,  ///< text is the message: unclosed comment or string, a character that PTX does not have
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  char punct = 0;  ///< kPunct: the character; two-character operators have the codes below
  std::string_view text;
  SourcePos pos;
};

/// Codes of the operators with two characters, which occur in constant expressions only.
namespace punct {
constexpr char kShiftLeft = 'l', kShiftRight = 'r', kEqual = 'e', kNotEqual = 'n', kLessEqual = 'L',
               kGreaterEqual = 'G', kAnd = 'a', kOr = 'o';
}

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& token() const { return token_; }
  void next();
  bool is(char punct) const { return token_.kind == TokenKind::kPunct && token_.punct == punct; }

  /// The current token is an identifier at the beginning of a statement: extends it over the modifiers that are
  /// attached to it ("ld.global.v4.f32") and returns the whole.
  std::string_view extend_opcode();
  /// The current token is an identifier: extends it over a vector component (".x" ... ".a") that is attached to it.
  void extend_component();
  /// True when the next character that is not space is `c`.
  bool followed_by(char c) const;
  /// Skips raw text up to the '}' that closes a section whose '{' is the current token; the '}' becomes current.
  /// Numbers and labels of debug sections, sometimes megabytes, are not worth tokens.
  void skip_to_closing_brace();
  /// Skips the rest of the line and reads the next token.
  void skip_line();

 private:
  void skip_space();
  void lex_number();
  void lex_punct();
  void lex_string();
  void bad(std::string_view message, size_t length);
  void finish(TokenKind kind, size_t end);
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  std::string_view text_;
  Token token_;
  size_t at_ = 0;  ///< behind the current token
  size_t line_start_ = 0;
  uint32_t line_ = 1;
};

}  // namespace warplens::ptx
