// SPDX-License-Identifier: Apache-2.0
#include "analysis/spin_loops.h"

#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "ptx/parser.h"
#include "support/ptx_rows.h"

namespace warplens::analysis {
namespace {

/// Whether the one loop of a kernel with this body spins.
bool loop_spins(const std::string& loop) {
  const auto module = ptx::parse(
      ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [a];\n$loop:\n" +
          loop + "@%p1 bra $loop;\nret;\n}\n",
      "test.ptx", test::rows());
  EXPECT_TRUE(module.has_value()) << (module ? "" : render(module.error()[0]));
  const ir::Kernel kernel = ir::build(module->functions[0]);
  const LoopForest forest = find_loops(kernel);
  EXPECT_EQ(forest.loops.size(), 1u);
  return find_spinning_loops(kernel, forest).at(0);
}

TEST(SpinLoops, waiting_for_what_others_write_spins) {
  EXPECT_TRUE(loop_spins("atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"));
  EXPECT_TRUE(loop_spins("ld.volatile.global.u32 %r1, [%rd1];\nand.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n"));
  EXPECT_TRUE(loop_spins("ld.acquire.gpu.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n"));
}

TEST(SpinLoops, counted_loops_with_atomics_do_not) {
  EXPECT_FALSE(loop_spins("atom.global.add.u32 %r1, [%rd1], 1;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 9;\n"));
  EXPECT_FALSE(loop_spins("ld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n"));
}

TEST(SpinLoops, a_branch_inside_that_depends_on_the_atomic_counts) {
  EXPECT_TRUE(
      loop_spins("atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra $done;\n"
                 "add.u32 %r2, %r2, 1;\n$done:\nsetp.lt.u32 %p1, %r2, 9;\n"));
}

}  // namespace
}  // namespace warplens::analysis
