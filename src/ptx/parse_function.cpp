// SPDX-License-Identifier: Apache-2.0
// Functions: header, performance directives, and the statements of the body with their nested scopes. Inline asm puts
// "{ .reg ... ; label: ... }" into bodies, again and again with the same names, so every scope has its own registers,
// variables and labels; they get numbers of the whole function, and the names matter no more.
//
// A label may be used before it is defined, and a use in an inner scope may mean a label of an outer one: uses wait in
// their scope until it closes, and what is unknown then moves outward.
#include <fmt/format.h>

#include "ptx/module_parser.h"

namespace warplens::ptx {

bool ModuleParser::parse_function(Linkage linkage, bool is_entry) {
  fn_ = Function{};
  fn_.is_entry = is_entry;
  fn_.linkage = linkage;
  fn_.nounroll = nounroll_module_;
  fn_.locs.resize(1);
  scopes_.clear();
  open_scope();  // of the parameters
  loc_ = 0;
  last_loc_.clear();
  carry_ = kNoReg;
  lexer_.next();
  fn_index_ = 0;  // declarations belong to this function from here on
  const bool good = parse_function_header() && (fn_.is_declaration || parse_body());
  if (good && !fn_.is_declaration) {
    close_scope();
    module_.functions[fn_index_] = std::move(fn_);
  }
  fn_index_ = kNoIndex;
  scopes_.clear();
  return good;
}

bool ModuleParser::parse_function_header() {
  Qualifiers ignored;
  while (is_directive(".attribute"))
    if (!parse_attribute(ignored)) return false;
  if (is('(') && !parse_param_list(fn_.returns, SymbolKind::kReturn)) return false;
  fn_.pos = token().pos;
  std::string_view name;
  if (!take_identifier(name, "a function name")) return false;
  fn_.name = name;
  if (is('(') && !parse_param_list(fn_.params, SymbolKind::kParameter)) return false;
  if (!fn_.params.empty()) fn_.param_bytes = fn_.params.back().offset + fn_.params.back().bytes;
  if (!parse_function_directives()) return false;
  fn_.is_declaration = is(';');
  if (!fn_.is_declaration && !is('{')) return fail_here("'{' or ';'");

  const auto known = module_names_.find(name);
  if (known == module_names_.end()) {
    fn_index_ = static_cast<uint32_t>(module_.functions.size());
    NameEntry entry;
    entry.symbol = {SymbolKind::kFunction, fn_index_};
    module_names_[name] = entry;
    module_.functions.push_back(fn_);  // the header: calls of itself need it
  } else {
    if (known->second.symbol.kind != SymbolKind::kFunction)
      return fail(fn_.pos, fmt::format("'{}' is declared twice", name));
    fn_index_ = known->second.symbol.index;
    if (!fn_.is_declaration && !module_.functions[fn_index_].is_declaration)
      return fail(fn_.pos, fmt::format("'{}' is defined twice", name));
    if (!fn_.is_declaration) module_.functions[fn_index_] = fn_;
  }
  if (fn_.is_declaration) lexer_.next();
  return true;
}

bool ModuleParser::parse_function_directives() {
  const auto triple = [this](std::array<uint32_t, 3>& t) {
    t = {1, 1, 1};
    size_t i = 0;
    do {
      if (i == 3) return fail_here("at most three numbers");
      if (!take_u32(t[i++], "a number")) return false;
    } while (accept(','));
    return true;
  };
  while (token().kind == TokenKind::kDirective) {
    const Token t = token();
    lexer_.next();
    uint32_t ignored = 0;
    bool good = true;
    if (t.text == ".maxntid") {
      good = triple(fn_.maxntid);
    } else if (t.text == ".reqntid") {
      good = triple(fn_.reqntid);
    } else if (t.text == ".reqnctapercluster") {
      good = triple(fn_.reqcluster);
    } else if (t.text == ".minnctapersm") {
      good = take_u32(fn_.minnctapersm, "a number");
    } else if (t.text == ".maxnreg") {
      good = take_u32(fn_.maxnreg, "a number");
    } else if (t.text == ".maxnctapersm" || t.text == ".maxclusterrank" || t.text == ".abi_preserve" ||
               t.text == ".abi_preserve_control") {
      good = take_u32(ignored, "a number");
    } else if (t.text == ".noreturn") {
      fn_.noreturn = true;
    } else if (t.text == ".pragma") {
      fn_.nounroll = parse_pragma() || fn_.nounroll;
      good = expect(';');
    } else if (t.text == ".attribute") {
      good = skip_balanced('(', ')');
    } else if (t.text != ".explicitcluster" && t.text != ".blocksareclusters" && t.text != ".unique") {
      return fail(t.pos, fmt::format("unknown directive '{}'", t.text));
    }
    if (!good) return false;
  }
  return true;
}

bool ModuleParser::parse_pragma() {
  bool nounroll = false;
  for (; token().kind == TokenKind::kString || is(','); lexer_.next())
    nounroll = nounroll || (token().kind == TokenKind::kString && token().text == "nounroll");
  return nounroll;
}

bool ModuleParser::parse_body() {
  lexer_.next();
  open_scope();
  nounroll_.clear();
  while (scopes_.size() > 1) {
    if (token().kind == TokenKind::kEnd || errors.size() >= kMaxErrors) return fail_here("'}'");
    statement_ = token().pos;
    if (is('}')) {
      close_scope();
      lexer_.next();
    } else if (is('{')) {
      if (scopes_.size() > kMaxNesting) return fail(token().pos, "blocks are nested too deeply");
      open_scope();
      lexer_.next();
    } else if (!parse_statement()) {
      recover_in_body();
    }
  }
  for (const uint32_t i : nounroll_)
    if (i < fn_.body.size()) fn_.body[i].nounroll = true;
  return true;
}

bool ModuleParser::parse_statement() {
  if (accept(';')) return true;
  if (is('@')) return parse_instruction();
  if (token().kind == TokenKind::kDirective) return parse_body_directive();
  if (token().kind != TokenKind::kIdentifier) return fail_here("an instruction, a label or a directive");
  return lexer_.followed_by(':') ? parse_label_statement() : parse_instruction();
}

bool ModuleParser::parse_body_directive() {
  const std::string_view d = token().text;
  if (d == ".loc") return parse_loc();
  if (d == ".reg") return parse_registers();
  if (d == ".pragma") {
    lexer_.next();
    if (parse_pragma()) nounroll_.push_back(static_cast<uint32_t>(fn_.body.size()));
    return end_statement();
  }
  const auto linkage = take_linkage();
  return linkage && parse_variables(*linkage);
}

bool ModuleParser::parse_label_statement() {
  const Token t = token();
  lexer_.next();
  lexer_.next();
  if (is_directive(".branchtargets")) return parse_branch_targets(t.text, t.pos);
  if (is_directive(".callprototype") || is_directive(".calltargets")) {
    // Both describe what an indirect call may reach; the callee itself says the same when the call happens.
    while (token().kind != TokenKind::kEnd && !is(';')) lexer_.next();
    NameEntry entry;
    entry.kind = NameEntry::Kind::kPrototype;
    return declare(t.text, t.pos, entry) && end_statement();
  }
  const auto here = static_cast<uint32_t>(fn_.body.size());
  fn_.labels.emplace_back(t.text, here);
  return define_label(t.text, t.pos, {false, here});
}

bool ModuleParser::parse_branch_targets(std::string_view name, SourcePos pos) {
  lexer_.next();
  const auto table = static_cast<uint32_t>(fn_.branch_tables.size());
  fn_.branch_tables.emplace_back();
  do {
    PendingLabel p;
    p.pos = token().pos;
    p.table = table;
    p.operand = static_cast<uint32_t>(fn_.branch_tables[table].size());
    if (!take_identifier(p.name, "a label")) return false;
    fn_.branch_tables[table].push_back(0);
    scopes_.back().pending.push_back(p);
  } while (accept(','));
  return define_label(name, pos, {true, table}) && end_statement();
}

bool ModuleParser::take_loc_place(SourceLoc& loc) {
  return take_u32(loc.file, "a file number") && take_u32(loc.line, "a line") && take_u32(loc.column, "a column");
}

/// .loc file line column [, function_name label [+ n], inlined_at file line column]
/// Where inlined code was itself inlined, the place of the call is that of an earlier .loc: the chain is found by
/// place.
bool ModuleParser::parse_loc() {
  lexer_.next();
  SourceLoc loc;
  if (!take_loc_place(loc)) return false;
  InlineSite site;
  bool inlined = false;
  while (accept(',')) {
    std::string_view word, label;
    if (!take_identifier(word, "function_name or inlined_at")) return false;
    if (word == "function_name") {
      if (!take_identifier(label, "a label")) return false;
      site.function = label;
      uint64_t offset = 0;
      if (accept('+') && !take_integer(offset, "an offset")) return false;
      if (offset != 0) site.function += fmt::format("+{}", offset);
    } else if (word == "inlined_at") {
      inlined = true;
      if (!take_loc_place(site.call)) return false;
    } else {
      return fail(statement_, fmt::format("unknown attribute '{}' of .loc", word));
    }
  }
  if (inlined) {
    const auto outer = last_loc_.find({site.call.file, site.call.line, site.call.column});
    if (outer != last_loc_.end()) site.call.inlined_at = fn_.locs[outer->second].inlined_at;
    // Blocks of inlined code alternate with their surroundings: the latest sites are likely to come again.
    auto& sites = module_.inline_sites;
    constexpr size_t kLookBack = 64;
    size_t i = sites.size();
    const size_t stop = i > kLookBack ? i - kLookBack : 0;
    while (i > stop && !(sites[i - 1].function == site.function && sites[i - 1].call == site.call)) --i;
    if (i == stop) {
      sites.push_back(site);
      i = sites.size();
    }
    loc.inlined_at = static_cast<uint32_t>(i - 1);
  }
  if (fn_.locs[loc_] == loc && loc_ != 0) return true;
  loc_ = static_cast<uint32_t>(fn_.locs.size());
  fn_.locs.push_back(loc);
  last_loc_[{loc.file, loc.line, loc.column}] = loc_;
  return true;
}

void ModuleParser::close_scope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (const PendingLabel& p : scope.pending) {
    const auto it = scope.labels.find(p.name);
    if (it != scope.labels.end())
      resolve_label(p, it->second);
    else if (!scopes_.empty())
      scopes_.back().pending.push_back(p);
    else
      fail(p.pos, fmt::format("label '{}' is not defined", p.name));
  }
}

void ModuleParser::resolve_label(const PendingLabel& p, const LabelEntry& label) {
  if (p.instr == kNoIndex) {
    if (label.is_table)
      fail(p.pos, fmt::format("'{}' is a list of labels, not a label", p.name));
    else
      fn_.branch_tables[p.table][p.operand] = label.index;
    return;
  }
  Instr& in = fn_.body[p.instr];
  if (label.is_table != (in.def->role == Role::kBranchIndexed)) {
    fail(p.pos,
         fmt::format("'{}' is {}", p.name, label.is_table ? "a list of labels" : "a label, not a list of labels"));
    return;
  }
  Operand& o = in.operands[p.operand];
  o.tag = label.is_table ? OperandTag::kBranchTable : OperandTag::kLabel;
  o.first = label.index;
}

bool ModuleParser::define_label(std::string_view name, SourcePos pos, LabelEntry entry) {
  if (scopes_.back().labels.emplace(name, entry).second) return true;
  fail(pos, fmt::format("label '{}' is defined twice", name));
  return true;  // the statement itself is complete
}

bool ModuleParser::declare(std::string_view name, SourcePos pos, const NameEntry& entry) {
  auto& names = fn_index_ == kNoIndex ? module_names_ : scopes_.back().names;
  if (names.emplace(name, entry).second) return true;
  return fail(pos, fmt::format("'{}' is declared twice", name));
}

namespace {

/// The number behind `prefix` in `name`, when that is all that follows and it is written as PTX numbers a range.
std::optional<uint32_t> number_behind(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  if (digits.empty() || digits.size() > 7 || (digits[0] == '0' && digits.size() > 1)) return std::nullopt;
  uint32_t n = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + static_cast<uint32_t>(c - '0');
  }
  return n;
}

}  // namespace

/// The entry of a name, innermost scope first. A register of a range has none of its own: `storage` is filled.
const NameEntry* ModuleParser::find_name(std::string_view name, NameEntry& storage) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    const Scope& scope = scopes_[i];
    for (const RegisterRange& r : scope.ranges) {
      const auto number = number_behind(r.prefix, name);
      if (!number || *number >= r.count) continue;
      storage = {};
      storage.kind = NameEntry::Kind::kRegister;
      storage.reg = r.first + *number;
      return &storage;
    }
    if (scope.names.empty()) continue;
    if (const auto it = scope.names.find(name); it != scope.names.end()) return &it->second;
  }
  const auto it = module_names_.find(name);
  return it == module_names_.end() ? nullptr : &it->second;
}

RegId ModuleParser::carry_register() {
  if (carry_ == kNoReg) carry_ = add_register("CC.CF", Type::kPred);
  return carry_;
}

}  // namespace warplens::ptx
