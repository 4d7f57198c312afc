// SPDX-License-Identifier: Apache-2.0
// Barriers that are for whole warps, executed by a part of one: the manual leaves open what happens, so a finding says
// so, once an instruction, and the launch goes on. Threads that have ended are not missing.
#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using events::FindingKind;
using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

class DivergentBarrier : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Executor> executor() const {
    const std::string which = GetParam();
    if (which == "interpreter") return make_interpreter();
    JitOptions options;
    options.lane_classes = which != "jit_of_vectors";
    if (which == "jit_of_one_function") options.copies = JitCopies::kOneFunction;
    return make_jit(options);
  }
  /// Of a kernel whose %t is the thread, %lane its lane, %half whether that is below 16.
  LaunchOutcome run(const std::string& body, PtxLauncher::Options options = {.block = {64, 1, 1}}) {
    PtxLauncher gpu(kPtxHead + R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %lane, %n, %r; .reg .b64 %o; .reg .pred %half, %p;
  ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 4, %o;
  and.b32 %lane, %t, 31; setp.lt.u32 %half, %lane, 16;
)" + body + "\n}");
    auto* out = gpu.zeros<uint32_t>(1024);
    LaunchOutcome outcome = gpu.launch("k", options, Params().add(out), executor().get());
    EXPECT_TRUE(outcome.complete()) << body;
    return outcome;
  }
};

TEST_P(DivergentBarrier, in_a_branch_is_found_and_the_launch_goes_on) {
  PtxLauncher gpu(kPtxHead + R"(
.file 1 "user.cu"
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<3>; .reg .b64 %o; .reg .pred %p;
  ld.param.u64 %o, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %o, %r1, 4, %o;
  and.b32 %r2, %r1, 31; setp.lt.u32 %p, %r2, 20; @%p bra behind;
  .loc 1 17 5
  bar.sync 0;
behind:
  st.global.u32 [%o], %r1; ret;
})");
  auto* out = gpu.zeros<uint32_t>(96);
  // The last warp has 22 threads, two of which come to the barrier.
  const auto outcome =
      gpu.launch("k", {.grid = {3, 1, 1}, .block = {86, 1, 1}, .workers = 1}, Params().add(out), executor().get());
  EXPECT_TRUE(outcome.complete());
  EXPECT_EQ(outcome.counts.sites[0].requests, 9u);
  EXPECT_EQ(out[85], 85u);
  ASSERT_EQ(outcome.findings.size(), 1u);
  const events::Finding& f = outcome.findings[0];
  EXPECT_EQ(f.kind, FindingKind::kDivergentBarrier);
  EXPECT_EQ(f.file, "user.cu");
  EXPECT_EQ(f.place, (events::Place{1, 17, 5}));
  EXPECT_EQ(f.block_index, (events::Dim3{0, 0, 0}));
  EXPECT_EQ(f.thread_index, (events::Dim3{20, 0, 0}));
  EXPECT_EQ(f.message,
            "executes an aligned barrier with 12 of its warp's 32 running threads, and the others are "
            "elsewhere");
}

TEST_P(DivergentBarrier, each_instruction_has_a_finding_of_its_own) {
  const auto outcome = run(R"(
  @%half bra lower; bar.sync 0; bra both;
lower: bar.sync 0;
both: bar.sync 0; st.global.u32 [%o], %t; ret;)");
  ASSERT_EQ(outcome.findings.size(), 2u);
  EXPECT_EQ(outcome.findings[0].lane, 16u);
  EXPECT_EQ(outcome.findings[1].lane, 0u);
  EXPECT_LT(outcome.findings[0].pc, outcome.findings[1].pc);
}

TEST_P(DivergentBarrier, threads_that_have_ended_are_not_missing) {
  EXPECT_TRUE(run("@%half ret; bar.sync 0; st.global.u32 [%o], %t; ret;").findings.empty());
  // As compilers write it: one ret for all, and what nobody can see before it.
  EXPECT_TRUE(run("@%half bra end; bar.sync 0; st.global.u32 [%o], %t; end: ret;").findings.empty());
  EXPECT_TRUE(run(R"(
  @%half bra end; bar.sync 0; st.global.u32 [%o], %t;
end: add.u32 %r, %t, 1; setp.eq.u32 %p, %r, 7; @%p bra out; ld.global.u32 %r, [%o];
out: ret;)")
                  .findings.empty());
  // Early returns that store, which stand behind the barrier in the layout; in a loop, too.
  EXPECT_TRUE(run(R"(
  @%half bra early; bar.sync 0; st.global.u32 [%o], %t; ret;
early: st.global.u32 [%o], %lane; ret;)")
                  .findings.empty());
  EXPECT_TRUE(run(R"(
  mov.u32 %n, 0;
again:
  setp.eq.u32 %p, %n, %lane; @%p bra early; bar.sync 0; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 40; @%p bra again;
  st.global.u32 [%o], %t; ret;
early: st.global.u32 [%o], %lane; ret;)")
                  .findings.empty());
  // But for a barrier that they come to.
  EXPECT_EQ(run(R"(
  @%half bra early; bar.sync 0; st.global.u32 [%o], %t; ret;
early: st.global.u32 [%o], %lane; bar.sync 0; ret;)")
                .findings.size(),
            1u);
  EXPECT_EQ(run(R"(
  @%half bra early; bar.sync 0; st.global.u32 [%o], %t; ret;
early: st.global.u32 [%o], %lane; setp.ge.u32 %p, %t, 0; @%p bra far; ret;
far: bar.sync 0; ret;)")
                .findings.size(),
            1u);
  // These store, or go round for ever but for the barrier's threads.
  EXPECT_EQ(run("@%half bra end; bar.sync 0; end: st.global.u32 [%o], %t; ret;").findings.size(), 1u);
  EXPECT_EQ(
      run("mov.u32 %n, 0; @%half bra on; bar.sync 0; on: add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %t; @%p bra on; ret;")
          .findings.size(),
      1u);
}

TEST_P(DivergentBarrier, behind_the_branch_all_are_together) {
  for (const uint32_t threads : {64u, 40u})
    EXPECT_TRUE(run(R"(
  mov.u32 %n, 0;
again:
  @%half bra both; st.global.u32 [%o], %n;
both:
  bar.sync 0;
  add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 5; @%p bra again;
  ret;)",
                    {.block = {threads, 1, 1}})
                    .findings.empty());
}

TEST_P(DivergentBarrier, in_a_loop_that_some_have_left_is_one_finding) {
  const std::string loop = R"(
  mov.u32 %n, 0;
again:
  bar.sync 0;
  add.u32 %n, %n, 1; setp.lt.u32 %p, %n, %R; @%p bra again;
  st.global.u32 [%o], %n; ret;)";
  const auto by = [&](const std::string& bound) {
    std::string text = loop;
    return run(text.replace(text.find("%R"), 2, bound), {.grid = {5, 1, 1}, .block = {96, 1, 1}, .workers = 2});
  };
  const auto outcome = by("%lane");
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].message.substr(0, 45), "executes an aligned barrier with 30 of its wa");
  EXPECT_TRUE(by("7").findings.empty());
}

TEST_P(DivergentBarrier, only_aligned_forms_are_for_whole_warps) {
  const auto found = [&](const std::string& barrier) {
    return run("@%half bra behind; " + barrier + " behind: st.global.u32 [%o], %t; ret;").findings.size();
  };
  EXPECT_EQ(found("barrier.sync 0;"), 0u);
  EXPECT_EQ(found("barrier.sync.aligned 0;"), 1u);
  EXPECT_EQ(found("barrier.sync.aligned 1, 64;"), 1u);
  EXPECT_EQ(found("bar.cta.sync 0;"), 1u);
  EXPECT_EQ(found("bar.arrive 1, 128;"), 1u);
  EXPECT_EQ(found("barrier.arrive 1, 128;"), 0u);
  EXPECT_EQ(found("bar.red.popc.u32 %r, 0, %half;"), 1u);
  EXPECT_EQ(found("barrier.red.popc.u32 %r, 0, %half;"), 0u);
  EXPECT_EQ(found("barrier.red.or.aligned.pred %p, 0, %half;"), 1u);
  EXPECT_EQ(found("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"), 2u);
  EXPECT_EQ(found("barrier.cluster.arrive; barrier.cluster.wait;"), 0u);
}

TEST_P(DivergentBarrier, a_guard_may_hold_back_whole_warps_only) {
  EXPECT_EQ(run("@%half bar.sync 0; st.global.u32 [%o], %t; ret;").findings.size(), 1u);
  EXPECT_EQ(run("setp.lt.u32 %p, %t, 48; @%p bar.sync 1, 64; st.global.u32 [%o], %t; ret;").findings.size(), 1u);
  EXPECT_TRUE(run("setp.lt.u32 %p, %t, 32; @%p bar.sync 1, 32; st.global.u32 [%o], %t; ret;").findings.empty());
  EXPECT_TRUE(run("@%half ret; @!%half bar.sync 0; st.global.u32 [%o], %t; ret;").findings.empty());
  EXPECT_EQ(run("@%half ret; setp.lt.u32 %p, %lane, 20; @%p bar.sync 0; st.global.u32 [%o], %t; ret;").findings.size(),
            1u);
}

/// Lanes that wait at a barrier of the warp run on behind it.
TEST_P(DivergentBarrier, lanes_at_a_warp_barrier_are_missing) {
  const auto outcome = run(R"(
  @%half bra lower; bar.warp.sync -1; bra both;
lower: bar.sync 0; bar.warp.sync -1;
both: st.global.u32 [%o], %t; ret;)");
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].lane, 0u);
}

/// What ends the launch comes first.
TEST_P(DivergentBarrier, stands_behind_what_ends_the_launch) {
  PtxLauncher gpu(kPtxHead + R"(.visible .entry k() {
  .reg .b32 %t; .reg .pred %p;
  mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 16; @%p bra behind; bar.sync 0;
behind: @%p trap; ret;
})");
  const auto outcome = gpu.launch("k", {.block = {32, 1, 1}}, {}, executor().get());
  EXPECT_FALSE(outcome.complete());
  ASSERT_EQ(outcome.findings.size(), 2u);
  EXPECT_EQ(outcome.findings[0].kind, FindingKind::kTrap);
  EXPECT_EQ(outcome.findings[1].kind, FindingKind::kDivergentBarrier);
}

/// A lock is taken by one lane after another, and all meet behind the loop.
TEST_P(DivergentBarrier, lanes_that_spin_are_waited_for) {
  const auto outcome = run(R"(
  .reg .b64 %lock; .reg .b32 %old; ld.param.u64 %lock, [out]; add.u64 %lock, %lock, 2048;
try:
  atom.global.cas.b32 %old, [%lock], 0, 1; setp.ne.u32 %p, %old, 0; @%p bra try;
  ld.global.u32 %r, [%lock+4]; add.u32 %r, %r, 1; st.global.u32 [%lock+4], %r;
  atom.global.exch.b32 %old, [%lock], 0;
  bar.sync 0;
  ld.global.u32 %r, [%lock+4]; st.global.u32 [%o], %r; ret;)");
  EXPECT_TRUE(outcome.findings.empty());
}

INSTANTIATE_TEST_SUITE_P(Executor, DivergentBarrier,
                         testing::Values("interpreter", "jit", "jit_of_one_function", "jit_of_vectors"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace warplens::exec
