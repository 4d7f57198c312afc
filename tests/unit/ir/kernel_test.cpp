// SPDX-License-Identifier: Apache-2.0
// The graph of small kernels, edge by edge.
#include "ir/kernel.h"

#include <gtest/gtest.h>

#include "support/graph_program.h"

namespace warplens::ir {
namespace {

using test::kernel_of;

std::string graph_of(const std::string& body) {
  const ptx::Module m = kernel_of(body);
  return m.functions.empty() ? "" : dump(build(m.functions[0]));
}

TEST(Kernel, straight_code_is_one_block) {
  EXPECT_EQ(graph_of("mov.u32 %r1, 1; bar.sync 0; UNUSED: mov.u32 %r2, 2; ret;"), "b0 [0, 4) exits\n");
}

TEST(Kernel, guarded_branch_goes_to_target_and_on) {
  EXPECT_EQ(graph_of("@%p1 bra L; mov.u32 %r1, 1; L: ret;"),
            "b0 [0, 1) -> b2 b1\n"
            "b1 [1, 2) -> b2\n"
            "b2 [2, 3) exits\n");
}

TEST(Kernel, guarded_return_lets_other_lanes_go_on) {
  EXPECT_EQ(graph_of("@%p1 ret; mov.u32 %r1, 1; @!%p1 exit; ret;"),
            "b0 [0, 1) -> b1 exits\n"
            "b1 [1, 3) -> b2 exits\n"
            "b2 [3, 4) exits\n");
}

TEST(Kernel, text_may_end_without_return) {
  EXPECT_EQ(graph_of("@%p1 bra END; mov.u32 %r1, 1; END:"),
            "b0 [0, 1) -> b1 exits\n"
            "b1 [1, 2) exits\n");
  EXPECT_EQ(graph_of(""), "b0 [0, 0) exits\n");
}

TEST(Kernel, branch_to_the_next_instruction_has_one_edge) {
  EXPECT_EQ(graph_of("@%p1 bra L; L: ret;"),
            "b0 [0, 1) -> b1\n"
            "b1 [1, 2) exits\n");
}

TEST(Kernel, jump_table_has_each_target_once) {
  EXPECT_EQ(graph_of("T: .branchtargets A, B, A; brx.idx %r1, T; A: mov.u32 %r1, 1; B: ret;"),
            "b0 [0, 1) -> b1 b2\n"
            "b1 [1, 2) -> b2\n"
            "b2 [2, 3) exits\n");
}

TEST(Kernel, unreachable_code_is_left_out) {
  const ptx::Module m = kernel_of("bra L; DEAD: mov.u32 %r1, 1; bra DEAD; L: ret;");
  const Kernel k = build(m.functions[0]);
  EXPECT_EQ(dump(k),
            "b0 [0, 1) -> b1\n"
            "b1 [3, 4) exits\n");
  EXPECT_EQ(k.block_of[1], kNoBlock);
  EXPECT_EQ(k.block_of[3], 1u);
}

TEST(Kernel, reverse_post_order_puts_fall_through_before_target) {
  const ptx::Module m = kernel_of("@%p1 bra ELSE; mov.u32 %r1, 1; bra END; ELSE: mov.u32 %r1, 2; END: ret;");
  EXPECT_EQ(build(m.functions[0]).reverse_post_order, (std::vector<BlockId>{0, 1, 2, 3}));
}

TEST(Kernel, reads_and_writes_of_instructions) {
  const ptx::Module m = kernel_of(
      "@!%p2 add.s32 %r1, %r2, %r3; ld.global.v2.f32 {%f1, _}, [%rd1]; st.global.u32 [%rd2], %r4; "
      "setp.eq.and.s32 %p3|%p4, %r5, 1, !%p5;");
  const ptx::Function& f = m.functions[0];
  const auto names = [&](uint32_t i, bool reads) {
    std::string text;
    const auto add = [&](ptx::RegId r) { text += f.registers[r].name + " "; };
    if (reads)
      for_each_read(f.body[i], add);
    else
      for_each_write(f.body[i], add);
    return text;
  };
  EXPECT_EQ(names(0, false), "%r1 ");
  EXPECT_EQ(names(0, true), "%r2 %r3 %p2 %r1 ");
  EXPECT_EQ(names(1, false), "%f1 ");
  EXPECT_EQ(names(1, true), "%rd1 ");
  EXPECT_EQ(names(2, false), "");
  EXPECT_EQ(names(2, true), "%rd2 %r4 ");
  EXPECT_EQ(names(3, false), "%p3 %p4 ");
  EXPECT_EQ(names(3, true), "%r5 %p5 ");
}

TEST(Kernel, dump_shows_instructions_when_asked) {
  const ptx::Module m = kernel_of("mov.u32 %r1, %tid.x; ret;");
  EXPECT_EQ(dump(build(m.functions[0]), &m),
            "b0 [0, 2) exits\n"
            "     0  mov.u32 %r1, %tid.x;\n"
            "     1  ret;\n");
}

}  // namespace
}  // namespace warplens::ir
