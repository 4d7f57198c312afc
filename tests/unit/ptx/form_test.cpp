// SPDX-License-Identifier: Apache-2.0
// Forms are read by the compiler, so most of this is static_assert: a failure stops the build.
#include "ptx/form.h"

#include <gtest/gtest.h>

#include "ptx/op.h"

namespace warplens::ptx {
namespace {

constexpr Form kAdd("add{.sat}.type d, a, b; .type = {.u16, .u32, .s32}");
static_assert(kAdd.mnemonic == "add" && kAdd.slot_count == 2 && kAdd.operand_count == 3);
static_assert(kAdd.slots[0].optional && kAdd.slots[0].literal && kAdd.word(0, 0) == "sat");
static_assert(!kAdd.slots[1].optional && !kAdd.slots[1].literal && kAdd.slots[1].count == 3);
static_assert(kAdd.word(1, 2) == "s32" && kAdd.word_type(1, 2) == Type::kS32);
static_assert(kAdd.operands[0].is_dest && !kAdd.operands[1].is_dest && kAdd.operands[1].type_slot == 1);

constexpr Form kSetp("setp.cmp{.ftz}.type d:pred|q:pred?, a, b; .cmp = {.eq, .ne}; .type = {.s32, .f32}");
static_assert(kSetp.operand_count == 4 && kSetp.operands[1].pair_second && kSetp.operands[1].is_dest);
static_assert(kSetp.operands[1].optional && !kSetp.operands[2].optional);
static_assert(kSetp.operands[0].type == Type::kPred && kSetp.operands[2].type_slot == 2);

constexpr Form kLd(
    "ld{.space}{.vec}.type d:vec, [a], p:b64?; .space = {.global, .shared::cta}; .vec = {.v2}; .type={.b8}");
static_assert(kLd.operands[0].kind == OperandKind::kVector && kLd.operands[0].type_slot == 2);
static_assert(kLd.operands[1].kind == OperandKind::kAddress && !kLd.operands[1].is_dest);
static_assert(kLd.operands[2].optional && !kLd.operands[2].is_dest && kLd.word(0, 1) == "shared::cta");

constexpr Form kSt("st.type [p], r; .type = {.b8}");
static_assert(!kSt.operands[1].is_dest);

constexpr Form kCvt("cvt.dtype.atype d:dtype, a:atype; .dtype = .atype = {.u8, .f32}");
static_assert(kCvt.slots[0].count == 2 && kCvt.slots[1].count == 2 && kCvt.operands[1].type_slot == 1);

constexpr Form kShfl("shfl.sync.mode.b32 d|p:pred, a, b, c, membermask:u32; .mode = {.up, .down}");
static_assert(kShfl.operands[0].type_slot == 2 && kShfl.operand_count == 6 && kShfl.operands[5].type == Type::kU32);

constexpr Form kTex("tex.1d.v4.dtype.s32 d:vec:dtype, [a, c:vec:s32]; .dtype = {.f32}");
static_assert(kTex.operands[2].in_bracket && kTex.operands[2].type_slot == 3);

constexpr Form kAddc("addc.cc.type d, cout:carry, a, b, cin:carry; .type = {.u32}");
static_assert(kAddc.operands[1].implicit && kAddc.operands[1].is_dest && kAddc.operands[1].type == Type::kPred);
static_assert(kAddc.operands[4].implicit && !kAddc.operands[4].is_dest);

constexpr Form kBare("ret{.uni}");
static_assert(kBare.operand_count == 0 && kBare.slot_count == 1);
constexpr Form kBra("bra{.uni} target:label");
static_assert(kBra.operands[0].kind == OperandKind::kLabel && !kBra.operands[0].is_dest);

constexpr OpDef kRows[] = {{.form = "add.type d, a, b; .type = {.u32}", .spec = {"add"}},
                           {.form = "mad.lo.type d, a, b, c; .type = {.u32}", .spec = {"mad"}},
                           {.form = "add.f32 d, a, b", .spec = {"add"}}};

TEST(OpTable, finds_all_rows_of_a_mnemonic_in_table_order) {
  const std::span<const OpDef> chapters[] = {kRows};
  const OpTable table(chapters);
  ASSERT_EQ(table.rows("add").size(), 2u);
  EXPECT_EQ(table.rows("add")[0], &kRows[0]);
  EXPECT_EQ(table.rows("add")[1], &kRows[2]);
  EXPECT_TRUE(table.rows("sub").empty());
  EXPECT_EQ(table.all().size(), 3u);
}

TEST(OpTable, suggests_the_nearest_mnemonic_only_when_it_is_near) {
  const std::span<const OpDef> chapters[] = {kRows};
  const OpTable table(chapters);
  EXPECT_EQ(table.nearest("mads"), "mad");
  EXPECT_EQ(table.nearest("mda"), "mad");
  EXPECT_EQ(table.nearest("wgmma"), "");
}

TEST(Types, special_registers_have_names_types_and_indices) {
  unsigned index = 9;
  EXPECT_EQ(special_register_named("%tid.y", &index), SpecialReg::kTidY);
  EXPECT_EQ(index, 0u);
  EXPECT_EQ(special_register_named("%envreg31", &index), SpecialReg::kEnvreg);
  EXPECT_EQ(index, 31u);
  EXPECT_FALSE(special_register_named("%envreg32"));
  EXPECT_FALSE(special_register_named("%envreg"));
  EXPECT_FALSE(special_register_named("%r1"));
  EXPECT_EQ(type_of(SpecialReg::kClock64), Type::kU64);
  EXPECT_EQ(name_of(SpecialReg::kLaneid), "%laneid");
}

}  // namespace
}  // namespace warplens::ptx
