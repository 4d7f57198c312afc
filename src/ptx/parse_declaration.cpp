// SPDX-License-Identifier: Apache-2.0
// Declarations: registers, variables of every space with their initialisers, and parameters (manual sections "State
// Spaces, Types, and Variables" and "Initializers"). Sizes are checked here once, so that later stages can add them
// without care.
#include <fmt/format.h>

#include <bit>

#include "base/bits.h"
#include "ptx/module_parser.h"

namespace warplens::ptx {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 40;      // of one variable
constexpr uint64_t kMaxInitBytes = uint64_t{1} << 28;  // written by one initialiser

std::optional<Space> space_of_directive(std::string_view d) {
  if (d == ".global") return Space::kGlobal;
  if (d == ".shared" || d == ".shared::cta") return Space::kShared;
  if (d == ".local") return Space::kLocal;
  if (d == ".const") return Space::kConst;
  if (d == ".param") return Space::kParam;
  if (d == ".reg") return Space::kReg;
  return std::nullopt;
}

}  // namespace

std::optional<Linkage> ModuleParser::take_linkage() {
  Linkage linkage = Linkage::kNone;
  for (;; lexer_.next()) {
    const std::string_view d = token().text;
    if (token().kind == TokenKind::kDirective && d == ".visible")
      linkage = Linkage::kVisible;
    else if (token().kind == TokenKind::kDirective && d == ".extern")
      linkage = Linkage::kExtern;
    else if (token().kind == TokenKind::kDirective && d == ".weak")
      linkage = Linkage::kWeak;
    else if (token().kind == TokenKind::kDirective && d == ".common")
      linkage = Linkage::kCommon;
    else
      return linkage;
  }
}

bool ModuleParser::parse_attribute(Qualifiers& q) {
  lexer_.next();
  if (!is('(')) return fail_here("'('");
  for (unsigned depth = 0; token().kind != TokenKind::kEnd; lexer_.next()) {
    if (is('(')) ++depth;
    if (is_directive(".managed")) q.managed = true;
    if (is(')') && --depth == 0) break;
  }
  return expect(')');
}

/// What stands between the space and the name: type, vector length, alignment, attributes, and what a pointer parameter
/// points to (which nothing here uses).
bool ModuleParser::parse_qualifiers(Qualifiers& q) {
  while (token().kind == TokenKind::kDirective) {
    const Token t = token();
    const std::string_view word = t.text.substr(1);
    if (word == "attribute") {
      if (!parse_attribute(q)) return false;
      continue;
    }
    lexer_.next();
    if (word == "align") {
      const SourcePos pos = token().pos;
      uint64_t align = 0;
      if (!take_integer(align, "an alignment")) return false;
      if (!is_power_of_two(align) || align > (1u << 20)) return fail(pos, "an alignment is a power of two");
      q.align = align;
    } else if (word == "ptr") {
      // An alignment behind .ptr is that of the data pointed to.
      if (token().kind == TokenKind::kDirective && space_of_directive(token().text)) lexer_.next();
      uint64_t ignored = 0;
      if (accept_directive(".align") && !take_integer(ignored, "an alignment")) return false;
    } else if (word == "v2" || word == "v4" || word == "v8") {
      q.vector = static_cast<unsigned>(word[1] - '0');
    } else if (const auto type = type_named(word)) {
      q.type = *type;
    } else {
      return fail(t.pos, fmt::format("expected a type or .align, found '{}'", t.text));
    }
  }
  if (q.type == Type::kNone) return fail_here("a type");
  return true;
}

bool ModuleParser::parse_declarator(Declarator& d) {
  d = {};
  d.pos = token().pos;
  if (!take_identifier(d.name, "a name")) return false;
  if (accept('<')) {
    if (!take_u32(d.range, "a number of names") || !expect('>')) return false;
    if (d.range == 0) d.range = kNoIndex;  // %r<0> declares nothing
    return true;
  }
  while (accept('[')) {
    if (accept(']')) {
      d.dimensions.push_back(0);
      continue;
    }
    Constant size;
    const SourcePos pos = token().pos;
    if (!parse_expression(size)) return false;
    if (!size.is_integer() || (size.kind == Constant::Kind::kSigned && static_cast<int64_t>(size.bits) < 0))
      return fail(pos, "an array size is a number that is not negative");
    d.dimensions.push_back(size.bits);
    if (!expect(']')) return false;
  }
  return true;
}

bool ModuleParser::parse_registers() {
  lexer_.next();
  Qualifiers q;
  if (!parse_qualifiers(q)) return false;
  do {
    Declarator d;
    if (!parse_declarator(d) || !declare_register(d, q)) return false;
  } while (accept(','));
  return end_statement();
}

RegId ModuleParser::add_register(std::string name, Type type) {
  fn_.registers.push_back({std::move(name), type});
  return static_cast<RegId>(fn_.registers.size() - 1);
}

bool ModuleParser::declare_register(const Declarator& d, const Qualifiers& q) {
  if (d.range == kNoIndex) return true;
  if (d.range != 0 && q.vector != 1) return declare_vector_range(d, q);
  const uint64_t count = d.range != 0 ? d.range : q.vector;
  if (fn_.registers.size() + count > kMaxRegisters) return fail(d.pos, "too many registers");
  const auto first = static_cast<RegId>(fn_.registers.size());
  if (d.range != 0) {
    for (uint32_t i = 0; i < d.range; ++i) {
      std::string name(d.name);
      name += std::to_string(i);
      add_register(std::move(name), q.type);
    }
    scopes_.back().ranges.push_back({d.name, first, d.range});
    return true;
  }
  NameEntry entry;
  entry.reg = first;
  entry.kind = q.vector == 1 ? NameEntry::Kind::kRegister : NameEntry::Kind::kVectorRegister;
  entry.count = q.vector;
  for (unsigned i = 0; i < q.vector; ++i)
    add_register(q.vector == 1 ? std::string(d.name) : fmt::format("{}.{}", d.name, "xyzwabcd"[i]), q.type);
  return declare(d.name, d.pos, entry);
}

/// ".reg .v2 .b16 x<4>": so rare that each is declared by itself.
bool ModuleParser::declare_vector_range(const Declarator& d, const Qualifiers& q) {
  if (d.range > kMaxRegisters) return fail(d.pos, "too many registers");
  for (uint32_t i = 0; i < d.range; ++i) {
    made_names_.push_back(fmt::format("{}{}", d.name, i));
    Declarator one = d;
    one.name = made_names_.back();
    one.range = 0;
    if (!declare_register(one, q)) return false;
  }
  return true;
}

bool ModuleParser::parse_variables(Linkage linkage) {
  const auto space = token().kind == TokenKind::kDirective ? space_of_directive(token().text) : std::nullopt;
  if (!space || (fn_index_ == kNoIndex && (*space == Space::kReg || *space == Space::kParam)))
    return fail_here(fn_index_ == kNoIndex ? "a directive that may stand outside functions"
                                           : "a directive that may stand in a function");
  lexer_.next();
  if (*space == Space::kConst && is('[') && !skip_balanced('[', ']')) return false;  // the bank of PTX before 2.2
  Qualifiers q;
  q.linkage = linkage;
  q.space = *space;
  if (!parse_qualifiers(q)) return false;
  do {
    Declarator d;
    if (!parse_declarator(d) || !declare_variable(d, q)) return false;
  } while (accept(','));
  return end_statement();
}

bool ModuleParser::size_of(const Declarator& d, const Qualifiers& q, uint64_t& bytes) {
  bytes = uint64_t{bytes_of(q.type)} * q.vector;
  for (const uint64_t n : d.dimensions) {
    if (n > kMaxBytes || bytes * std::max<uint64_t>(n, 1) > kMaxBytes) return fail(d.pos, "the variable is too large");
    bytes *= n;
  }
  return true;
}

bool ModuleParser::declare_variable(const Declarator& d, const Qualifiers& q) {
  if (d.range != 0) return fail(d.pos, "a range of names is for registers only");
  Variable v;
  v.name = d.name;
  v.space = q.space;
  v.type = q.type;
  v.linkage = q.linkage;
  v.managed = q.managed;
  v.pos = d.pos;
  v.align = std::max<uint64_t>(1, q.align != 0 ? q.align : uint64_t{bytes_of(q.type)} * q.vector);
  if (!size_of(d, q, v.bytes)) return false;
  v.unsized = !d.dimensions.empty() && d.dimensions[0] == 0;
  if (accept('=')) {
    std::vector<uint64_t> dimensions = d.dimensions;
    if (!parse_initialiser(v, dimensions, q.vector)) return false;
  }
  const bool local = fn_index_ != kNoIndex && q.space != Space::kGlobal && q.space != Space::kConst;
  NameEntry entry;
  entry.symbol = {local ? SymbolKind::kLocalVariable : SymbolKind::kModuleVariable,
                  static_cast<uint32_t>(local ? fn_.variables.size() : module_.variables.size())};
  if (!local && fn_index_ == kNoIndex) {
    const auto known = module_names_.find(d.name);
    if (known != module_names_.end() && known->second.symbol.kind == SymbolKind::kModuleVariable) {
      Variable& old = module_.variables[known->second.symbol.index];
      if (v.linkage == Linkage::kExtern) return true;
      if (old.linkage == Linkage::kExtern) {
        old = std::move(v);
        return true;
      }
    }
  }
  if (!declare(d.name, d.pos, entry)) return false;
  (local ? fn_.variables : module_.variables).push_back(std::move(v));
  return true;
}

bool ModuleParser::parse_initialiser(Variable& v, std::vector<uint64_t>& dimensions, unsigned vector) {
  if (vector != 1) dimensions.push_back(vector);
  if (!is('{')) return parse_init_value(v, 0);
  const SourcePos pos = token().pos;
  if (dimensions.empty()) dimensions.push_back(1);  // x = {5}
  uint64_t end = 0;
  if (!parse_init_list(v, dimensions, 0, 0, end)) return false;
  if (v.unsized) {
    v.bytes = round_up(end, bytes_of(v.type));
    v.unsized = false;
  } else if (end > v.bytes) {
    return fail(pos, fmt::format("{} bytes of values for {} bytes of '{}'", end, v.bytes, v.name));
  }
  return true;
}

/// One { } group: the elements of dimension `level` beginning at byte `offset`. A nested group fills one element of
/// this level; single values fill it scalar by scalar. `end` receives the first byte behind what was given.
bool ModuleParser::parse_init_list(Variable& v, const std::vector<uint64_t>& dimensions, size_t level, uint64_t offset,
                                   uint64_t& end) {
  if (level >= dimensions.size()) return fail_here("a value");
  uint64_t stride = bytes_of(v.type);
  for (size_t i = level + 1; i < dimensions.size(); ++i) stride *= dimensions[i];
  if (!expect('{')) return false;
  end = offset;
  while (!is('}')) {
    if (is('{')) {
      uint64_t ignored = 0;
      if (!parse_init_list(v, dimensions, level + 1, end, ignored)) return false;
      end += stride;
    } else {
      if (!parse_init_value(v, end)) return false;
      end += bytes_of(v.type);
    }
    if (dimensions[level] != 0 && end - offset > stride * dimensions[level])
      return fail(token().pos, "too many values");
    if (!accept(',')) break;
  }
  return expect('}');
}

bool ModuleParser::parse_init_value(Variable& v, uint64_t offset) {
  const Token t = token();
  const bool is_name = t.kind == TokenKind::kIdentifier && t.text != "WARP_SZ";
  if (is_name || (t.kind == TokenKind::kNumber && lexer_.followed_by('('))) return parse_init_address(v, offset);
  Constant c;
  if (!parse_expression(c)) return false;
  auto bits = convert(c, v.type);
  if (!bits && c.is_integer()) bits = convert(Constant::of_double(c.as_double()), v.type);
  if (!bits) return fail(t.pos, fmt::format("this value cannot initialise a .{}", name_of(v.type)));
  const unsigned bytes = bytes_of(v.type);
  if (offset + bytes > kMaxInitBytes) return fail(t.pos, "the initialiser is too large");
  if (v.init.size() < offset + bytes) v.init.resize(offset + bytes);
  for (unsigned i = 0; i < bytes && i < 8; ++i) v.init[offset + i] = static_cast<uint8_t>(*bits >> (8 * i));
  return true;
}

/// symbol, symbol + 4, generic(symbol) + 4, 0xff00(symbol), 0xff00(generic(symbol) + 4)
bool ModuleParser::parse_init_address(Variable& v, uint64_t offset) {
  InitAddress a{};
  a.offset = offset;
  a.bytes = static_cast<uint8_t>(bytes_of(v.type));
  unsigned open = 0;
  if (token().kind == TokenKind::kNumber) {
    const SourcePos pos = token().pos;
    uint64_t mask = 0;
    if (!take_integer(mask, "a mask") || !expect('(')) return false;
    const int shift = std::countr_zero(mask);
    if (mask == 0 || shift % 8 != 0 || mask >> shift != 0xff)
      return fail(pos, "a mask selects one byte, such as 0xff00");
    a.shift = static_cast<uint8_t>(shift);
    a.bytes = 1;
    ++open;
  }
  std::string_view name;
  const SourcePos pos = token().pos;
  if (!take_identifier(name, "a name")) return false;
  if (name == "generic" && accept('(')) {
    a.generic = true;
    if (!take_identifier(name, "a name") || !expect(')')) return false;
  }
  a.symbol = name;
  while (is('+') || is('-')) {
    const bool minus = is('-');
    lexer_.next();
    int64_t n = 0;
    if (!take_signed(n)) return false;
    a.addend =
        static_cast<int64_t>(static_cast<uint64_t>(a.addend) +
                             static_cast<uint64_t>(minus ? 0 - static_cast<uint64_t>(n) : static_cast<uint64_t>(n)));
  }
  if (open != 0 && !expect(')')) return false;
  if (a.bytes != 1 && a.bytes != 4 && a.bytes != 8) return fail(pos, "an address needs 4 or 8 bytes");
  v.init_addresses.push_back(std::move(a));
  return true;
}

bool ModuleParser::parse_param(std::vector<Param>& list, SymbolKind kind) {
  const bool in_register = is_directive(".reg");
  if (!in_register && !is_directive(".param")) return fail_here(".param");
  lexer_.next();
  Qualifiers q;
  if (!parse_qualifiers(q)) return false;
  Declarator d;
  d.pos = token().pos;
  if (!is(',') && !is(')') && !parse_declarator(d)) return false;
  if (d.range != 0 || (in_register && (q.vector != 1 || !d.dimensions.empty())))
    return fail(d.pos, "this is not a parameter that PTX has");
  Param p;
  p.name = d.name;
  p.type = q.type;
  p.align = q.align != 0 ? q.align : std::max<uint64_t>(1, uint64_t{bytes_of(q.type)} * q.vector);
  if (!size_of(d, q, p.bytes)) return false;
  p.offset = list.empty() ? 0 : round_up(list.back().offset + list.back().bytes, p.align);
  NameEntry entry;
  if (in_register) {
    entry.kind = NameEntry::Kind::kRegister;
    entry.reg = p.reg = add_register(p.name, p.type);
  } else {
    entry.symbol = {kind, static_cast<uint32_t>(list.size())};
  }
  list.push_back(std::move(p));
  return d.name.empty() || d.name == "_" || declare(d.name, d.pos, entry);
}

bool ModuleParser::parse_param_list(std::vector<Param>& list, SymbolKind kind) {
  if (!expect('(')) return false;
  if (accept(')')) return true;
  do {
    if (!parse_param(list, kind)) return false;
  } while (accept(','));
  return expect(')');
}

}  // namespace warplens::ptx
