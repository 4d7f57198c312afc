// SPDX-License-Identifier: Apache-2.0
#include "passes/instruction_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "ptx/parser.h"

namespace warplens::passes {

using ptx::OperandTag;

ptx::RegId InstructionWriter::new_register(ptx::Type type, std::string name) {
  out_.registers.push_back({std::move(name), type});
  return static_cast<ptx::RegId>(out_.registers.size() - 1);
}

void InstructionWriter::append(const ptx::Instr& like, std::string_view text, const Names& names) {
  std::string module = ".version 8.0\n.target sm_90\n.address_size 64\n.func f() { ";
  for (const auto& [name, reg] : names)
    fmt::format_to(std::back_inserter(module), ".reg .{} {}; ", ptx::name_of(out_.registers[reg].type), name);
  module += text;
  module += " }";
  auto parsed = ptx::parse(module, "added.ptx", table_);
  WL_CHECK(parsed && parsed->functions[0].unsupported.empty(), "{}", text);
  const ptx::Function& f = parsed->functions[0];
  for (ptx::Instr in : f.body) {
    const auto rename = [&](ptx::RegId& reg) {
      if (reg == ptx::kNoReg) return;
      const auto name = std::ranges::find(names, f.registers[reg].name, [](const auto& n) { return n.first; });
      WL_CHECK(name != names.end(), "{} in {}", f.registers[reg].name, text);
      reg = name->second;
    };
    rename(in.guard);
    for (auto* list : {&in.operands, &in.elements})
      for (ptx::Operand& o : *list) rename(o.reg);
    in.pos = like.pos;
    in.loc = like.loc;
    out_.body.push_back(std::move(in));
  }
}

uint32_t InstructionWriter::append_jump(const ptx::Instr& like, ptx::RegId guard, bool negated, uint32_t target) {
  ptx::Instr jump;
  const auto rows = table_.rows("bra");
  WL_CHECK(!rows.empty());
  jump.def = rows.front();
  jump.slots.fill(-1);
  jump.operands.resize(1);
  jump.operands[0].tag = OperandTag::kLabel;
  jump.operands[0].first = target;
  jump.guard = guard;
  jump.guard_negated = negated;
  jump.pos = like.pos;
  jump.loc = like.loc;
  out_.body.push_back(std::move(jump));
  return here() - 1;
}

}  // namespace warplens::passes
