// SPDX-License-Identifier: Apache-2.0
// ptx::parse, and the parser's handling of tokens and errors. The parser is written by hand, one function a construct
// (parse_module, parse_declaration, parse_function, parse_expression, parse_operand); only instructions are driven by
// the table (parse_instruction, bind_operand).
#include "ptx/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "ptx/module_parser.h"

namespace warplens::ptx {

Result<Module> parse(std::string text, std::string file_name, const OpTable& table) {
  Module module;
  module.file_name = std::move(file_name);
  module.text = std::move(text);
  ModuleParser parser(module, table);
  parser.run();
  if (!parser.errors.empty()) {
    // Labels are missed only where their scope ends: bring all into the order of the text.
    std::sort(parser.errors.begin(), parser.errors.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return std::tie(a.pos.line, a.pos.column, a.message) < std::tie(b.pos.line, b.pos.column, b.message);
    });
    return std::move(parser.errors);
  }
  return module;
}

ModuleParser::ModuleParser(Module& module, const OpTable& table)
    : module_(module), table_(table), lexer_(module.text) {}

bool ModuleParser::accept(char punct) {
  if (!is(punct)) return false;
  lexer_.next();
  return true;
}

bool ModuleParser::expect(char punct) {
  if (accept(punct)) return true;
  return fail_here(fmt::format("'{}'", punct));
}

bool ModuleParser::accept_directive(std::string_view text) {
  if (!is_directive(text)) return false;
  lexer_.next();
  return true;
}

bool ModuleParser::fail(SourcePos pos, std::string message, std::string hint) {
  if (errors.size() < kMaxErrors)
    errors.push_back(make_error_at(module_.file_name, pos, std::move(message), std::move(hint)));
  return false;
}

bool ModuleParser::fail_here(std::string_view expected) {
  const Token& t = token();
  if (t.kind == TokenKind::kBad) return fail(t.pos, std::string(t.text));
  if (t.kind == TokenKind::kEnd) return fail(t.pos, fmt::format("expected {}, but the text ends here", expected));
  return fail(t.pos, fmt::format("expected {}, found '{}'", expected, t.text.substr(0, 40)));
}

bool ModuleParser::take_identifier(std::string_view& name, std::string_view what) {
  if (token().kind != TokenKind::kIdentifier) return fail_here(what);
  name = token().text;
  lexer_.next();
  return true;
}

bool ModuleParser::take_integer(uint64_t& value, std::string_view what) {
  const auto number = token().kind == TokenKind::kNumber ? parse_number(token().text) : std::nullopt;
  if (!number || !number->is_integer()) return fail_here(what);
  value = number->bits;
  lexer_.next();
  return true;
}

bool ModuleParser::take_u32(uint32_t& value, std::string_view what) {
  uint64_t v = 0;
  const SourcePos pos = token().pos;
  if (!take_integer(v, what)) return false;
  if (v > UINT32_MAX) return fail(pos, fmt::format("{} is too large", what));
  value = static_cast<uint32_t>(v);
  return true;
}

bool ModuleParser::take_signed(int64_t& value) {
  const bool negative = accept('-');
  uint64_t v = 0;
  if (!take_integer(v, "a number")) return false;
  value = static_cast<int64_t>(negative ? 0 - v : v);
  return true;
}

/// The ';' of a statement. When it is missing and the next token is on a later line, that token begins the next
/// statement: then nothing is skipped.
bool ModuleParser::end_statement() {
  if (accept(';')) return true;
  const bool next_line = token().pos.line > statement_.line;
  fail_here("';'");
  return next_line && token().kind != TokenKind::kBad;
}

namespace {

/// Directives that begin an item of the module when they stand first on a line.
bool begins_item(std::string_view d) {
  static constexpr std::string_view kStarters[] = {".entry",  ".func",  ".visible", ".extern",  ".weak", ".common",
                                                   ".global", ".const", ".shared",  ".section", ".file", ".alias"};
  return std::find(std::begin(kStarters), std::end(kStarters), d) != std::end(kStarters);
}

}  // namespace

/// Skips to what is likely the next item: behind a ';' or a block, or at a directive that begins one.
void ModuleParser::recover_in_module() {
  unsigned depth = 0;
  while (token().kind != TokenKind::kEnd) {
    if (is('{')) ++depth;
    const bool closes = is('}') && (depth == 0 || --depth == 0);
    if (closes || (depth == 0 && is(';'))) return lexer_.next();
    const uint32_t line = token().pos.line;
    lexer_.next();
    const bool new_line = token().pos.line > line && token().kind == TokenKind::kDirective;
    if (depth == 0 && new_line && begins_item(token().text)) return;
  }
}

void ModuleParser::recover_in_body() {
  for (unsigned depth = 0; token().kind != TokenKind::kEnd; lexer_.next()) {
    if (is('{')) ++depth;
    if (is('}') && depth-- == 0) return;  // the end of the scope: not ours to take
    if (depth == 0 && is(';')) return lexer_.next();
  }
}

/// Skips a bracketed group whose opening bracket is the current token.
bool ModuleParser::skip_balanced(char open, char close) {
  unsigned depth = 0;
  do {
    if (token().kind == TokenKind::kEnd) return fail_here(fmt::format("'{}'", close));
    depth += is(open) ? 1u : 0u;
    depth -= is(close) ? 1u : 0u;
    lexer_.next();
  } while (depth != 0);
  return true;
}

}  // namespace warplens::ptx
