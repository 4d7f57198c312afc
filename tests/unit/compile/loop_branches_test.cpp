// SPDX-License-Identifier: Apache-2.0
#include "compile/loop_branches.h"

#include <gtest/gtest.h>

namespace warplens {
namespace {

std::string function(const std::string& compare, const std::string& behind = "") {
  return ".entry k()\n{\n$L0:\n\t" + compare +
         "\n\t@%p1 bra \t$L1;\n\t.loc 1 2 3\n\tbra.uni \t$L0;   // again\n$L1:  // %out\n" + behind + "\tret;\n}\n";
}

TEST(LoopBranches, the_way_back_gets_the_predicate) {
  EXPECT_EQ(
      turn_loop_branches(function("setp.eq.s32 \t%p1, %r1, 0;")),
      ".entry k()\n{\n$L0:\n\tsetp.ne.s32 \t%p1, %r1, 0;\n\t@%p1 bra \t$L0;\n\t.loc 1 2 3\n$L1:  // %out\n\tret;\n}\n");
  for (const auto& [from, to] : {std::pair{"lt.u64", "ge.u64"},
                                 {"ge.s32", "lt.s32"},
                                 {"gt.s64", "le.s64"},
                                 {"le.u32", "gt.u32"},
                                 {"ne.b32", "eq.b32"}})
    EXPECT_NE(turn_loop_branches(function(std::string("setp.") + from + " %p1, %r1, 0;")).find(to), std::string::npos);
}

TEST(LoopBranches, everything_else_stays) {
  for (const std::string& ptx : {
           function("setp.lt.f32 \t%p1, %f1, %f2;"),                                  // not so simple with NaN
           function("setp.eq.and.s32 \t%p1, %r1, 0, %p2;"),                           // combined
           function("setp.eq.s32 \t%p1|%p2, %r1, 0;"),                                // two results
           function("setp.eq.s32 \t%p1, %r1, 0;", "\tselp.b32 \t%r1, 1, 0, %p1;\n"),  // used again
           function("$L2:\n"),                                                        // set in another block
           std::string(
               ".entry k()\n{\n$L0:\n\tsetp.eq.s32 \t%p1, %r1, 0;\n\t@%p1 bra \t$L1;\n\tret;\n$L1:\n\tret;\n}\n"),
       })
    EXPECT_EQ(turn_loop_branches(ptx), ptx);
}

TEST(LoopBranches, names_that_begin_alike_are_others) {
  const std::string out = turn_loop_branches(function("setp.eq.s32 \t%p1, %r1, 0;", "\tselp.b32 \t%r1, 1, 0, %p11;\n"));
  EXPECT_NE(out.find("setp.ne.s32 \t%p1,"), std::string::npos);
}

}  // namespace
}  // namespace warplens
