// SPDX-License-Identifier: Apache-2.0
// What golden files do not show: values and indices inside the parsed module, and the bounds that hostile text meets.
#include "ptx/parser.h"

#include <gtest/gtest.h>

#include "support/module_equality.h"
#include "support/ptx_rows.h"

namespace warplens::ptx {
namespace {

constexpr std::string_view kHead = ".version 8.5\n.target sm_90\n.address_size 64\n";

Result<Module> parse_text(const std::string& text) { return parse(std::string(kHead) + text, "t.ptx", test::rows()); }

Module good(const std::string& text) {
  auto module = parse_text(text);
  if (!module) {
    for (const Diagnostic& d : module.error()) ADD_FAILURE() << render(d, std::string(kHead) + text);
    return {};
  }
  return std::move(*module);
}

/// The instructions of a kernel with the usual registers.
Function body(const std::string& text) {
  Module m = good(
      ".entry k(.param .u32 n) { .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<99>; .reg .f32 %f<9>; .reg .f64 "
      "%d<9>; "
      ".reg .b64 %q<9>;\n" +
      text + "\n}");
  return m.functions.empty() ? Function{} : std::move(m.functions[0]);
}

TEST(Parser, words_types_and_spaces_of_an_instruction) {
  const Function f = body("ld.volatile.shared.v4.f32 {%f1, %f2, _, %f4}, [%q1+-8];");
  const Instr& in = f.body.at(0);
  EXPECT_EQ(in.word("vec"), "v4");
  EXPECT_EQ(in.word("cop"), "");
  EXPECT_EQ(in.word("nothing"), "");
  EXPECT_TRUE(in.has("volatile"));
  EXPECT_FALSE(in.has("nc"));
  EXPECT_EQ(in.type(), Type::kF32);
  EXPECT_EQ(in.space(), Space::kShared);
  EXPECT_EQ(in.vector_length(), 4u);
  ASSERT_EQ(in.elements.size(), 4u);
  EXPECT_EQ(in.elements[2].tag, OperandTag::kSink);
  EXPECT_EQ(static_cast<int64_t>(in.operands[1].imm), -8);
  EXPECT_EQ(f.registers[in.operands[1].reg].name, "%q1");
}

TEST(Parser, constants_take_the_type_of_their_operand) {
  const auto bits = [](const std::string& mov) { return body(mov).body.at(0).operands[1].imm; };
  EXPECT_EQ(bits("mov.u16 %h1, -1;"), 0xffffu);
  EXPECT_EQ(bits("mov.u64 %q1, -1;"), ~uint64_t{0});
  EXPECT_EQ(bits("mov.f32 %f1, 0.1;"), 0x3dcccccdu);
  EXPECT_EQ(bits("mov.f64 %d1, 0.1;"), 0x3fb999999999999au);
  EXPECT_EQ(bits("mov.f64 %d1, 0f3F800000;"), 0x3ff0000000000000u);
  EXPECT_EQ(bits("mov.f32 %f1, 0d3FF0000000000000;"), 0x3f800000u);
  EXPECT_EQ(bits("mov.f32 %f1, 0f7FC00001;"), 0x7fc00001u);  // the payload of a NaN
  EXPECT_EQ(bits("mov.pred %p1, 1;"), 1u);
  EXPECT_EQ(bits("mov.u64 %q1, 0xffffffffffffffff;"), ~uint64_t{0});
  EXPECT_EQ(bits("mov.s32 %r1, -7 / 2;"), 0xfffffffdu);
  EXPECT_EQ(bits("mov.s32 %r1, -7 >> 1;"), 0xfffffffcu);
  EXPECT_EQ(bits("mov.u64 %q1, (.u64)-7 >> 60;"), 15u);
  EXPECT_EQ(bits("mov.u32 %r1, 0 + !0 + ~0 * 3 % 2;"), 0u);
  EXPECT_EQ(bits("mov.u32 %r1, 1 | 6 & 3 ^ 1 << 2;"), 7u);
  EXPECT_EQ(bits("mov.u32 %r1, 2 < 3 == 1 && 0 || 5 >= 5;"), 1u);
}

TEST(Parser, labels_resolve_to_instructions_across_scopes) {
  const Function f = body("bra END; A: { bra A; { A: mov.u32 %r1, 1; bra A; } bra END; } END: ret; LAST:");
  EXPECT_EQ(f.body.at(0).operands[0].first, 5u);
  EXPECT_EQ(f.body.at(1).operands[0].first, 1u);
  EXPECT_EQ(f.body.at(3).operands[0].first, 2u);
  EXPECT_EQ(f.body.at(4).operands[0].first, 5u);
  EXPECT_EQ(f.labels.back().second, f.body.size());
}

TEST(Parser, inner_registers_hide_outer_ones) {
  const Function f = body("mov.u32 %r1, 1; { .reg .f32 %r1; mov.f32 %r1, 0f00000000; } mov.u32 %r1, 2;");
  EXPECT_EQ(f.body[0].operands[0].reg, f.body[2].operands[0].reg);
  EXPECT_NE(f.body[0].operands[0].reg, f.body[1].operands[0].reg);
  EXPECT_EQ(f.registers[f.body[1].operands[0].reg].type, Type::kF32);
}

TEST(Parser, names_of_a_range_end_with_it) {
  EXPECT_TRUE(parse_text(".entry k() { .reg .b32 %r<3>; mov.u32 %r2, 0; ret; }"));
  EXPECT_FALSE(parse_text(".entry k() { .reg .b32 %r<3>; mov.u32 %r3, 0; ret; }"));
  EXPECT_FALSE(parse_text(".entry k() { .reg .b32 %r<3>; mov.u32 %r02, 0; ret; }"));
}

TEST(Parser, ranges_of_vector_registers_have_components) {
  const Module m =
      good(".entry k() { .reg .v2 .b16 x<3>; .reg .b32 a; mov.b32 x2, a; mov.b16 x1.y, 7; mov.b32 a, x2; ret; }");
  const Function& f = m.functions.at(0);
  EXPECT_EQ(f.registers.size(), 7u);
  EXPECT_EQ(f.body.at(0).elements.at(1).reg, 5u);
  EXPECT_EQ(f.body.at(1).operands[0].reg, 3u);
}

TEST(Parser, parameters_have_the_layout_of_the_launch) {
  const Module m = good(
      ".entry k(.param .u8 a, .param .u64 .ptr .global .align 1 b, .param .align 4 .b8 c[6], .param .f32 d) { ret; }");
  const Function& f = m.functions.at(0);
  ASSERT_EQ(f.params.size(), 4u);
  EXPECT_EQ(f.params[0].offset, 0u);
  EXPECT_EQ(f.params[1].offset, 8u);  // .ptr .align is the pointee's
  EXPECT_EQ(f.params[2].offset, 16u);
  EXPECT_EQ(f.params[3].offset, 24u);
  EXPECT_EQ(f.param_bytes, 28u);
}

TEST(Parser, carry_flag_is_a_register_of_the_function) {
  const Function f = body("addc.cc.u32 %r1, %r2, %r3; addc.u32 %r4, %r5, %r6;");
  const RegId carry = f.body[0].operands[1].reg;
  EXPECT_EQ(f.registers[carry].type, Type::kPred);
  EXPECT_EQ(f.body[0].operands[4].reg, carry);
  EXPECT_EQ(f.body[1].operands[3].reg, carry);
}

TEST(Parser, inlined_code_names_function_and_chain_of_calls) {
  const Module m = good(R"(.entry k() {
    .loc 1 10 3
    bar.sync 0;
    .loc 2 20 5, function_name $s, inlined_at 1 10 3
    bar.sync 0;
    .loc 2 30 7, function_name $s+6, inlined_at 2 20 5
    bar.sync 0;
    ret; }
    .section .debug_str { $s: .b8 111,117,116,101,114,0
    .b8 105,110,0 })");
  const Function& f = m.functions.at(0);
  const SourceLoc inner = f.locs[f.body[2].loc];
  EXPECT_EQ(inner.line, 30u);
  const InlineSite& first = m.inline_sites.at(inner.inlined_at);
  EXPECT_EQ(first.function, "in");
  EXPECT_EQ(first.call.line, 20u);
  const InlineSite& second = m.inline_sites.at(first.call.inlined_at);
  EXPECT_EQ(second.function, "outer");
  EXPECT_EQ(second.call.line, 10u);
  EXPECT_EQ(second.call.inlined_at, kNoIndex);
}

TEST(Parser, initialisers_become_bytes_and_addresses) {
  const Module m = good(
      ".global .u32 g; .global .b8 b[9] = {1, 0xff(g), 0xff00(g)}; .global .u16 t[2][3] = {{1}, {2, 3}}; "
      ".global .u64 p[2] = {7, generic(g)+12}; .global .f32 x = 2;");
  ASSERT_EQ(m.variables.size(), 5u);
  EXPECT_EQ(m.variables[1].init_addresses[1].offset, 2u);
  EXPECT_EQ(m.variables[1].init_addresses[1].shift, 8u);
  EXPECT_EQ(m.variables[2].bytes, 12u);
  EXPECT_EQ(m.variables[2].init, (std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 2, 0, 3, 0}));
  const InitAddress& a = m.variables[3].init_addresses.at(0);
  EXPECT_TRUE(a.generic);
  EXPECT_EQ(a.addend, 12);
  EXPECT_EQ(a.offset, 8u);
  EXPECT_EQ(m.variables[4].init, (std::vector<uint8_t>{0, 0, 0, 0x40}));
}

TEST(Parser, a_declaration_and_its_definition_are_one_function) {
  const Module m = good(
      ".func (.param .b32 r) f(.param .b32 a); .entry k() { .param .b32 x, y; call (x), f, (y); ret; } "
      ".func (.param .b32 r) f(.param .b32 a) { ret; }");
  ASSERT_EQ(m.functions.size(), 2u);
  EXPECT_EQ(m.functions[0].name, "f");
  EXPECT_FALSE(m.functions[0].is_declaration);
  EXPECT_EQ(m.functions[1].body[0].operands[1].symbol.index, 0u);
}

TEST(Parser, unknown_opcode_marks_only_its_function) {
  const Module m = good(".entry a() { frob.x32 %q, [%r]; ret; } .entry b() { ret; }");
  ASSERT_EQ(m.functions[0].unsupported.size(), 1u);
  EXPECT_EQ(m.functions[0].unsupported[0].pos, (SourcePos{4, 14}));
  EXPECT_TRUE(m.functions[1].unsupported.empty());
}

TEST(Parser, text_from_a_fat_binary_may_end_with_nul) {
  EXPECT_TRUE(parse_text(std::string(".entry k() { ret; }\n\0\0", 22)));
}

TEST(Parser, hostile_sizes_and_depths_are_refused) {
  EXPECT_FALSE(parse_text(".entry k() { .reg .b32 %r<4000000000>; ret; }"));
  EXPECT_FALSE(parse_text(".global .b8 a[99999999999][99999999999];"));
  EXPECT_FALSE(parse_text(".global .u32 a = " + std::string(100000, '(') + "1;"));
  EXPECT_FALSE(parse_text(".global .u32 a = " + std::string(100000, '-') + "1;"));
  EXPECT_FALSE(parse_text(".global .u32 a[1] = " + std::string(100000, '{') + "1;"));
  EXPECT_FALSE(parse_text(".entry k() " + std::string(100000, '{')));
  EXPECT_FALSE(parse_text(".entry k() { mov.u32 " + std::string(100000, '{') + "; }"));
  EXPECT_FALSE(parse_text(".file 4294967295 \"x\""));
}

TEST(Printer, one_instruction_reads_as_written) {
  const Module m = good(".entry k() { .reg .pred p; .reg .b32 a<2>; L: @!p add.s32 a1, a0, -3; @p bra L; ret; }");
  const Function& f = m.functions[0];
  EXPECT_EQ(print(m, f, f.body[0]), "@!p add.s32 a1, a0, -3;");
  EXPECT_EQ(print(m, f, f.body[1]), "@p bra L;");
}

TEST(Printer, printed_module_parses_to_an_equal_one) {
  const Module m = good(
      ".extern .func e(.param .u64 x); .global .u64 p = e; .entry k(.param .u32 n) .reqntid 32 { .reg .b32 a; "
      "{ .reg .b32 a; mov.u32 a, -1; { .reg .f32 a; L: mov.f32 a, 0fFFC00000; bra L; } } .reg .v2 .u32 v; "
      "mov.u32 a, v.y; ld.param.u32 a, [n]; ret; }");
  const std::string text = print(m);
  const auto again = parse(text, "printed", test::rows());
  ASSERT_TRUE(again) << text;
  EXPECT_EQ(test::difference(m, *again), "") << text;
  EXPECT_EQ(print(*again), text);
}

}  // namespace
}  // namespace warplens::ptx
