// SPDX-License-Identifier: Apache-2.0
// The constructor of Form: reads the syntax string of a row while the compiler runs. It works in two passes because the
// clauses (".type = {...}") stand behind the operands that need to know which slots name types: first it finds the
// clauses, then it reads slots and operands from left to right. A fault calls one of form_error's functions, which are
// not constexpr, so the compiler stops there and prints that name and the offending row.
#pragma once
#include "ptx/form.h"

namespace warplens::ptx {

class FormParser {
 public:
  constexpr explicit FormParser(Form& f) : f_(f), t_(f.text) {}

  constexpr void parse() {
    body_end_ = find(';', 0);
    f_.mnemonic = take_word();
    if (f_.mnemonic.empty()) form_error::missing_mnemonic();
    while (at_ < body_end_ && (t_[at_] == '.' || t_[at_] == '{')) parse_slot();
    check_clauses();
    skip_space();
    bool optional = false;
    for (bool first = true; at_ < body_end_; first = false) {
      if (!first) expect(',');
      parse_operand(first, optional);
    }
  }

 private:
  static constexpr bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  constexpr void skip_space() {
    while (at_ < t_.size() && (t_[at_] == ' ' || t_[at_] == '\n')) ++at_;
  }
  constexpr size_t find(char c, size_t from) const {
    for (size_t i = from; i < t_.size(); ++i)
      if (t_[i] == c) return i;
    return t_.size();
  }
  constexpr bool accept(char c) {
    skip_space();
    if (at_ >= t_.size() || t_[at_] != c) return false;
    ++at_;
    return true;
  }
  constexpr void expect(char c) {
    if (!accept(c)) form_error::misplaced_character();
    skip_space();
  }
  /// A word, with "::" inside when it is one of a modifier (".shared::cta", ".L1::evict_last").
  constexpr std::string_view take_word(bool modifier = false) {
    const size_t begin = at_;
    while (at_ < t_.size() && (is_word(t_[at_]) || (modifier && t_[at_] == ':'))) ++at_;
    return t_.substr(begin, at_ - begin);
  }
  constexpr void add_word(std::string_view w, size_t at) {
    if (f_.word_count >= kMaxWords) form_error::too_many_words();
    f_.words[f_.word_count++] = {static_cast<uint16_t>(at), static_cast<uint8_t>(w.size()),
                                 type_named(w).value_or(Type::kNone)};
  }

  constexpr void parse_slot() {
    if (f_.slot_count >= kMaxSlots) form_error::too_many_slots();
    Slot& s = f_.slots[f_.slot_count++];
    s.optional = t_[at_] == '{';
    if (s.optional) ++at_;
    if (at_ >= t_.size() || t_[at_] != '.') form_error::misplaced_character();
    const size_t name_at = ++at_;
    s.name = take_word(true);
    if (s.name.empty()) form_error::misplaced_character();
    if (s.optional && (at_ >= t_.size() || t_[at_++] != '}')) form_error::unclosed_brace();
    s.first = f_.word_count;
    const size_t clause = clause_of(s.name);
    s.literal = clause == 0;
    if (s.literal)
      add_word(s.name, name_at);
    else
      add_alternatives(clause);
    s.count = static_cast<uint8_t>(f_.word_count - s.first);
  }

  /// Where the alternatives of `.name` begin (behind the brace), or 0. A clause is ".a = .b = {...}".
  constexpr size_t clause_of(std::string_view name) const {
    for (size_t i = body_end_; i < t_.size(); ++i) {
      if (t_[i] == '{') {
        i = find('}', i);
        continue;
      }
      if (t_[i] == '.' && t_.substr(i + 1, name.size()) == name &&
          (i + 1 + name.size() >= t_.size() || !is_word(t_[i + 1 + name.size()])))
        return find('{', i) + 1;
    }
    return 0;
  }
  constexpr void add_alternatives(size_t at) {
    const size_t saved = at_;
    at_ = at;
    do {
      expect('.');
      const size_t begin = at_;
      const std::string_view w = take_word(true);
      if (w.empty()) form_error::misplaced_character();
      add_word(w, begin);
      skip_space();
    } while (accept(','));
    if (!accept('}')) form_error::unclosed_brace();
    at_ = saved;
  }
  /// Every clause must belong to a slot, and be closed.
  constexpr void check_clauses() {
    const size_t saved = at_;
    at_ = body_end_;
    while (at_ < t_.size()) {
      expect(';');
      if (at_ >= t_.size()) break;
      do {
        expect('.');
        if (f_.slot(take_word(true)) < 0) form_error::clause_without_slot();
        expect('=');
      } while (at_ < t_.size() && t_[at_] == '.');
      if (!accept('{')) form_error::misplaced_character();
      at_ = find('}', at_);
      if (!accept('}')) form_error::unclosed_brace();
      skip_space();
    }
    at_ = saved;
  }

  constexpr bool names_types(int s) const {
    for (int i = 0; i < f_.slots[s].count; ++i)
      if (f_.word_type(s, i) == Type::kNone) return false;
    return true;
  }
  /// The slot that gives the type to operands that do not say theirs: .type, or the only slot of types; -1 when none.
  constexpr int default_type_slot() const {
    int found = -1;
    for (int i = 0; i < f_.slot_count; ++i) {
      if (!names_types(i)) continue;
      if (f_.slots[i].name == "type") return i;
      if (found >= 0) return -1;
      found = i;
    }
    return found;
  }

  constexpr OperandForm& add_operand() {
    if (f_.operand_count >= kMaxOperands) form_error::too_many_operands();
    OperandForm& o = f_.operands[f_.operand_count++];
    o.name = take_word();
    if (o.name.empty()) form_error::misplaced_character();
    return o;
  }
  constexpr void parse_operand(bool first, bool& optional) {
    if (accept('[')) {
      add_operand().kind = OperandKind::kAddress;
      const size_t head = f_.operand_count - 1u;
      while (!accept(']')) {
        expect(',');
        OperandForm& o = add_operand();
        o.in_bracket = true;
        parse_kind(o);
        if (accept('?')) o.optional = true;
      }
      optional = accept('?') || optional;
      for (size_t i = head; i < f_.operand_count; ++i) f_.operands[i].optional |= optional;
      skip_space();
      return;
    }
    OperandForm& o = add_operand();
    parse_kind(o);
    const char c = o.name[0];
    const bool writable =
        o.kind == OperandKind::kTyped || o.kind == OperandKind::kVector || o.kind == OperandKind::kAny;
    o.is_dest |= first && writable && (c == 'd' || c == 'r' || c == 'p');
    optional = accept('?') || optional;
    o.optional = optional;
    if (accept('|')) {
      const bool is_dest = o.is_dest;
      skip_space();
      OperandForm& second = add_operand();
      parse_kind(second);
      accept('?');
      second.is_dest = is_dest;
      second.optional = second.pair_second = true;
    }
    skip_space();
  }

  constexpr void parse_kind(OperandForm& o) {
    std::string_view type;
    bool needs_type = true;
    if (accept(':')) {
      const std::string_view word = take_word();
      if (word == "vec" || word == "imm" || word == "any") {
        o.kind = word == "vec" ? OperandKind::kVector : word == "imm" ? OperandKind::kImmediate : OperandKind::kAny;
        needs_type = word == "vec";
        if (accept(':')) type = take_word();
      } else if (word == "label" || word == "func" || word == "params") {
        o.kind = word == "label" ? OperandKind::kLabel : word == "func" ? OperandKind::kFunction : OperandKind::kParams;
        return;
      } else if (word == "carry") {
        o.type = Type::kPred;
        o.implicit = true;
        o.is_dest = o.name == "cout";
        return;
      } else {
        type = word;
      }
    }
    if (type.empty()) {
      o.type_slot = static_cast<int8_t>(default_type_slot());
      if (o.type_slot < 0 && needs_type) form_error::operand_without_a_type();
      if (o.kind == OperandKind::kImmediate && o.type_slot < 0) o.type = Type::kB64;
      return;
    }
    const int s = f_.slot(type);
    if (s >= 0) {
      if (!names_types(s)) form_error::operand_without_a_type();
      o.type_slot = static_cast<int8_t>(s);
    } else if (type_named(type)) {
      o.type = *type_named(type);
    } else {
      form_error::unknown_operand_kind();
    }
  }

  Form& f_;
  std::string_view t_;
  size_t at_ = 0;
  size_t body_end_ = 0;
};

consteval Form::Form(const char* t) : text(t) { FormParser(*this).parse(); }

}  // namespace warplens::ptx
