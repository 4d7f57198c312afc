// SPDX-License-Identifier: Apache-2.0
#include "machine/atomics.h"

#include <algorithm>
#include <string_view>

#include "machine/spread.h"

namespace warplens::machine {
namespace {

using events::Access;
using events::Form;
using events::Space;

const ptx::Operand* operand_of(const ptx::Instr& in, std::string_view name) {
  for (size_t k = 0; k < in.operands.size(); ++k)
    if (in.def->form.operands[k].name == name) return &in.operands[k];
  return nullptr;
}

/// Whether the lanes' operands become one. Of a 32-bit operation whose result is not needed, any; where each lane must
/// learn what it would have read, sums alone: of equal operands, and (of 32 bits) of any where all lanes are active.
events::Combined combined(const ptx::Instr& in, const AccessFacts& facts) {
  using events::Combined;
  const std::string_view op = in.word("op");
  if (!facts.one_place || ptx::is_float(in.type())) return Combined::kNever;
  if (op == "add" && facts.one_value) return Combined::kAlways;
  if (ptx::bytes_of(in.type()) != 4) return Combined::kNever;
  static constexpr std::string_view kReduced[] = {"add", "and", "or", "xor", "min", "max"};
  const bool reduced = std::find(std::begin(kReduced), std::end(kReduced), op) != std::end(kReduced);
  if (facts.result_unused && reduced) return Combined::kAlways;
  return op == "add" ? Combined::kFullWarps : Combined::kNever;
}

/// Shared memory has 32-bit integer atomics, exchange and compare-and-swap of 32 and 64 bits, and no other.
bool needs_loop(const ptx::Instr& in) {
  const std::string_view op = in.word("op");
  if (op == "cas" || op == "exch") return false;
  return ptx::is_float(in.type()) || ptx::bytes_of(in.type()) != 4;
}

void plan_shared(AtomicPlan& plan, const ptx::Instr& in, const AccessFacts& facts) {
  const std::string_view op = in.word("op");
  plan.combined = combined(in, facts);
  if (needs_loop(in)) {
    plan.form = Form::kRetried;
  } else if (const ptx::Operand* b = operand_of(in, "b"); b != nullptr && b->tag == ptx::OperandTag::kImm) {
    if (op == "add" && b->imm == 1 && facts.result_unused && plan.combined == events::Combined::kNever)
      plan.form = Form::kIncrement;
  }
}

bool differs_by_thread(ptx::SpecialReg reg) {
  switch (reg) {
    case ptx::SpecialReg::kNtidX:
    case ptx::SpecialReg::kNtidY:
    case ptx::SpecialReg::kNtidZ:
    case ptx::SpecialReg::kCtaidX:
    case ptx::SpecialReg::kCtaidY:
    case ptx::SpecialReg::kCtaidZ:
    case ptx::SpecialReg::kNctaidX:
    case ptx::SpecialReg::kNctaidY:
    case ptx::SpecialReg::kNctaidZ: return false;
    default: return true;
  }
}

/// Whether what `in` writes differs by thread even if all that it reads does not.
bool makes_difference(const ptx::Instr& in) {
  const auto special = [](const ptx::Operand& o) {
    return o.tag == ptx::OperandTag::kSpecial && differs_by_thread(o.special);
  };
  switch (in.def->role) {
    case ptx::Role::kValue: break;
    case ptx::Role::kLoad:
      if (in.space() == ptx::Space::kLocal || in.space() == ptx::Space::kGeneric) return true;
      break;
    default: return true;
  }
  return std::any_of(in.operands.begin(), in.operands.end(), special) ||
         std::any_of(in.elements.begin(), in.elements.end(), special);
}

}  // namespace

AtomicPlan plan_atomic(const ptx::Instr& in, Space space, const AccessFacts* facts) {
  AtomicPlan plan;
  const std::string_view op = in.word("op");
  const bool exchanges = op == "cas" || op == "exch";
  if (in.def->role == ptx::Role::kReduction) plan.access = Access::kReduction;
  if (space == Space::kShared && op == "cas") {
    plan.form = Form::kCompareAndSwap;
    plan.estimate = ptx::bytes_of(in.type()) < 4;  // a loop around the word that it is in
  }
  if (facts == nullptr) return plan;
  AccessFacts known = *facts;
  known.result_unused |= plan.access == Access::kReduction;
  if (space == Space::kGlobal) {
    if (known.result_unused && !exchanges) plan.access = Access::kReduction;
    plan.combined = combined(in, known);
  }
  if (space == Space::kShared && op != "cas") plan_shared(plan, in, known);
  return plan;
}

std::vector<bool> registers_by_thread(const ptx::Function& function) { return spread(function, makes_difference); }

}  // namespace warplens::machine
