// SPDX-License-Identifier: Apache-2.0
// Form: the syntax of one instruction, written as the PTX manual writes it, checked at compile time.
//
//   "add{.sat}.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64}"
//   "setp.cmp{.ftz}.type d:pred|q:pred?, a, b; .cmp = {.eq, .ne, .lt}; .type = {.s32, .f32}"
//   "ld{.weak}{.space}{.cop}{.vec}.type d:vec, [a]; .space = {.global, .shared}; ..."
//
// Mnemonic, then slots: `{.x}` is optional, `.x` required; a slot whose name has a clause `.x = {...}` takes one of
// those alternatives, any other stands for itself. Then operands, comma separated. An operand is `name`, `name:kind`,
// or `[name]` (an address); `?` after it makes it optional (with all that follow); `p|q` is a pair whose second half
// may be missing. Kinds: a slot name ("dtype": the type of that slot), a scalar type ("u32", "pred"), "vec" (a scalar,
// or a {list} of the length of slot .vec/.num), "imm", "label", "func", "params", "any". "vec", "imm" and "any" take a
// second kind that names the type: `d:vec:dtype`, `c:imm:b32`. Without a type the operand has that of slot `.type` (or
// of the only type slot).
// `[a, c:vec]` is an address with more inside its brackets (tex, TMA): the operands after the first are `in_bracket`.
// `cin:carry` and `cout:carry` are operands that the text does not show: the carry flag CC.CF, which the parser turns
// into a predicate register of the function, so that nothing else needs to know of it ("addc.cc.type d, cout:carry, a,
// b, cin:carry"). Clauses may be chained as in the manual: `.dtype = .atype = {.f16, .f32}`. The first operand is the
// destination unless its name does not begin with 'd' or 'r' or 'p'. A bad string does not compile: Form's constructor
// is consteval and names the fault by the function it calls.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "ptx/types.h"

namespace warplens::ptx {

constexpr int kMaxSlots = 12;
constexpr int kMaxWords = 128;  ///< alternatives of all slots together
constexpr int kMaxOperands = 8;

struct Slot {
  std::string_view name;  ///< without the dot; for a literal slot, the literal
  bool optional = false;
  bool literal = true;
  uint8_t first = 0, count = 0;  ///< its alternatives: Form::words[first, first + count) (1 for a literal)
};

/// A word inside Form::text: 4 bytes instead of 16, since a table has hundreds of forms.
struct Word {
  uint16_t at = 0;
  uint8_t size = 0;
  Type type = Type::kNone;  ///< when the word names a type
};

enum class OperandKind : uint8_t {
  kTyped,    ///< register or immediate of `type` / of the type in slot `type_slot`
  kVector,   ///< scalar or {list}; element type as kTyped
  kAddress,  ///< [reg], [reg+imm], [symbol+imm], [imm]
  kImmediate,
  kLabel,
  kFunction,
  kParams,  ///< (a, b, ...): argument or return list of call
  kAny,     ///< whatever is written: register, immediate, symbol, vector (mov)
};

struct OperandForm {
  std::string_view name;
  OperandKind kind = OperandKind::kTyped;
  int8_t type_slot = -1;    ///< slot that gives the type, or -1
  Type type = Type::kNone;  ///< fixed type when type_slot < 0
  bool is_dest = false;
  bool optional = false;
  bool pair_second = false;  ///< the q of p|q; belongs to the operand before it; always optional
  bool implicit = false;     ///< not written: the carry flag; a destination when its name is "cout"
  bool in_bracket = false;   ///< inside the brackets of the address before it
};

struct Form {
  std::string_view text;
  std::string_view mnemonic;
  uint8_t slot_count = 0;
  uint8_t operand_count = 0;
  uint8_t word_count = 0;
  std::array<Slot, kMaxSlots> slots = {};
  std::array<OperandForm, kMaxOperands> operands = {};
  std::array<Word, kMaxWords> words = {};

  consteval Form(const char* t);  // NOLINT: implicit, so that a table row is a plain string

  /// Index of the slot with that name, or -1.
  constexpr int slot(std::string_view name) const {
    for (int i = 0; i < slot_count; ++i)
      if (slots[i].name == name) return i;
    return -1;
  }
  /// Alternative `i` of slot `s`, without the dot.
  constexpr std::string_view word(int s, int i) const {
    const Word& w = words[slots[s].first + i];
    return text.substr(w.at, w.size);
  }
  /// The type that alternative `i` of slot `s` names; kNone when it names none.
  constexpr Type word_type(int s, int i) const { return words[slots[s].first + i].type; }
};

namespace form_error {  // called only at compile time on a bad form: the compiler's message names the function
inline void missing_mnemonic() {}
inline void too_many_slots() {}
inline void too_many_words() {}
inline void too_many_operands() {}
inline void clause_without_slot() {}
inline void unclosed_brace() {}
inline void misplaced_character() {}
inline void pair_without_first() {}
inline void unknown_operand_kind() {}
inline void operand_without_a_type() {}
}  // namespace form_error

}  // namespace warplens::ptx

#include "ptx/form_parse.h"  // IWYU pragma: keep — the consteval constructor
