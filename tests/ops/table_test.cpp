// SPDX-License-Identifier: Apache-2.0
// What must hold of every row of the instruction set: where it comes from, that it can be run, that a case or a test
// covers it, that its text survives printing, and that wrong modifiers are refused.
#include <gtest/gtest.h>

#include <set>

#include "case_file.h"
#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::ops_test {
namespace {

using ptx::OpDef;
using ptx::Role;

/// The syntax without its clauses: what names a row in the lists below.
std::string head(const OpDef& row) { return std::string(row.form.text.substr(0, row.form.text.find(';'))); }

bool is_supported(const OpDef& row) { return row.unsupported.empty(); }

/// Rows that generated code runs by calling their reference: correct, but many times slower than a lowering.
const std::set<std::string> kWithoutLowering = {
    "fns.type d, mask, base:b32, offset:s32",
    "getctarank{.space}.type d:u32, a:any:type",
    "sin.approx{.ftz}.type d, a",
    "cos.approx{.ftz}.type d, a",
    "tanh.approx.type d, a",
    "ex2.approx.type d, a",
    "ex2.approx.ftz.type d, a",
    "cvt.rna{.satfinite}.dtype.f32 d:b32, a:f32",
    "cvt.frnd{.satfinite}{.relu}.dtype.f32 d:b32, a:f32",
    "cvt.rn.satfinite{.relu}.dtype.f32 d:b16, a:f32, b:f32",
    "cvt.rn.satfinite{.relu}.dtype.atype d:b16, a:b32",
    "cvt.rn{.relu}.dtype.atype d:b32, a:b16",
    "cvt.pack.sat.to.s32 d:b32, a:s32, b:s32",
    "cvt.pack.sat.to.s32.b32 d:b32, a:s32, b:s32, c:b32",
};

/// Whole chapters without lowerings: rare, or as slow in a lowering.
bool is_of_slow_chapter(const OpDef& row) {
  return row.spec.section.starts_with("Video Instructions") ||
         row.spec.section.starts_with("Warp-Level Matrix Instructions");
}

/// Rows of values that no case file can cover, and why.
const std::set<std::string> kWithoutCase = {
    // Addresses: depend on where the windows lie; unit/ops covers them.
    "cvta{.to}.space.type d, a:any:type",
    "isspacep.space d:pred, a:b64",
    // Blocks of a cluster: unit/exec/cluster_test.cpp.
    "mapa{.space}.type d, a:any:type, b:u32",
    "getctarank{.space}.type d:u32, a:any:type",
    // Lists of registers: unit/exec/operand_forms_test.cpp.
    "mov.vec.type d:vec, a:vec",
    // An opaque state: unit/exec/async_copy_test.cpp.
    "mbarrier.pending_count.b64 d:u32, state:b64",
    // Opaque result without a defined value.
    "createpolicy.fractional{.first}{.second}.type d, f:f32?",
    "createpolicy.cvt.L2.type d, a",
    // Carry flag: chains of instructions, in carry_test.cpp.
    "add.cc.type d, cout:carry, a, b",
    "addc.type d, a, b, cin:carry",
    "addc.cc.type d, cout:carry, a, b, cin:carry",
    "sub.cc.type d, cout:carry, a, b",
    "subc.type d, a, b, cin:carry",
    "subc.cc.type d, cout:carry, a, b, cin:carry",
    "mad.mode.cc.type d, cout:carry, a, b, c",
    "madc.mode.type d, a, b, c, cin:carry",
    "madc.mode.cc.type d, cout:carry, a, b, c, cin:carry",
};

TEST(Table, every_row_says_where_the_manual_describes_it) {
  for (const OpDef* row : ops::instruction_set().all()) {
    EXPECT_FALSE(row->spec.section.empty()) << head(*row);
    EXPECT_GE(row->spec.ptx_major, 1) << head(*row);
    EXPECT_GE(row->spec.sm, 10) << head(*row);
  }
}

TEST(Table, every_supported_row_can_be_run) {
  for (const OpDef* row : ops::instruction_set().all()) {
    if (!is_supported(*row)) continue;
    const bool atomic = row->role == Role::kAtomic || row->role == Role::kReduction;
    EXPECT_TRUE(row->role != Role::kValue || row->reference.lane) << head(*row);
    EXPECT_TRUE(row->role != Role::kWarp || row->reference.warp) << head(*row);
    EXPECT_TRUE(!atomic || row->reference.atomic) << head(*row);
    const bool memory = row->role == Role::kWarpMemory;
    EXPECT_TRUE(!memory || (row->reference.memory && row->accesses)) << head(*row);
  }
}

TEST(Table, rows_without_a_lowering_are_listed) {
  std::set<std::string> missing;
  for (const OpDef* row : ops::instruction_set().all())
    if (is_supported(*row) && (row->role == Role::kValue || row->role == Role::kWarp) && !row->lower &&
        !is_of_slow_chapter(*row))
      missing.insert(head(*row));
  EXPECT_EQ(missing, kWithoutLowering);
}

TEST(Table, every_row_of_values_has_a_case) {
  std::set<const OpDef*> covered;
  for (const std::string& mnemonic : case_files()) {
    std::string error;
    for (const Case& c : read_cases(mnemonic, error)) {
      auto module = ptx::parse(kernel_text(c), "case.ptx", ops::instruction_set());
      if (!module) continue;  // reference_test reports it
      for (const ptx::Instr& i : module->functions[0].body)
        if (i.pos.line == kInstructionLine && !c.rows.empty()) covered.insert(i.def);
    }
  }
  for (const OpDef* row : ops::instruction_set().all()) {
    const bool has_values = row->role == Role::kValue || row->role == Role::kAtomic;
    if (!is_supported(*row) || !has_values || kWithoutCase.contains(head(*row))) continue;
    EXPECT_TRUE(covered.contains(row)) << row->form.text;
  }
}

TEST(Table, printing_and_parsing_again_changes_nothing) {
  for (const std::string& mnemonic : case_files()) {
    std::string error;
    for (const Case& c : read_cases(mnemonic, error)) {
      auto module = ptx::parse(kernel_text(c), "case.ptx", ops::instruction_set());
      if (!module) continue;
      const std::string once = ptx::print(*module);
      auto again = ptx::parse(once, "again.ptx", ops::instruction_set());
      ASSERT_TRUE(again.has_value()) << render(again.error()[0], once);
      EXPECT_EQ(ptx::print(*again), once);
    }
  }
}

/// Whether the opcode is refused: as unsupported (unknown modifier), or as an error of the text.
bool is_refused(const Case& c) {
  auto module = ptx::parse(kernel_text(c), "case.ptx", ops::instruction_set());
  return !module || !module->functions[0].unsupported.empty();
}

TEST(Table, an_unknown_modifier_is_refused_at_every_place) {
  std::set<std::string> seen;
  for (const std::string& mnemonic : case_files()) {
    std::string error;
    for (Case c : read_cases(mnemonic, error)) {
      const std::string good = c.opcode;
      for (size_t at = good.find('.'); at != std::string::npos; at = good.find('.', at + 1)) {
        c.opcode = good.substr(0, at) + ".bogus" + good.substr(at);
        if (!seen.insert(good.substr(0, at)).second) continue;
        EXPECT_TRUE(is_refused(c)) << c.opcode;
      }
      c.opcode = good + ".bogus";
      EXPECT_TRUE(is_refused(c)) << c.opcode;
    }
  }
}

TEST(Table, a_missing_type_is_refused) {
  for (const std::string& mnemonic : case_files()) {
    std::string error;
    for (Case c : read_cases(mnemonic, error)) {
      const size_t last = c.opcode.rfind('.');
      if (!ptx::type_named(c.opcode.substr(last + 1))) continue;
      c.opcode.resize(last);
      EXPECT_TRUE(is_refused(c)) << c.opcode;
    }
  }
}

TEST(Table, half_instructions_refuse_what_only_floats_have) {
  Case c;
  c.operands = "r_d, r_a, r_b";
  c.inputs = {{"a", ptx::Type::kB16}, {"b", ptx::Type::kB16}};
  c.outputs = {{"d", ptx::Type::kB16}};
  for (const char* opcode :
       {"add.rz.f16", "add.sat.bf16", "mul.rp.f16", "add.sat.u16", "sub.ftz.bf16", "min.sat.f16"}) {
    c.opcode = opcode;
    EXPECT_TRUE(is_refused(c)) << opcode;
  }
}

}  // namespace
}  // namespace warplens::ops_test
