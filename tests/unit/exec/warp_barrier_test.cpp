// SPDX-License-Identifier: Apache-2.0
// bar.warp.sync in code that lanes took different ways: those who come first wait for the others of their mask.
#include <gtest/gtest.h>

#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

class WarpBarrier : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Executor> executor() const {
    return std::string(GetParam()) == "jit" ? make_jit({}) : make_interpreter();
  }
};

constexpr const char* kBegin = R"(
  .reg .b32 t, at, v, k, m; .reg .b64 o; .reg .pred p, q;
  .shared .align 4 .b32 box[64];
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mad.wide.u32 o, t, 4, o; mov.u32 at, box; mad.lo.u32 at, t, 4, at;
)";

/// Lower and upper half write in different branches, meet in different places, and read what the other half wrote.
TEST_P(WarpBarrier, branches_see_each_others_stores) {
  PtxLauncher gpu(kPtxHead + ".visible .entry k(.param .u64 out) {" + kBegin + R"(
  setp.ge.u32 p, t, 16; @p bra upper;
  add.u32 v, t, 100; st.shared.u32 [at], v;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 v, [at+64]; st.global.u32 [o], v;
  bra done;
upper:
  add.u32 v, t, 200; st.shared.u32 [at], v;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 v, [at-64]; st.global.u32 [o], v;
done:
  bar.warp.sync -1;
  ld.global.u32 k, [o]; add.u32 k, k, 1; st.global.u32 [o], k;
  ret;
})");
  auto* out = gpu.zeros<uint32_t>(32);
  const auto outcome = gpu.launch("k", {.block = {32, 1, 1}}, Params().add(out), executor().get());
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 16 ? t + 16 + 201 : t - 16 + 101) << t;
}

/// Three rounds of the same in a loop; who has more lanes to wait for changes.
TEST_P(WarpBarrier, rounds_of_a_loop_meet_one_by_one) {
  PtxLauncher gpu(kPtxHead + ".visible .entry k(.param .u64 out) {" + kBegin + R"(
  mov.u32 k, 0; mov.u32 m, 0; and.b32 v, t, 1; setp.ne.u32 p, v, 0;
again:
  @p bra odd;
  mad.lo.u32 v, k, 1000, t; st.shared.u32 [at], v;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 v, [at+4]; add.u32 m, m, v;
  bar.warp.sync 0xffffffff;
  bra next;
odd:
  mad.lo.u32 v, k, 1000, t; st.shared.u32 [at], v;
  bar.warp.sync 0xffffffff;
  ld.shared.u32 v, [at-4]; add.u32 m, m, v;
  bar.warp.sync 0xffffffff;
next:
  add.u32 k, k, 1; setp.lt.u32 q, k, 3; @q bra again;
  st.global.u32 [o], m; ret;
})");
  auto* out = gpu.zeros<uint32_t>(32);
  const auto outcome = gpu.launch("k", {.block = {32, 1, 1}}, Params().add(out), executor().get());
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], 3000 + 3 * (t ^ 1)) << t;
}

TEST_P(WarpBarrier, lanes_that_have_ended_are_not_waited_for) {
  PtxLauncher gpu(kPtxHead + ".visible .entry k(.param .u64 out) {" + kBegin + R"(
  setp.ge.u32 p, t, 16; @p bra upper;
  bar.warp.sync 0xffffffff;
  st.global.u32 [o], 1; ret;
upper:
  setp.lt.u32 q, t, 24; @q ret;
  bar.warp.sync 0xffffffff;
  st.global.u32 [o], 2; ret;
})");
  auto* out = gpu.zeros<uint32_t>(32);
  const auto outcome = gpu.launch("k", {.block = {32, 1, 1}}, Params().add(out), executor().get());
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 16 ? 1u : t < 24 ? 0u : 2u) << t;
}

TEST_P(WarpBarrier, groups_that_wait_for_each_other_with_different_masks_are_a_deadlock) {
  PtxLauncher gpu(kPtxHead + ".visible .entry k(.param .u64 out) {" + kBegin + R"(
  setp.ge.u32 p, t, 16; @p bra upper;
  bar.warp.sync 0xffffffff; st.global.u32 [o], 1; ret;
upper:
  bar.warp.sync 0xffff0001; st.global.u32 [o], 2; ret;
})");
  auto* out = gpu.zeros<uint32_t>(32);
  const auto outcome = gpu.launch("k", {.block = {32, 1, 1}}, Params().add(out), executor().get());
  ASSERT_FALSE(outcome.complete());
  EXPECT_EQ(outcome.findings[0].kind, events::FindingKind::kDeadlock);
}

INSTANTIATE_TEST_SUITE_P(Executor, WarpBarrier, testing::Values("interpreter", "jit"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace warplens::exec
