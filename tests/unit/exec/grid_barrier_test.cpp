// SPDX-License-Identifier: Apache-2.0
// Blocks that wait for each other: all blocks that the device holds at once must make progress, however few workers
// there are. Expected values follow from what a barrier means.
#include <gtest/gtest.h>

#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

/// Every block adds 1 to `sum`, all meet, and each thread stores the sum that it sees: the number of blocks. Twice, so
/// that the second meeting comes after the first. The meeting is the one that nvcc makes of a cooperative grid sync: a
/// word behind the address in %envreg1/2, whose top bit turns when all have come.
const std::string kTwoMeetings = kPtxHead + R"(
.visible .entry meet(.param .u64 sum, .param .u64 out) {
  .reg .pred %p<8>; .reg .b32 %r<24>; .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [sum];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %envreg2;
  mov.u32 %r2, %envreg1;
  cvt.u64.u32 %rd3, %r1;
  cvt.u64.u32 %rd4, %r2;
  bfi.b64 %rd5, %rd4, %rd3, 32, 32;
  add.s64 %rd6, %rd5, 4;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %nctaid.x;
  mov.u32 %r6, %ntid.x;
  setp.ne.u32 %p1, %r3, 0;
  mov.u32 %r20, 0;
$again:
  @%p1 bra $arrived;
  red.global.add.u32 [%rd1], 1;
$arrived:
  barrier.sync 0;
  @%p1 bra $met;
  setp.eq.u32 %p2, %r4, 0;
  sub.s32 %r7, -2147483647, %r5;
  selp.b32 %r8, %r7, 1, %p2;
  atom.add.release.gpu.u32 %r9, [%rd6], %r8;
$wait:
  ld.acquire.gpu.u32 %r10, [%rd6];
  xor.b32 %r11, %r10, %r9;
  setp.gt.s32 %p3, %r11, -1;
  @%p3 bra $wait;
$met:
  barrier.sync 0;
  ld.volatile.global.u32 %r12, [%rd1];
  mad.lo.u32 %r13, %r4, %r6, %r3;
  shl.b32 %r14, %r13, 1;
  add.u32 %r14, %r14, %r20;
  mul.wide.u32 %rd7, %r14, 4;
  add.s64 %rd8, %rd2, %rd7;
  st.global.u32 [%rd8], %r12;
  add.u32 %r20, %r20, 1;
  barrier.sync 0;
  @%p1 bra $left;
  sub.s32 %r7, -2147483647, %r5;
  selp.b32 %r8, %r7, 1, %p2;
  atom.add.release.gpu.u32 %r9, [%rd6], %r8;
$wait2:
  ld.acquire.gpu.u32 %r10, [%rd6];
  xor.b32 %r11, %r10, %r9;
  setp.gt.s32 %p3, %r11, -1;
  @%p3 bra $wait2;
$left:
  barrier.sync 0;
  setp.lt.u32 %p4, %r20, 2;
  @%p4 bra $again;
  ret;
})";

enum class Engine { kInterpreter, kJit };
class GridBarrier : public testing::TestWithParam<std::tuple<Engine, unsigned>> {};

TEST_P(GridBarrier, more_blocks_than_workers_meet) {
  constexpr uint32_t kBlocks = 37, kThreads = 64;
  const auto [engine, workers] = GetParam();
  PtxLauncher gpu(kTwoMeetings);
  const auto jit = engine == Engine::kJit ? make_jit({}) : nullptr;
  auto* const sum = gpu.zeros<uint32_t>(1);
  auto* const out = gpu.zeros<uint32_t>(2 * kBlocks * kThreads);
  auto* const workspace = gpu.zeros<uint32_t>(2);
  const auto outcome = gpu.launch("meet",
                                  {.grid = {kBlocks, 1, 1},
                                   .block = {kThreads, 1, 1},
                                   .workers = workers,
                                   .grid_workspace = reinterpret_cast<uint64_t>(workspace)},
                                  Params().add(sum).add(out), jit.get());
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  for (uint32_t i = 0; i < kBlocks * kThreads; ++i) {
    ASSERT_EQ(out[2 * i], kBlocks) << i;
    ASSERT_EQ(out[2 * i + 1], 2 * kBlocks) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, GridBarrier,
                         testing::Combine(testing::Values(Engine::kInterpreter, Engine::kJit),
                                          testing::Values(1u, 2u, 5u)));

/// The last block opens the gate that all others wait at, and only 4 blocks are resident: the others' waiting must not
/// keep later blocks from running when earlier ones have ended.
TEST(GridBarrier, blocks_beyond_the_resident_ones_follow_in_order) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry chain(.param .u64 turn) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [turn];
  mov.u32 %r1, %ctaid.x;
$wait:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.ne.u32 %p1, %r2, %r1;
  @%p1 bra $wait;
  add.u32 %r3, %r2, 1;
  st.volatile.global.u32 [%rd1], %r3;
  ret;
})");
  auto* const turn = gpu.zeros<uint32_t>(1);
  const auto outcome = gpu.launch("chain", {.grid = {50, 1, 1}, .block = {1, 1, 1}, .workers = 2, .resident_blocks = 4},
                                  Params().add(turn));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  EXPECT_EQ(*turn, 50u);
}

TEST(GridBarrier, waiting_blocks_end_when_the_launch_is_ended) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry stuck(.param .u64 flag) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [flag];
$wait:
  ld.volatile.global.u32 %r2, [%rd1];
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra $wait;
  ret;
})");
  auto* const flag = gpu.zeros<uint32_t>(1);
  const std::atomic<uint32_t> interrupt{kStopTimeout};
  const auto outcome = gpu.launch(
      "stuck", {.grid = {9, 1, 1}, .block = {64, 1, 1}, .workers = 2, .interrupt = &interrupt}, Params().add(flag));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].kind, events::FindingKind::kTimeout);
}

}  // namespace
}  // namespace warplens::exec
