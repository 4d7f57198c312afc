// SPDX-License-Identifier: Apache-2.0
// Instructions: the guard, the opcode, and the choice of a row. First the modifiers select the rows they fit (worked
// out once for each spelling), then the first of those rows that the operands fit is taken. When none fits, the message
// comes from the row that got furthest.
#include <fmt/format.h>

#include <algorithm>

#include "ptx/module_parser.h"

namespace warplens::ptx {
namespace {

/// Fits the words of an opcode to the slots of a form, from left to right; an optional slot may stay empty.
class ModifierMatcher {
 public:
  ModifierMatcher(const Form& form, const std::vector<std::string_view>& words) : form_(form), words_(words) {}

  bool match(RowMatch& row) { return match_from(0, 0, row); }
  size_t furthest = 0;                         ///< words that fitted before something did not
  std::vector<std::string_view> alternatives;  ///< what could have stood there

 private:
  bool match_from(int slot, size_t word, RowMatch& row) {
    if (word > furthest) {
      furthest = word;
      alternatives.clear();
    }
    if (slot == form_.slot_count) return word == words_.size();
    const Slot& s = form_.slots[slot];
    for (int i = 0; i < s.count; ++i) {
      if (word < words_.size() && form_.word(slot, i) == words_[word]) {
        row.slots[slot] = static_cast<int8_t>(i);
        if (match_from(slot + 1, word + 1, row)) return true;
      } else if (word == furthest) {
        alternatives.push_back(form_.word(slot, i));
      }
    }
    row.slots[slot] = -1;
    return s.optional && match_from(slot + 1, word, row);
  }

  const Form& form_;
  const std::vector<std::string_view>& words_;
};

std::vector<std::string_view> split_opcode(std::string_view opcode) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at <= opcode.size();) {
    const size_t dot = std::min(opcode.find('.', at), opcode.size());
    words.push_back(opcode.substr(at, dot - at));
    at = dot + 1;
  }
  return words;
}

std::string list_of(std::vector<std::string_view> words) {
  constexpr size_t kShown = 24;
  std::string text;
  size_t shown = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    if (std::find(words.begin(), words.begin() + static_cast<ptrdiff_t>(i), words[i]) !=
        words.begin() + static_cast<ptrdiff_t>(i))
      continue;
    if (++shown > kShown) return text + " ...";
    text += fmt::format("{}.{}", text.empty() ? "" : " ", words[i]);
  }
  return text;
}

}  // namespace

const OpcodeMatch& ModuleParser::match_opcode(std::string_view opcode) {
  const auto [it, is_new] = opcodes_.try_emplace(opcode);
  OpcodeMatch& match = it->second;
  if (!is_new) return match;
  std::vector<std::string_view> words = split_opcode(opcode);
  const std::string_view mnemonic = words[0];
  words.erase(words.begin());
  const auto rows = table_.rows(mnemonic);
  if (rows.empty()) {
    match.problem = fmt::format("unknown opcode '{}'", mnemonic);
    const std::string_view near = table_.nearest(mnemonic);
    if (!near.empty()) match.hint = fmt::format("did you mean '{}'?", near);
    return match;
  }
  size_t furthest = 0;
  std::vector<std::string_view> alternatives;
  for (const OpDef* def : rows) {
    RowMatch row{def, {}};
    ModifierMatcher matcher(def->form, words);
    match.is_call |= def->role == Role::kCall;
    if (matcher.match(row)) {
      match.rows.push_back(row);
      continue;
    }
    if (matcher.furthest > furthest) alternatives.clear();
    furthest = std::max(furthest, matcher.furthest);
    if (matcher.furthest == furthest)
      alternatives.insert(alternatives.end(), matcher.alternatives.begin(), matcher.alternatives.end());
  }
  if (!match.rows.empty()) return match;
  std::string good(mnemonic);
  for (size_t i = 0; i < furthest; ++i) good += fmt::format(".{}", words[i]);
  match.problem = furthest < words.size() ? fmt::format("'{}' cannot be followed by '.{}'", good, words[furthest])
                                          : fmt::format("'{}' lacks a modifier", good);
  if (!alternatives.empty()) match.hint = "known here: " + list_of(alternatives);
  return match;
}

bool ModuleParser::parse_guard(Instr& instr) {
  if (!accept('@')) return true;
  instr.guard_negated = accept('!');
  if (token().kind != TokenKind::kIdentifier) return fail_here("a predicate register");
  RawOperand raw;
  raw.pos = token().pos;
  if (!parse_raw_name(raw)) return false;
  if (raw.kind != RawOperand::Kind::kRegister || fn_.registers[raw.reg].type != Type::kPred)
    return fail(raw.pos, fmt::format("'{}' is not a predicate register", raw.name));
  instr.guard = raw.reg;
  return true;
}

/// An operand "%r1+1" reads a register of its own that an addition before the instruction writes.
bool ModuleParser::add_offset(RawOperand& raw, const Instr& instr) {
  if (raw.kind != RawOperand::Kind::kRegister || raw.offset == 0) return true;
  const Type type = fn_.registers[raw.reg].type;
  const unsigned bits = bits_of(type);
  if (!is_integer(type) || (bits != 32 && bits != 64 && bits != 16))
    return fail(raw.pos, fmt::format("'{}' (.{}) cannot have an offset", raw.name, name_of(type)));
  const OpcodeMatch& match = match_opcode(bits == 64 ? "add.s64" : bits == 32 ? "add.s32" : "add.s16");
  if (match.rows.empty()) return fail(raw.pos, "offsets of registers need the instruction 'add'");
  Instr add;
  add.def = match.rows[0].def;
  add.slots = match.rows[0].slots;
  add.pos = instr.pos;
  add.loc = instr.loc;
  add.operands.resize(3);
  const RegId sum = add_register(std::string(raw.name) + "+", type);
  for (Operand& o : add.operands) o.type = bits == 64 ? Type::kS64 : bits == 32 ? Type::kS32 : Type::kS16;
  add.operands[0].tag = add.operands[1].tag = OperandTag::kReg;
  add.operands[0].reg = sum;
  add.operands[1].reg = raw.reg;
  add.operands[2].tag = OperandTag::kImm;
  add.operands[2].imm = static_cast<uint64_t>(raw.offset) & (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1);
  fn_.body.push_back(std::move(add));
  raw.reg = sum;
  raw.offset = 0;
  return true;
}

bool ModuleParser::parse_instruction() {
  Instr instr;
  if (!parse_guard(instr)) return false;
  if (token().kind != TokenKind::kIdentifier) return fail_here("an opcode");
  instr.pos = token().pos;
  instr.loc = loc_;
  opcode_ = lexer_.extend_opcode();
  const OpcodeMatch& match = match_opcode(opcode_);
  lexer_.next();
  if (match.rows.empty()) {
    // Not an error of the text: this function cannot run here, the others can.
    fn_.unsupported.push_back(make_error_at(module_.file_name, instr.pos, match.problem, match.hint));
    recover_in_body();
    return true;
  }
  if (!parse_raw_operands(match.is_call)) return false;
  if (!end_statement()) return false;
  for (auto* list : {&raw_, &raw_elements_})
    for (RawOperand& raw : *list)
      if (!add_offset(raw, instr)) return true;
  SourcePos worst_pos = instr.pos;
  std::string worst;
  for (const RowMatch& row : match.rows) {
    new_labels_.clear();
    if (!bind(row, instr)) {
      // The fault that lies furthest to the right is of the row that was meant.
      if (worst.empty() || worst_pos.line < misfit_pos_.line ||
          (worst_pos.line == misfit_pos_.line && worst_pos.column < misfit_pos_.column)) {
        worst_pos = misfit_pos_;
        worst = misfit_message_;
      }
      continue;
    }
    if (!row.def->unsupported.empty())
      fn_.unsupported.push_back(make_error_at(module_.file_name, instr.pos,
                                              fmt::format("'{}' is not supported", opcode_),
                                              std::string(row.def->unsupported)));
    for (PendingLabel& p : new_labels_) {
      p.instr = static_cast<uint32_t>(fn_.body.size());
      scopes_.back().pending.push_back(p);
    }
    fn_.body.push_back(std::move(instr));
    return true;
  }
  fail(worst_pos, std::move(worst));
  return true;
}

}  // namespace warplens::ptx
