// SPDX-License-Identifier: Apache-2.0
#include "passes/counted_loops.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/bits.h"
#include "ir/kernel.h"

namespace warplens::passes {
namespace {

using ptx::Instr;
using ptx::OperandTag;
using ptx::RegId;
using ptx::Role;

constexpr unsigned kMostCost = 50;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// Division and root that the assembler makes a call for: IEEE rounding, or 64 bits.
bool is_hidden_call(const Instr& in) {
  const std::string_view name = in.def->form.mnemonic;
  if (!is_one_of(name, {"div", "rem", "rcp", "sqrt"})) return false;
  if (in.has("rn") || in.has("rz") || in.has("rm") || in.has("rp")) return true;
  const ptx::Type type = in.type();
  return ptx::bits_of(type) == 64 && !in.has("approx");
}

/// What the assembler adds up against its limit, as measured; where no measurement exists, what is alike.
unsigned cost_of(const Instr& in) {
  const std::string_view name = in.def->form.mnemonic;
  const unsigned guard = in.guard != ptx::kNoReg && in.def->role != Role::kBranch ? 1 : 0;
  if (in.def->role == Role::kLoad || in.def->role == Role::kStore) return 2 + guard;
  if (is_one_of(name, {"mov", "abs", "neg", "cvta"})) return guard;
  if (name == "mad" && in.has("wide")) return 4 + guard;
  if (is_one_of(name, {"bfe", "bfi", "clz", "bfind", "brev"})) return 2 + guard;
  const ptx::Type type = in.type();
  if (ptx::bits_of(type) == 16 || type == ptx::Type::kF16x2 || type == ptx::Type::kBF16x2) return 2 + guard;
  if (is_one_of(name, {"ex2", "lg2", "rsqrt", "sqrt", "rcp"}) && type == ptx::Type::kF32)
    return (in.has("ftz") ? 1 : 6) + guard;
  if (name == "div" && type == ptx::Type::kF32) return (in.has("ftz") ? 8 : 9) + guard;
  if (is_one_of(name, {"div", "rem"})) return (name == "div" ? 25 : 20) + guard;
  return 1 + guard;
}

class Finder {
 public:
  explicit Finder(const ptx::Function& f) : f_(f) {}

  std::optional<CountedLoop> at(uint32_t last) {
    const Instr& back = f_.body[last];
    if (back.def->role != Role::kBranch || back.guard == ptx::kNoReg || back.guard_negated) return std::nullopt;
    loop_.first = back.operands[0].first;
    loop_.last = last;
    // The body first: it gives up early on long loops, closed() looks at the whole function.
    if (loop_.first > last || !body_is_fit() || !closed()) return std::nullopt;
    return counted() ? std::optional(loop_) : std::nullopt;
  }

 private:
  /// Nothing enters behind the first instruction, nothing leaves before the last, and no loop is inside.
  bool closed() const {
    for (uint32_t i = 0; i < f_.body.size(); ++i) {
      const Instr& in = f_.body[i];
      const bool inside = i >= loop_.first && i <= loop_.last;
      if (in.def->role == Role::kBranchIndexed && inside) return false;
      if (in.def->role != Role::kBranch || i == loop_.last) continue;
      const uint32_t to = in.operands[0].first;
      const bool into = to > loop_.first && to <= loop_.last;
      if (inside ? !into || to <= i : into) return false;
    }
    for (const auto& table : f_.branch_tables)
      for (const uint32_t to : table)
        if (to > loop_.first && to <= loop_.last) return false;
    return true;
  }

  bool body_is_fit() const {
    unsigned cost = 0;
    for (uint32_t i = loop_.first; i <= loop_.last; ++i) {
      const Instr& in = f_.body[i];
      if (in.nounroll || is_hidden_call(in)) return false;
      switch (in.def->role) {
        case Role::kStore:
          if (in.space() != ptx::Space::kParam && !address_moves(in)) return false;
          break;
        case Role::kValue:
        case Role::kLoad:
        case Role::kBranch:
        case Role::kNoEffect: break;
        default: return false;
      }
      cost += cost_of(in);
      if (cost > kMostCost) return false;
    }
    return true;
  }

  unsigned definitions(RegId reg) const {
    unsigned n = 0;
    for (uint32_t i = loop_.first; i <= loop_.last; ++i)
      ir::for_each_write(f_.body[i], [&](RegId r) { n += r == reg; });
    return n;
  }

  bool address_moves(const Instr& in) const {
    return std::ranges::any_of(in.operands, [&](const ptx::Operand& o) {
      return o.tag == OperandTag::kAddress && o.reg != ptx::kNoReg && definitions(o.reg) > 0;
    });
  }

  /// Happens once in each round: not guarded, and no branch leads around it.
  bool always(uint32_t at) const {
    if (f_.body[at].guard != ptx::kNoReg) return false;
    for (uint32_t i = loop_.first; i < at; ++i)
      if (f_.body[i].def->role == Role::kBranch && f_.body[i].operands[0].first > at) return false;
    return true;
  }

  /// The only instruction of the loop that writes `reg`.
  std::optional<uint32_t> definition(RegId reg) const {
    if (definitions(reg) != 1) return std::nullopt;
    for (uint32_t i = loop_.first; i <= loop_.last; ++i) {
      bool writes = false;
      ir::for_each_write(f_.body[i], [&](RegId r) { writes = writes || r == reg; });
      if (writes) return i;
    }
    return std::nullopt;
  }

  bool counted() {
    const auto compare = definition(f_.body[loop_.last].guard);
    if (!compare || !always(*compare)) return false;
    const Instr& in = f_.body[*compare];
    // setp.cmp.type p, a, b: nothing combined, no second predicate.
    if (in.def->form.mnemonic != "setp" || in.operands.size() < 3 || !in.word("bool").empty()) return false;
    for (size_t i = 0; i < in.operands.size(); ++i)
      if (i != 0 && in.def->form.operands[i].is_dest && in.operands[i].tag != OperandTag::kNone) return false;
    loop_.type = in.type();
    if (ptx::bits_of(loop_.type) != 32 && ptx::bits_of(loop_.type) != 64) return false;
    std::vector<const ptx::Operand*> sides;
    for (size_t i = 0; i < in.operands.size(); ++i)
      if (!in.def->form.operands[i].is_dest && in.operands[i].tag != OperandTag::kNone)
        sides.push_back(&in.operands[i]);
    if (sides.size() != 2) return false;
    const std::string_view cmp = in.word("cmp");
    return counts(*sides[0], *sides[1], cmp, *compare) || counts(*sides[1], *sides[0], mirrored(cmp), *compare);
  }

  static std::string_view mirrored(std::string_view cmp) {
    return cmp == "lt"   ? "gt"
           : cmp == "gt" ? "lt"
           : cmp == "le" ? "ge"
           : cmp == "ge" ? "le"
           : cmp == "lo" ? "hi"
           : cmp == "hi" ? "lo"
           : cmp == "ls" ? "hs"
           : cmp == "hs" ? "ls"
                         : cmp;
  }

  bool counts(const ptx::Operand& counter, const ptx::Operand& bound, std::string_view cmp, uint32_t compare) {
    if (counter.tag != OperandTag::kReg) return false;
    if (bound.tag == OperandTag::kReg ? definitions(bound.reg) != 0 : bound.tag != OperandTag::kImm) return false;
    const auto add = definition(counter.reg);
    if (!add || *add >= compare || !always(*add) || !is_step(f_.body[*add], counter.reg)) return false;
    loop_.counter = counter.reg;
    loop_.bound = bound;
    const bool up = loop_.step > 0;
    const auto size = static_cast<uint64_t>(up ? loop_.step : -loop_.step);
    using Goes = CountedLoop::Goes;
    if (up && is_one_of(cmp, {"lt", "lo"}))
      loop_.goes = Goes::kBelow;
    else if (up && is_one_of(cmp, {"le", "ls"}))
      loop_.goes = Goes::kTo;
    else if (!up && is_one_of(cmp, {"gt", "hi"}))
      loop_.goes = Goes::kAbove;
    else if (!up && is_one_of(cmp, {"ge", "hs"}))
      loop_.goes = Goes::kDownTo;
    // Other steps could jump over the bound and come back to it after 2^32 rounds.
    else if (cmp == "ne" && is_power_of_two(size))
      loop_.goes = Goes::kUntil;
    else
      return false;
    return size < (uint64_t{1} << 30);
  }

  /// add.type r, r, imm / sub.type r, r, imm, of the comparison's width.
  bool is_step(const Instr& in, RegId counter) {
    const std::string_view name = in.def->form.mnemonic;
    if (!is_one_of(name, {"add", "sub"}) || ptx::bits_of(in.type()) != ptx::bits_of(loop_.type)) return false;
    const ptx::Operand* imm = nullptr;
    bool reads = false;
    for (size_t i = 0; i < in.operands.size(); ++i) {
      if (in.def->form.operands[i].is_dest || in.operands[i].tag == OperandTag::kNone) continue;
      if (in.operands[i].tag == OperandTag::kImm && !(name == "sub" && !reads))
        imm = &in.operands[i];
      else if (in.operands[i].tag == OperandTag::kReg && in.operands[i].reg == counter)
        reads = true;
      else
        return false;
    }
    if (imm == nullptr || !reads || in.has("sat") || in.has("cc")) return false;
    const int64_t value =
        ptx::bits_of(loop_.type) == 32 ? static_cast<int32_t>(imm->imm) : static_cast<int64_t>(imm->imm);
    loop_.step = name == "add" ? value : -value;
    return loop_.step != 0;
  }

  const ptx::Function& f_;
  CountedLoop loop_;
};

}  // namespace

std::vector<CountedLoop> find_counted_loops(const ptx::Function& function) {
  std::vector<CountedLoop> loops;
  if (function.nounroll) return loops;
  for (uint32_t i = 0; i < function.body.size(); ++i) {
    const Instr& in = function.body[i];
    const bool backward = in.def->role == Role::kBranch && !in.operands.empty() && in.operands[0].first <= i;
    if (!backward) continue;
    if (auto loop = Finder(function).at(i)) loops.push_back(*loop);
  }
  return loops;
}

}  // namespace warplens::passes
