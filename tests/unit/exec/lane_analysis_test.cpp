// SPDX-License-Identifier: Apache-2.0
// The lane-class analysis on small kernels with the real instruction set: which registers stay scalar, which become
// patterns, and where divergence must make a vector.
#include "codegen/lane_analysis.h"

#include <gtest/gtest.h>

#include "analysis/dominance.h"
#include "analysis/liveness.h"
#include "codegen/equal_loops.h"
#include "support/ptx_launcher.h"

namespace warplens::test {
namespace {

using codegen::BlockShape;
using codegen::LaneClass;
using codegen::Shape;

class Analysed {
 public:
  explicit Analysed(const std::string& body, BlockShape shape = BlockShape::kRows)
      : launcher_(kPtxHead +
                  ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n  .reg .pred %p<9>;\n  .reg .b32 %r<30>;\n"
                  "  .reg .b64 %rd<9>;\n  ld.param.u64 %rd8, [out];\n  ld.param.u32 %r29, [n];\n" +
                  body + "}\n") {
    kernel_ = launcher_.kernel("k");
    codegen::KernelSource source;
    source.module = launcher_.module().module.get();
    source.function = kernel_->function;
    source.graph = &kernel_->graph;
    source.accesses = &kernel_->accesses;
    source.loops = &kernel_->loops;
    source.spinning_loops = kernel_->spinning_loops;
    source.symbols = kernel_->symbols;
    source.variable_offsets = kernel_->variable_offsets;
    source.shape = shape;
    lanes_ = codegen::analyse_lanes(source, analysis::dominators(kernel_->graph),
                                    analysis::post_dominators(kernel_->graph), analysis::liveness(kernel_->graph));
    whole_ = codegen::analyse_whole_warps(source, lanes_);
    equal_loops_ = codegen::find_equal_loops(source, lanes_);
  }
  /// Class of the web that the last definition of the register belongs to.
  LaneClass of(const std::string& name) const { return of(name, lanes_); }
  /// The same as long as the lanes of a warp go one way.
  LaneClass while_whole(const std::string& name) const { return of(name, whole_); }
  /// Of each loop with a copy for equal lanes: the registers compared where it is entered.
  std::vector<std::vector<std::string>> compared() const {
    std::vector<std::vector<std::string>> all;
    for (const codegen::EqualLoop& loop : equal_loops_) {
      std::vector<std::string> names;
      for (const codegen::WebId web : loop.compared)
        names.push_back(kernel_->function->registers[lanes_.webs.webs[web].reg].name);
      std::sort(names.begin(), names.end());
      all.push_back(names);
    }
    return all;
  }
  /// In the copy of the only such loop.
  LaneClass in_copy(const std::string& name) const {
    for (codegen::WebId w = 0; w < lanes_.info.size(); ++w)
      if (kernel_->function->registers[lanes_.webs.webs[w].reg].name == name) return equal_loops_.at(0).info[w].cls;
    return {};
  }
  /// The loops, outer before inner, in the order of the text.
  const std::vector<bool>& parks() const { return lanes_.parks; }
  bool any_diverged() const {
    return std::find(lanes_.diverged.begin(), lanes_.diverged.end(), true) != lanes_.diverged.end();
  }

 private:
  LaneClass of(const std::string& name, const codegen::LaneAnalysis& lanes) const {
    LaneClass out;
    for (const auto& uses : lanes.webs.of_instr)
      for (const auto& u : uses)
        if (u.written != codegen::kNoWeb && kernel_->function->registers[u.reg].name == name)
          out = lanes.info[u.written].cls;
    return out;
  }

  PtxLauncher launcher_;
  const exec::LoadedKernel* kernel_ = nullptr;
  codegen::LaneAnalysis lanes_, whole_;
  std::vector<codegen::EqualLoop> equal_loops_;
};

TEST(LaneAnalysis, addresses_of_consecutive_elements_are_patterns) {
  const Analysed a(R"(
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd1, %r4, 4;
  add.s64 %rd2, %rd8, %rd1;
  ld.global.u32 %r5, [%rd2];
  ld.global.u32 %r6, [%rd8];
  st.global.u32 [%rd2], %r5;
  ret;
)");
  EXPECT_EQ(a.of("%r4").shape, Shape::kPattern);
  ASSERT_EQ(a.of("%rd2").shape, Shape::kPattern);
  EXPECT_EQ((*a.of("%rd2").offsets)[3], 12);
  EXPECT_TRUE(a.of("%r5").is_vector());
  EXPECT_TRUE(a.of("%r6").is_uniform());  // all lanes load the same word
}

/// A loop that halves each thread's own %r4, with `body` in it (one that counts down would be unrolled).
std::string own_loop(const std::string& body) {
  return R"(
  mov.u32 %r3, %tid.x;
  mul.wide.u32 %rd1, %r3, 4;
  add.s64 %rd2, %rd8, %rd1;
  ld.global.u32 %r4, [%rd2];
  ld.global.u32 %r5, [%rd2+4];
  mov.u32 %r6, 0;
LOOP:
)" + body +
         R"(
  shr.u32 %r4, %r4, 1;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra LOOP;
  st.global.u32 [%rd2], %r6;
  ret;
)";
}

TEST(LaneAnalysis, a_loop_of_own_trip_counts_has_a_copy_for_equal_lanes) {
  using Names = std::vector<std::string>;
  const Analysed a(own_loop("  add.u32 %r6, %r6, %r5; shl.b32 %r7, %r4, 1; add.u32 %r8, %r7, %r3;"));
  EXPECT_EQ(a.compared(), std::vector<Names>{{"%r4"}});  // %r5 and %r6 steer nothing
  EXPECT_TRUE(a.of("%r4").is_vector());
  EXPECT_TRUE(a.in_copy("%r4").is_uniform());
  EXPECT_TRUE(a.in_copy("%r7").is_uniform());
  EXPECT_EQ(a.in_copy("%r8").shape, Shape::kPattern);  // thread index plus a scalar
  EXPECT_TRUE(a.in_copy("%r6").is_vector());
  // A value read at a place that all lanes share steers, too; a branch inside depends on what goes in.
  const Analysed b(own_loop(R"(
  mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd8, %rd3;
  ld.global.u32 %r7, [%rd4];
  setp.eq.u32 %p2, %r7, %r5; @%p2 bra OVER;
  add.u32 %r6, %r6, 1;
OVER:)"));
  EXPECT_EQ(b.compared(), (std::vector<Names>{{"%r4", "%r5"}}));
}

TEST(LaneAnalysis, loops_that_have_no_copy_for_equal_lanes) {
  // Lanes part whatever they hold: the thread's index steers, or a value of each thread's own place.
  EXPECT_TRUE(
      Analysed(own_loop("  setp.lt.u32 %p2, %r3, %r4; @%p2 bra OVER; add.u32 %r6, %r6, 1;\nOVER:")).compared().empty());
  EXPECT_TRUE(Analysed(own_loop("  ld.global.u32 %r7, [%rd2+8]; setp.eq.u32 %p2, %r7, 0; @%p2 bra OVER;"
                                " add.u32 %r6, %r6, 1;\nOVER:"))
                  .compared()
                  .empty());
  // Barriers and fences.
  EXPECT_TRUE(Analysed(own_loop("  bar.sync 0;")).compared().empty());
  EXPECT_TRUE(Analysed(own_loop("  membar.gl;")).compared().empty());
  // No lanes part.
  const Analysed uniform(R"(
  mov.u32 %r1, %r29;
LOOP:
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  ret;
)");
  EXPECT_TRUE(uniform.compared().empty());
}

TEST(LaneAnalysis, rows_of_a_narrow_block_are_two_term_addresses) {
  const std::string body = R"(
  mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;
  mad.lo.s32 %r3, %r2, %r29, %r1;
  ret;
)";
  EXPECT_EQ(Analysed(body, BlockShape::kWidth16).of("%r3").shape, Shape::kScaled);
  EXPECT_EQ(Analysed(body, BlockShape::kRows).of("%r3").shape, Shape::kPattern);
  EXPECT_TRUE(Analysed(body, BlockShape::kGeneral).of("%r3").is_vector());
}

TEST(LaneAnalysis, an_early_exit_does_not_make_the_rest_vary) {
  const Analysed a(R"(
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, %r29;
  @%p1 bra DONE;
  mov.u32 %r2, 0;
LOOP:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, %r29;
  @%p2 bra LOOP;
  st.global.u32 [%rd8], %r2;
DONE:
  ret;
)");
  EXPECT_TRUE(a.of("%r2").is_uniform());
}

TEST(LaneAnalysis, what_meets_behind_a_divergent_branch_varies) {
  const std::string body = R"(
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, COND, 5;
  mov.u32 %r2, 1;
  @%p1 bra JOIN;
  mov.u32 %r2, 2;
JOIN:
  st.global.u32 [%rd8], %r2;
  ret;
)";
  const auto with = [&](const std::string& condition) {
    std::string text = body;
    return text.replace(text.find("COND"), 4, condition);
  };
  EXPECT_TRUE(Analysed(with("%r1")).of("%r2").is_vector());
  EXPECT_TRUE(Analysed(with("%r29")).of("%r2").is_uniform());
  EXPECT_TRUE(Analysed(with("%r1")).any_diverged());
  EXPECT_FALSE(Analysed(with("%r29")).any_diverged());
}

TEST(LaneAnalysis, a_value_of_a_loop_that_lanes_leave_apart_varies_behind_it) {
  const Analysed a(R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
LOOP:
  .pragma "nounroll";
  add.u32 %r2, %r2, 1;
  add.u32 %r3, %r3, 2;
  setp.lt.u32 %p2, %r2, %r1;
  @%p2 bra LOOP;
  st.global.u32 [%rd8], %r3;
  ret;
)");
  EXPECT_TRUE(a.of("%r3").is_vector());   // read behind the loop
  EXPECT_TRUE(a.of("%r2").is_uniform());  // read only inside, where all active lanes agree
  EXPECT_TRUE(a.while_whole("%r3").is_uniform());
}

TEST(LaneAnalysis, while_warps_are_whole_what_strides_stays_a_pattern) {
  const Analysed a(R"(
  mov.u32 %r1, %tid.x;
  ld.global.u32 %r4, [%rd8];
LOOP:
  .pragma "nounroll";
  add.u32 %r1, %r1, %r29;
  setp.lt.u32 %p2, %r1, %r4;
  @%p2 bra LOOP;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd2, %rd8, %rd1;
  ld.global.u32 %r5, [%rd2];
  setp.lt.u32 %p3, %r1, 7;
  selp.u32 %r6, %r4, 0, %p3;
  st.global.u32 [%rd2], %r5;
  ret;
)");
  EXPECT_TRUE(a.of("%rd2").is_vector());
  EXPECT_EQ(a.while_whole("%rd2").shape, Shape::kPattern);
  EXPECT_TRUE(a.while_whole("%r5").is_vector());  // loaded
  EXPECT_TRUE(a.while_whole("%r6").is_vector());  // lanes choose
}

TEST(LaneAnalysis, one_register_for_two_purposes_is_two_webs) {
  const Analysed a(R"(
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd1, %r1, 4;
  add.s64 %rd1, %rd8, %rd1;
  ld.global.u32 %r1, [%rd1];
  st.global.u32 [%rd1], %r1;
  mov.u32 %r1, 7;
  st.global.u32 [%rd8], %r1;
  ret;
)");
  EXPECT_EQ(a.of("%r1").constant, 7u);
}

/// One header, two back edges: lanes that go round early wait at the outer end, so those behind run without them.
TEST(LaneAnalysis, loops_that_share_a_header_meet_behind_both) {
  const Analysed a(R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
$both:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra $both;
  ld.global.u32 %r3, [%rd8];
  setp.lt.u32 %p2, %r2, %r29;
  @%p2 bra $both;
  st.global.u32 [%rd8], %r3;
  ret;
)");
  EXPECT_TRUE(a.any_diverged());
  EXPECT_TRUE(a.of("%r3").is_vector());
}

/// As a grid barrier is written: the others wait where thread 0 comes through, too.
TEST(LaneAnalysis, lanes_that_only_wait_at_the_blocks_barrier_leave_what_is_behind_it_alone) {
  const Analysed a(R"(
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, 0;
  setp.ne.u32 %p1, %r1, 0;
$again:
  @%p1 bra $met;
  atom.global.add.u32 %r3, [%rd8], 1;
$wait:
  ld.acquire.gpu.global.u32 %r4, [%rd8];
  setp.lt.u32 %p2, %r4, %r29;
  @%p2 bra $wait;
$met:
  bar.sync 0;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p3, %r2, 3;
  @%p3 bra $again;
  ret;
)");
  EXPECT_EQ(a.parks(), (std::vector<bool>{false, false}));
  EXPECT_TRUE(a.of("%r2").is_uniform());
}

TEST(LaneAnalysis, behind_a_lock_of_each_lane_nothing_is_shared_from_block_to_block) {
  const Analysed a(R"(
  mov.u32 %r2, 0;
  mov.u32 %r5, %r29;
$again:
  add.u32 %r7, %r2, 1;
$spin:
  atom.global.cas.b32 %r3, [%rd8], 0, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra $spin;
  ld.volatile.global.u32 %r4, [%rd8+4];
  add.u32 %r6, %r4, %r5;
  st.volatile.global.u32 [%rd8+4], %r6;
  membar.gl;
  atom.global.exch.b32 %r3, [%rd8], 0;
  mov.u32 %r2, %r7;
  setp.lt.u32 %p3, %r2, 3;
  @%p3 bra $again;
  ret;
)");
  EXPECT_EQ(a.parks(), (std::vector<bool>{true, true}));
  EXPECT_TRUE(a.of("%r2").is_vector());  // lanes are in different rounds
  EXPECT_TRUE(a.of("%r7").is_vector());
  EXPECT_TRUE(a.of("%r4").is_uniform());  // used up before others come
  EXPECT_TRUE(a.of("%r5").is_uniform());  // from before
}

/// The lanes that wait for the word are behind the loop of those who wait for the lock.
TEST(LaneAnalysis, lanes_behind_any_loop_that_parks_park_the_next) {
  const Analysed a(R"(
$spin:
  atom.global.cas.b32 %r3, [%rd8], 0, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra $spin;
$wait:
  ld.volatile.global.u32 %r4, [%rd8+4];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra $wait;
  st.global.u32 [%rd8+8], %r4;
  ret;
)");
  EXPECT_EQ(a.parks(), (std::vector<bool>{true, true}));
  EXPECT_TRUE(a.of("%r4").is_vector());
}

/// All go together: nobody waits anywhere else.
TEST(LaneAnalysis, a_wait_for_one_word_of_all_lanes_parks_nobody) {
  const Analysed a(R"(
$wait:
  ld.volatile.global.u32 %r4, [%rd8+4];
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra $wait;
  st.global.u32 [%rd8+8], %r4;
  ret;
)");
  EXPECT_EQ(a.parks(), (std::vector<bool>{false}));
  EXPECT_TRUE(a.of("%r4").is_uniform());
  EXPECT_FALSE(a.any_diverged());
}

/// Lanes that go one way wait with the register's old value while the others count it down; nobody reads it behind
/// both.
TEST(LaneAnalysis, what_is_written_while_others_wait_to_read_it_varies) {
  const auto counted_down = [](const char* second) {
    const std::string other = second;
    return Analysed(
               "  mov.u32 %r1, %tid.x;\n  and.b32 %r2, %r1, 1;\n  setp.eq.u32 %p1, %r2, 0;\n"
               "  mov.u32 %r3, %r29;\n  mov.u32 %r4, %r29;\n  @%p1 bra EVEN;\n"
               "ODD:\n  add.s32 %r3, %r3, -1;\n  setp.gt.s32 %p2, %r3, 0;\n  @%p2 bra ODD;\n  bra.uni DONE;\n"
               "EVEN:\n  add.s32 " +
               other + ", " + other + ", -1;\n  setp.gt.s32 %p3, " + other +
               ", 0;\n  @%p3 bra EVEN;\nDONE:\n  st.global.u32 [%rd8], %r1;\n  ret;\n")
        .of(other);
  };
  EXPECT_TRUE(counted_down("%r3").is_vector());
  EXPECT_TRUE(counted_down("%r4").is_uniform());
}

}  // namespace
}  // namespace warplens::test
