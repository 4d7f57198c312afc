// SPDX-License-Identifier: Apache-2.0
// Operands as written (manual section "Instruction Operands"): names are looked up, constants evaluated, addresses and
// lists taken apart. What an operand *means* depends on the row and is decided in bind_operand.cpp, since one opcode
// may have several rows.
#include <fmt/format.h>

#include "ptx/module_parser.h"

namespace warplens::ptx {

/// Fills raw_ with the operands up to ';'. p|q gives two, the second marked; so does what follows inside [a, b].
bool ModuleParser::parse_raw_operands(bool is_call) {
  raw_.clear();
  raw_elements_.clear();
  if (is(';')) return true;
  bool pair = false;
  do {
    RawOperand raw;
    const size_t at = raw_.size();
    raw_.emplace_back();  // parse_raw_address appends what stands behind the address
    if (!parse_raw(raw, is_call, 0)) return false;
    raw.pair_second = pair;
    raw_[at] = raw;
    pair = is('|');
  } while (accept('|') || accept(','));
  return true;
}

bool ModuleParser::parse_raw(RawOperand& raw, bool is_call, unsigned depth) {
  if (depth > kMaxNesting) return fail(token().pos, "operands are nested too deeply");
  raw.pos = token().pos;
  if (token().kind == TokenKind::kIdentifier && token().text != "WARP_SZ") {
    if (!parse_raw_name(raw)) return false;
    const bool has_offset = raw.kind == RawOperand::Kind::kRegister && (is('+') || is('-'));
    return !has_offset || parse_raw_offset(raw);  // "%r1+1"
  }
  if (accept('[')) return parse_raw_address(raw, depth);
  if (accept('{')) return parse_raw_list(raw, '}', RawOperand::Kind::kVector, false, depth);
  if (is_call && accept('(')) return parse_raw_list(raw, ')', RawOperand::Kind::kList, false, depth);
  if (is('!')) {
    lexer_.next();
    if (token().kind != TokenKind::kIdentifier) return fail_here("a predicate");
    raw.negated = true;
    return parse_raw_name(raw);
  }
  raw.kind = RawOperand::Kind::kConstant;
  return parse_expression(raw.constant);
}

bool ModuleParser::parse_raw_name(RawOperand& raw) {
  lexer_.extend_component();
  std::string_view name = token().text;
  raw.name = name;
  if (name == "_") {
    raw.kind = RawOperand::Kind::kSink;
    lexer_.next();
    return true;
  }
  NameEntry storage;
  const NameEntry* entry = find_name(name, storage);
  if (!entry && name[0] == '%') {
    if (const auto special = special_register_named(name, &raw.first)) {
      raw.kind = RawOperand::Kind::kSpecial;
      raw.special = *special;
      lexer_.next();
      return true;
    }
  }
  const bool has_component = name.size() > 2 && name[name.size() - 2] == '.';
  if (!entry && has_component) {
    static constexpr std::string_view kComponents = "xyzwrgba";
    const uint32_t i = static_cast<uint32_t>(kComponents.find(name.back())) % 4;
    const NameEntry* vector = find_name(name.substr(0, name.size() - 2), storage);
    if (!vector) return fail(raw.pos, fmt::format("'{}' is not declared", name));
    if (vector->kind != NameEntry::Kind::kVectorRegister || i >= vector->count)
      return fail(raw.pos, fmt::format("'{}' is not a component of a vector register", name));
    storage = *vector;
    storage.kind = NameEntry::Kind::kRegister;
    storage.reg += i;
    entry = &storage;
  }
  lexer_.next();
  if (!entry) {
    raw.kind = RawOperand::Kind::kUnknownName;  // a label perhaps
    return true;
  }
  raw.reg = entry->reg;
  raw.count = entry->count;
  raw.symbol = entry->symbol;
  switch (entry->kind) {
    case NameEntry::Kind::kRegister: raw.kind = RawOperand::Kind::kRegister; return true;
    case NameEntry::Kind::kVectorRegister: raw.kind = RawOperand::Kind::kVectorRegister; return true;
    case NameEntry::Kind::kPrototype: raw.kind = RawOperand::Kind::kUnknownName; return true;
    case NameEntry::Kind::kSymbol: break;
  }
  raw.kind = RawOperand::Kind::kSymbol;
  return (!is('+') && !is('-')) || parse_raw_offset(raw);
}

/// "+4", "-4": a sign begins an expression.
bool ModuleParser::parse_raw_offset(RawOperand& raw) {
  const SourcePos pos = token().pos;
  Constant offset;
  if (!parse_expression(offset)) return false;
  if (!offset.is_integer()) return fail(pos, "an offset is an integer");
  raw.offset = static_cast<int64_t>(offset.bits);
  return true;
}

/// Behind '[': a register, symbol or number, with an offset; further operands behind commas.
bool ModuleParser::parse_raw_address(RawOperand& raw, unsigned depth) {
  raw.kind = RawOperand::Kind::kAddress;
  if (token().kind == TokenKind::kIdentifier && token().text != "WARP_SZ") {
    RawOperand base;
    base.pos = token().pos;
    if (!parse_raw_name(base)) return false;
    if (base.kind == RawOperand::Kind::kUnknownName)
      return fail(base.pos, fmt::format("'{}' is not declared", base.name));
    if (base.kind != RawOperand::Kind::kRegister && base.kind != RawOperand::Kind::kSymbol)
      return fail(base.pos, fmt::format("'{}' cannot be the base of an address", base.name));
    raw.reg = base.reg;
    raw.symbol = base.symbol;
    raw.offset = base.offset;
    raw.name = base.name;
  }
  if ((raw.name.empty() || is('+') || is('-')) && !parse_raw_offset(raw)) return false;
  while (accept(',')) {
    RawOperand more;
    const size_t at = raw_.size();
    raw_.emplace_back();
    if (!parse_raw(more, false, depth + 1)) return false;
    more.in_bracket = true;
    raw_[at] = more;
  }
  return expect(']');
}

bool ModuleParser::parse_raw_list(RawOperand& raw, char close, RawOperand::Kind kind, bool is_call, unsigned depth) {
  std::vector<RawOperand> list;
  while (!is(close)) {
    RawOperand element;
    if (!parse_raw(element, is_call, depth + 1)) return false;
    if (element.kind == RawOperand::Kind::kAddress || element.kind == RawOperand::Kind::kVector)
      return fail(element.pos, "a list cannot hold this");
    list.push_back(element);
    if (!accept(',')) break;
  }
  raw.kind = kind;
  raw.first = static_cast<uint32_t>(raw_elements_.size());
  raw.count = static_cast<uint32_t>(list.size());
  raw_elements_.insert(raw_elements_.end(), list.begin(), list.end());
  return expect(close);
}

}  // namespace warplens::ptx
