// SPDX-License-Identifier: Apache-2.0
// Module level: .version, .target, .file, debug sections, and the choice between variables and functions (manual
// section "Directives"). Of debug sections only .debug_str is read: .loc names inlined functions by labels in it.
#include <fmt/format.h>

#include "ptx/module_parser.h"

namespace warplens::ptx {

void ModuleParser::run() {
  module_.files.assign(1, "");
  while (token().kind != TokenKind::kEnd && errors.size() < kMaxErrors) {
    statement_ = token().pos;
    if (!parse_module_item()) recover_in_module();
  }
  if (module_.version_major == 0 && errors.empty()) fail({1, 1}, "this is not PTX: there is no .version directive");
  check_initialisers();
  resolve_inline_names();
}

/// Initialisers may name what is declared behind them, so names are checked at the end.
void ModuleParser::check_initialisers() {
  for (const Variable& v : module_.variables) {
    for (const InitAddress& a : v.init_addresses) {
      const bool own = a.symbol == v.name;
      if (!own && !module_names_.contains(a.symbol))
        fail(v.pos, fmt::format("the initialiser of '{}' names '{}', which is not declared", v.name, a.symbol));
    }
  }
}

bool ModuleParser::parse_module_item() {
  const Token t = token();
  if (accept(';')) return true;
  if (t.kind == TokenKind::kPunct && t.punct == '@') {  // @@DWARF lines of very old compilers
    lexer_.skip_line();
    return true;
  }
  if (t.kind != TokenKind::kDirective) return fail_here("a directive");
  const std::string_view d = t.text;
  if (d == ".version") return parse_version();
  if (d == ".target") return parse_target();
  if (d == ".file") return parse_file();
  if (d == ".section") return parse_section();
  if (d == ".alias") return parse_alias();
  if (d == ".address_size") {
    lexer_.next();
    uint32_t size = 0;
    if (!take_u32(size, "32 or 64")) return false;
    if (size != 32 && size != 64) return fail(t.pos, "the address size is 32 or 64");
    module_.address_size = size;
    return true;
  }
  if (d == ".pragma") {
    lexer_.next();
    nounroll_module_ = parse_pragma() || nounroll_module_;
    while (token().kind != TokenKind::kEnd && !is(';')) lexer_.next();
    return expect(';');
  }
  const auto linkage = take_linkage();
  if (!linkage) return false;
  if (is_directive(".entry") || is_directive(".func")) return parse_function(*linkage, is_directive(".entry"));
  return parse_variables(*linkage);
}

bool ModuleParser::parse_version() {
  lexer_.next();
  const std::string_view text = token().text;
  const size_t dot = text.find('.');
  const auto major = dot == text.npos ? std::nullopt : parse_number(text.substr(0, dot));
  const auto minor = dot == text.npos ? std::nullopt : parse_number(text.substr(dot + 1));
  if (token().kind != TokenKind::kNumber || !major || !minor || !major->is_integer() || !minor->is_integer())
    return fail_here("a version such as 8.5");
  module_.version_major = static_cast<unsigned>(major->bits);
  module_.version_minor = static_cast<unsigned>(minor->bits);
  const SourcePos pos = token().pos;
  lexer_.next();
  if (module_.version_major < 1 || module_.version_major > 9)
    return fail(pos, fmt::format("PTX version {} is not known", text), "versions 3.0 to 9.x can be read");
  return true;
}

bool ModuleParser::parse_target() {
  lexer_.next();
  do {
    std::string_view name;
    if (!take_identifier(name, "a target such as sm_90")) return false;
    if (name.starts_with("sm_") || name.starts_with("compute_")) module_.target = name;
  } while (accept(','));
  return true;
}

/// .file 1 "path" [, timestamp, size]
bool ModuleParser::parse_file() {
  constexpr uint32_t kMaxFiles = 1u << 20;
  lexer_.next();
  uint32_t index = 0;
  const SourcePos pos = token().pos;
  if (!take_u32(index, "a file number")) return false;
  if (index >= kMaxFiles) return fail(pos, "the file number is too large");
  if (token().kind != TokenKind::kString) return fail_here("a file name in quotes");
  if (module_.files.size() <= index) module_.files.resize(index + 1);
  module_.files[index] = token().text;
  lexer_.next();
  while (accept(',')) {
    uint64_t ignored = 0;
    if (!take_integer(ignored, "a number")) return false;
  }
  return true;
}

bool ModuleParser::parse_section() {
  lexer_.next();
  const bool strings = is_directive(".debug_str");
  if (token().kind != TokenKind::kDirective && token().kind != TokenKind::kIdentifier)
    return fail_here("a section name");
  lexer_.next();
  if (!is('{')) return fail_here("'{'");
  if (strings) return parse_debug_strings();
  lexer_.skip_to_closing_brace();
  return expect('}');
}

/// Labels, each followed by lists of bytes: "$L__info_string0: .b8 95,90,51,0". A label may name several strings, which
/// .loc then tells apart by an offset.
bool ModuleParser::parse_debug_strings() {
  lexer_.next();
  std::string label, text;
  uint64_t offset = 0, start = 0;
  while (!is('}')) {
    if (token().kind == TokenKind::kIdentifier) {
      label = token().text;
      offset = start = 0;
      text.clear();
      lexer_.next();
      if (!expect(':')) return false;
      continue;
    }
    if (!accept_directive(".b8")) return fail_here("a label or .b8");
    do {
      uint64_t byte = 0;
      if (!take_integer(byte, "a byte")) return false;
      ++offset;
      if (byte != 0) {
        text += static_cast<char>(byte);
        continue;
      }
      debug_strings_[start == 0 ? label : fmt::format("{}+{}", label, start)] = text;
      text.clear();
      start = offset;
    } while (accept(','));
  }
  lexer_.next();
  return true;
}

/// .alias new, old;  — a second name of a function.
bool ModuleParser::parse_alias() {
  lexer_.next();
  std::string_view name, target;
  if (!take_identifier(name, "a function name") || !expect(',')) return false;
  const SourcePos pos = token().pos;
  if (!take_identifier(target, "a function name")) return false;
  const auto it = module_names_.find(target);
  if (it == module_names_.end() || it->second.symbol.kind != SymbolKind::kFunction)
    return fail(pos, fmt::format("'{}' is not a function", target));
  const uint32_t index = it->second.symbol.index;
  // The alias was declared before, and calls may refer to that declaration: it becomes a copy under its own name.
  const auto declared = module_names_.find(name);
  if (declared == module_names_.end()) {
    module_names_[name] = it->second;
  } else if (declared->second.symbol.kind == SymbolKind::kFunction) {
    Function copy = module_.functions[index];
    copy.name = name;
    module_.functions[declared->second.symbol.index] = std::move(copy);
  }
  return expect(';');
}

void ModuleParser::resolve_inline_names() {
  for (InlineSite& site : module_.inline_sites) {
    const auto it = debug_strings_.find(site.function);
    if (it != debug_strings_.end()) site.function = it->second;
  }
}

}  // namespace warplens::ptx
