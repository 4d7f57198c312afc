// SPDX-License-Identifier: Apache-2.0
// What the assembler prints, read back; and the assembler itself where a toolkit is installed.
#include "compile/ptxas.h"

#include <gtest/gtest.h>

namespace warplens {
namespace {

TEST(Ptxas, output_becomes_a_table) {
  const auto uses = parse_ptxas_output(
      "ptxas info    : 16 bytes gmem, 8 bytes cmem[3]\n"
      "ptxas info    : Compiling entry function '_Z4axpyPf' for 'sm_90'\n"
      "ptxas info    : Function properties for _Z4axpyPf\n"
      "    24 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Used 255 registers, used 2 barriers, 24 bytes cumulative stack size, 4096 bytes smem\n"
      "ptxas info    : Compile time = 1.0 ms\n"
      "something else\n"
      "ptxas info    : Compiling entry function '_Z4copyPf' for 'sm_90'\n"
      "ptxas info    : Used 8 registers\n");
  ASSERT_EQ(uses.size(), 2u);
  const AssemblerUse& axpy = uses.at("_Z4axpyPf");
  EXPECT_EQ(axpy.registers, 255u);
  EXPECT_EQ(axpy.barriers, 2u);
  EXPECT_EQ(axpy.stack_bytes, 24u);
  EXPECT_EQ(axpy.spill_store_bytes, 16u);
  EXPECT_EQ(axpy.spill_load_bytes, 20u);
  EXPECT_EQ(axpy.shared_bytes, 4096u);
  EXPECT_EQ(uses.at("_Z4copyPf").registers, 8u);
  EXPECT_TRUE(parse_ptxas_output("").empty());
  EXPECT_TRUE(parse_ptxas_output("ptxas info    : Compiling entry function '_Z4copyPf").empty());
}

TEST(Ptxas, tells_a_kernels_registers_and_refuses_what_it_does_not_know) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "no CUDA toolkit here";
  const std::string ptx =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n  .reg .b64 %rd<2>;\n"
      "  .reg .b32 %r<2>;\n  ld.param.u64 %rd1, [p];\n  ld.global.u32 %r1, [%rd1];\n  st.global.u32 [%rd1+4], %r1;\n"
      "  ret;\n}\n";
  const auto uses = assembler_uses(ptxas, ptx, 90, 0);
  ASSERT_TRUE(uses.has_value());
  ASSERT_TRUE(uses->contains("k"));
  EXPECT_GT(uses->at("k").registers, 2u);
  EXPECT_LT(uses->at("k").registers, 32u);
  EXPECT_FALSE(assembler_uses(ptxas, "nonsense", 90, 0).has_value());
  EXPECT_FALSE(assembler_uses(ptxas, ptx, 31, 0).has_value());
}

}  // namespace
}  // namespace warplens
