// SPDX-License-Identifier: Apache-2.0
// The access list and what reports learn about a kernel, from PTX text.
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "ir/kernel.h"
#include "machine/access_list.h"
#include "ptx/parser.h"
#include "support/ptx_rows.h"

namespace warplens::machine {
namespace {

using events::Access;
using events::Space;

struct Described {
  ptx::Module module;
  ir::Kernel graph;
  AccessList accesses;
  events::KernelInfo info;
};

Described describe_text(const std::string& body) {
  auto parsed = ptx::parse(".version 8.5\n.target sm_90\n.address_size 64\n" + body, "test.ptx", test::rows());
  EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : render(parsed.error()[0]));
  Described d{std::move(parsed).value(), {}, {}, {}};
  const ptx::Function& function = d.module.functions.at(0);
  d.graph = ir::build(function);
  d.accesses = accesses_of(function);
  d.info = describe(d.module, function, d.graph, d.accesses);
  return d;
}

TEST(AccessList, one_access_for_each_memory_instruction_but_parameters) {
  const Described d = describe_text(R"(
.visible .entry k(.param .u64 a) {
  .shared .align 16 .b8 s[64];
  .local .align 16 .b8 l[64];
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<8>;
  ld.param.u64 %rd1, [a];
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
  st.shared.v2.u32 [s], {%r1, %r2};
  ld.u8 %r3, [%rd1];
  st.local.u64 [l], %rd1;
  atom.global.add.u32 %r4, [%rd1], 1;
  red.global.add.u32 [%rd1], 1;
  ret;
})");
  struct Expected {
    uint32_t instr;
    uint8_t bytes;
    Space space;
    Access access;
  };
  // The generic load has three sites.
  const Expected expected[] = {{1, 16, Space::kGlobal, Access::kLoad},  {2, 8, Space::kShared, Access::kStore},
                               {3, 1, Space::kGlobal, Access::kLoad},   {3, 1, Space::kShared, Access::kLoad},
                               {3, 1, Space::kLocal, Access::kLoad},    {4, 8, Space::kLocal, Access::kStore},
                               {5, 4, Space::kGlobal, Access::kAtomic}, {6, 4, Space::kGlobal, Access::kReduction}};
  ASSERT_EQ(d.accesses.accesses.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(d.accesses.accesses[i].instr, expected[i].instr);
    EXPECT_EQ(d.info.sites[i].bytes, expected[i].bytes);
    EXPECT_EQ(d.info.sites[i].space, expected[i].space);
    EXPECT_EQ(d.info.sites[i].access, expected[i].access);
    const bool generic = expected[i].instr == 3;
    EXPECT_EQ(d.info.sites[i].generic, generic);
    EXPECT_EQ(d.accesses.of_instr[expected[i].instr], std::vector<uint32_t>{generic ? 2 : static_cast<uint32_t>(i)});
  }
  EXPECT_TRUE(d.accesses.of_instr[0].empty());
}

TEST(Describe, parameter_is_found_through_arithmetic_and_loops) {
  // base + 4 * (n - 1 - i) comes from `base`, not from `n`; p walks along `row`.
  const Described d = describe_text(R"(
.visible .entry k(.param .u64 base, .param .u64 n, .param .u64 row) {
  .reg .pred %p<2>; .reg .b64 %rd<16>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [base];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u64 %rd3, [n];
  sub.s64 %rd4, %rd3, %rd9;
  shl.b64 %rd5, %rd4, 2;
  add.s64 %rd6, %rd2, %rd5;
  ld.global.f32 %f1, [%rd6+-4];
  ld.param.u64 %rd7, [row];
$loop:
  ld.global.f32 %f2, [%rd7];
  add.s64 %rd7, %rd7, 4;
  setp.lt.u64 %p1, %rd7, %rd3;
  @%p1 bra $loop;
  selp.b64 %rd8, %rd2, %rd7, %p1;
  st.global.f32 [%rd8], %f2;
  ret;
})");
  EXPECT_EQ(d.info.sites[0].parameter, "base");
  EXPECT_EQ(d.info.sites[1].parameter, "row");
  EXPECT_EQ(d.info.sites[2].parameter, "") << "either of two";
}

TEST(Describe, parameter_of_a_struct_passed_by_value) {
  const Described d = describe_text(R"(
.visible .entry k(.param .align 8 .b8 view[24]) {
  .reg .b64 %rd<4>; .reg .b32 %r<2>;
  ld.param.u64 %rd1, [view+16];
  ld.global.u32 %r1, [%rd1];
  ret;
})");
  EXPECT_EQ(d.info.sites[0].parameter, "view");
}

TEST(Describe, inlined_header_code_is_shown_at_the_users_call) {
  // user.cu:20 calls helper.h's outer (line 5), which calls inner (line 3); then the user's own device function at
  // user.cu:8, called at 22.
  const Described d = describe_text(R"(
.file 1 "user.cu"
.file 2 "helper.h"
.visible .entry k(.param .u64 a) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  .loc 1 19 3
  ld.param.u64 %rd1, [a];
  .loc 2 5 1, function_name $outer, inlined_at 1 20 7
  ld.global.u32 %r1, [%rd1];
  .loc 2 3 9, function_name $inner, inlined_at 2 5 1
  ld.global.u32 %r2, [%rd1+4];
  .loc 1 8 2, function_name $own, inlined_at 1 22 7
  st.global.u32 [%rd1], %r1;
  .loc 1 0 0
  st.global.u32 [%rd1+4], %r2;
  ret;
}
.section .debug_str {
$outer:
.b8 111,117,116,101,114,0
$inner:
.b8 105,110,110,101,114,0
$own:
.b8 111,119,110,0
})");
  const auto& pcs = d.info.pcs;
  EXPECT_EQ(pcs[0].place, (events::Place{1, 19, 3}));
  EXPECT_EQ(pcs[0].user_place, pcs[0].place);
  EXPECT_EQ(pcs[1].place, (events::Place{2, 5, 1}));
  EXPECT_EQ(pcs[1].user_place, (events::Place{1, 20, 7}));
  EXPECT_EQ(pcs[1].inlined_function, "outer");
  EXPECT_EQ(pcs[2].place, (events::Place{2, 3, 9}));
  EXPECT_EQ(pcs[2].user_place, (events::Place{1, 20, 7}));
  EXPECT_EQ(pcs[2].inlined_function, "inner");
  EXPECT_EQ(pcs[3].place, (events::Place{1, 8, 2}));
  EXPECT_EQ(pcs[3].user_place, (events::Place{1, 8, 2})) << "the user's own function is the user's line";
  EXPECT_EQ(pcs[4].place, pcs[3].place) << "line 0 inherits";
  EXPECT_EQ(pcs[4].ptx_line, 18u);
  EXPECT_EQ(d.info.files[pcs[1].place.file], "helper.h");
}

TEST(Describe, line_zero_does_not_inherit_across_blocks) {
  const Described d = describe_text(R"(
.file 1 "user.cu"
.visible .entry k() {
  .reg .pred %p<2>; .reg .b32 %r<4>;
  .loc 1 7 1
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra $end;
  .loc 1 0 0
  add.u32 %r1, %r1, 1;
$end:
  .loc 1 9 1
  ret;
})");
  EXPECT_EQ(d.info.pcs[1].place.line, 7u);
  EXPECT_EQ(d.info.pcs[2].place.line, 0u);
  EXPECT_EQ(d.info.pcs[3].place.line, 9u);
  EXPECT_EQ(d.info.blocks.size(), 3u);
  EXPECT_EQ(d.info.blocks[0], (std::pair<uint32_t, uint32_t>{0, 2}));
}

}  // namespace
}  // namespace warplens::machine
