// SPDX-License-Identifier: Apache-2.0
// Every case through the parser and the row's reference: the values of a real GPU against ours, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "case_file.h"
#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::ops_test {
namespace {

using ptx::Instr;
using ptx::OperandTag;

/// The instruction under test in its parsed kernel; null (and a failure) when the text is refused.
const Instr* find_instruction(const ptx::Module& module) {
  const ptx::Function& f = module.functions.at(0);
  EXPECT_TRUE(f.unsupported.empty()) << (f.unsupported.empty() ? "" : render(f.unsupported[0], module.text));
  for (const Instr& i : f.body)
    if (i.pos.line == kInstructionLine) return &i;
  ADD_FAILURE() << "the instruction was lost";
  return nullptr;
}

/// Sources of the instruction for one row, as an executor would gather them.
std::vector<uint64_t> gather(const Case& c, const CaseRow& row, const ptx::Function& f, const Instr& in) {
  std::vector<uint64_t> values;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    if (in.def->form.operands[i].is_dest) continue;
    const ptx::Operand& o = in.operands[i];
    uint64_t v = o.tag == OperandTag::kImm ? o.imm : 0;
    for (size_t k = 0; k < c.inputs.size(); ++k)
      if (o.tag == OperandTag::kReg && f.registers[o.reg].name == "r_" + c.inputs[k].name) v = row.inputs[k];
    const unsigned bits = ptx::bits_of(o.type);
    values.push_back(bits == 0 || bits >= 64 ? v : v & ((uint64_t{1} << bits) - 1));
  }
  return values;
}

std::vector<uint64_t> run_reference(const Case& c, const CaseRow& row, const ptx::Function& f, const Instr& in) {
  if (c.has_cell) {
    const auto operand = [&](size_t i) { return i < row.inputs.size() ? row.inputs[i] : 0; };
    const uint64_t updated = in.def->reference.atomic({in, operand(0), operand(1), operand(2)});
    return c.outputs.size() == 2 ? std::vector<uint64_t>{operand(0), updated} : std::vector<uint64_t>{updated};
  }
  const auto dests =
      std::count_if(in.def->form.operands.begin(), in.def->form.operands.begin() + in.def->form.operand_count,
                    [](const ptx::OperandForm& o) { return o.is_dest; });
  std::vector<uint64_t> out(static_cast<size_t>(dests));
  const std::vector<uint64_t> sources = gather(c, row, f, in);
  in.def->reference.lane({in, sources, out});
  // A destination register wider than its type holds the sign- or zero-extended value.
  const ptx::Type type = in.operands[0].type;
  if (ptx::is_signed(type) && ptx::bits_of(type) < ptx::bits_of(c.outputs[0].type)) {
    const unsigned shift = 64 - ptx::bits_of(type), cut = 64 - ptx::bits_of(c.outputs[0].type);
    out[0] = static_cast<uint64_t>(static_cast<int64_t>(out[0] << shift) >> shift) << cut >> cut;
  }
  return out;
}

class Reference : public testing::TestWithParam<std::string> {};

TEST_P(Reference, gives_the_recorded_values) {
  std::string error;
  const std::vector<Case> cases = read_cases(GetParam(), error);
  EXPECT_EQ(error, "");
  EXPECT_FALSE(cases.empty());
  int failures = 0;
  for (const Case& c : cases) {
    auto module = ptx::parse(kernel_text(c), "case.ptx", ops::instruction_set());
    if (!module) {
      ADD_FAILURE() << c.opcode << ": " << render(module.error()[0], kernel_text(c));
      continue;
    }
    const Instr* in = find_instruction(*module);
    if (!in) continue;
    for (const CaseRow& row : c.rows) {
      const std::vector<uint64_t> out = run_reference(c, row, module->functions[0], *in);
      for (size_t i = 0; i < row.outputs.size(); ++i) {
        if (agrees(c, i, row.outputs[i], out[i]) || ++failures > 40) continue;
        ADD_FAILURE() << GetParam() << ".txt:" << row.line << ": " << c.opcode << " gives " << std::hex << out[i]
                      << ", expected " << row.outputs[i];
      }
    }
  }
  EXPECT_EQ(failures, 0);
}

INSTANTIATE_TEST_SUITE_P(Opcode, Reference, testing::ValuesIn(case_files()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace warplens::ops_test
