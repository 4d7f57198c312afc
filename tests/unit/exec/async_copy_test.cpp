// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies and mbarrier objects in both executors; expected values and counts are worked out by hand.
#include <gtest/gtest.h>

#include <numeric>

#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

class AsyncCopies : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Executor> executor() const {
    return std::string(GetParam()) == "jit" ? make_jit({}) : make_interpreter();
  }
};

/// 16 bytes a thread; threads of odd number read nothing and get zeros.
TEST_P(AsyncCopies, cp_async_moves_sixteen_bytes_or_zeros) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 t, at, n, v<4>; .reg .b64 i, o;
  .shared .align 16 .b8 tile[1024];
  ld.param.u64 i, [in]; ld.param.u64 o, [out]; mov.u32 t, %tid.x;
  mad.wide.u32 i, t, 16, i; mad.wide.u32 o, t, 16, o; mov.u32 at, tile; mad.lo.u32 at, t, 16, at;
  st.shared.v4.u32 [at], {t, t, t, t};
  and.b32 n, t, 1; xor.b32 n, n, 1; shl.b32 n, n, 4;
  cp.async.cg.shared.global [at], [i], 16, n;
  cp.async.commit_group; cp.async.wait_group 0;
  bar.sync 0;
  ld.shared.v4.u32 {v0, v1, v2, v3}, [at]; st.global.v4.u32 [o], {v0, v1, v2, v3};
  ret;
})");
  std::vector<uint32_t> values(64 * 4);
  std::iota(values.begin(), values.end(), 100u);
  auto *in = gpu.array(values), *out = gpu.zeros<uint32_t>(64 * 4);
  const auto outcome = gpu.launch("k", {.block = {64, 1, 1}}, Params().add(in).add(out), executor().get());
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  for (uint32_t i = 0; i < 64 * 4; ++i) EXPECT_EQ(out[i], i / 4 % 2 == 0 ? values[i] : 0) << i;
  // Sites: st.shared, the copy's read and write, ld.shared, st.global. 16 lanes of 16 bytes, every other half sector.
  EXPECT_EQ(outcome.counts.sites[1], (events::SiteCounts{2, 32, 32, 8, 16, 0, 0}));
  // What is written past the L1 takes no pass of the load and store unit.
  EXPECT_EQ(outcome.counts.sites[2], (events::SiteCounts{2, 64, 0, 0, 0, 0, 0}));
}

/// Rows of 8 words, a page apart: in one line's place of the L1's look-up each, and to and from the same banks. Lanes
/// that read nothing are served by themselves. (truth/h200/warps_copies.csv, warps_less.csv)
TEST_P(AsyncCopies, what_a_copy_writes_takes_passes_by_both_places) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 in) {
  .reg .b32 t, at, row, n; .reg .b64 i, o; .reg .pred odd;
  .shared .align 16 .b8 tile[1024];
  ld.param.u64 i, [in]; mov.u32 t, %tid.x;
  shr.u32 row, t, 3; mul.wide.u32 o, row, 256; add.u64 i, i, o;
  and.b32 row, t, 7; mul.wide.u32 o, row, 4; add.u64 i, i, o;
  mov.u32 at, tile; mad.lo.u32 at, t, 4, at;
  cp.async.ca.shared.global [at], [i], 4;
  and.b32 n, t, 1; shl.b32 n, n, 2;
  cp.async.ca.shared.global [at], [i], 4, n;
  cp.async.wait_all;
  ret;
})");
  auto* in = gpu.zeros<uint32_t>(1024);
  const auto outcome = gpu.launch("k", {.block = {32, 1, 1}}, Params().add(in), executor().get());
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  EXPECT_EQ(outcome.counts.sites[0], (events::SiteCounts{1, 32, 4, 4, 4}));
  EXPECT_EQ(outcome.counts.sites[1], (events::SiteCounts{1, 32, 0, 0, 0, 4, 1}));
  EXPECT_EQ(outcome.counts.sites[3], (events::SiteCounts{1, 32, 0, 0, 0, 5, 1}));
}

TEST_P(AsyncCopies, a_copy_from_beyond_an_allocation_is_found) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 in) {
  .reg .b32 at; .reg .b64 i; .shared .align 16 .b8 tile[16];
  ld.param.u64 i, [in]; mov.u32 at, tile; cp.async.ca.shared.global [at], [i+64], 4; cp.async.wait_all; ret;
})");
  auto* in = gpu.zeros<uint32_t>(16);
  const auto outcome = gpu.launch("k", {.block = {1, 1, 1}}, Params().add(in), executor().get());
  ASSERT_FALSE(outcome.complete());
  EXPECT_EQ(outcome.findings[0].kind, events::FindingKind::kOutOfBounds);
}

/// Warp 1 waits for warp 0, which stores first; twice, so that both parities occur. Warp 0's lanes arrive one by one.
TEST_P(AsyncCopies, mbarrier_lets_waiters_go_when_all_have_arrived) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 t, at, k, v, parity; .reg .b64 o, state; .reg .pred first, done, again;
  .shared .align 8 .b64 bar; .shared .align 4 .b32 box[32];
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mov.u32 k, 0; mov.u32 parity, 0;
  setp.ne.u32 first, t, 0; @first bra ready;
  mbarrier.init.shared.b64 [bar], 32;
ready:
  bar.sync 0;
  setp.ge.u32 first, t, 32; @first bra reader;
writer:
  mov.u32 at, box; mad.lo.u32 at, t, 4, at; mad.lo.u32 v, k, 1000, t; st.shared.u32 [at], v;
  mbarrier.arrive.shared.b64 state, [bar];
  bar.sync 1, 64;
  add.u32 k, k, 1; setp.lt.u32 again, k, 2; @again bra writer;
  ret;
reader:
  mbarrier.try_wait.parity.shared.b64 done, [bar], parity; @!done bra reader;
  mov.u32 at, box; mad.lo.u32 at, t, 4, at; ld.shared.u32 v, [at-128];
  mad.lo.u32 at, k, 32, t; mul.wide.u32 state, at, 4; add.u64 state, o, state; st.global.u32 [state-128], v;
  bar.sync 1, 64;
  xor.b32 parity, parity, 1; add.u32 k, k, 1; setp.lt.u32 again, k, 2; @again bra reader;
  ret;
})");
  auto* out = gpu.zeros<uint32_t>(64);
  const auto outcome = gpu.launch("k", {.block = {64, 1, 1}}, Params().add(out), executor().get());
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i / 32 * 1000 + i % 32);
}

/// One thread expects 512 bytes and starts the copy; the phase ends with the last byte.
TEST_P(AsyncCopies, bulk_copies_complete_a_phase_by_their_bytes) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 t, at, v, bars; .reg .b64 i, o, state; .reg .pred p, before, after, done;
  .shared .align 8 .b64 bar; .shared .align 16 .b8 tile[512];
  ld.param.u64 i, [in]; ld.param.u64 o, [out]; mov.u32 t, %tid.x; mov.u32 bars, bar; mov.u32 at, tile;
  setp.ne.u32 p, t, 0; @p bra wait;
  mbarrier.init.shared::cta.b64 [bars], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 state, [bars], 512;
  mbarrier.test_wait.shared::cta.b64 before, [bars], state;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [at], [i], 512, [bars];
  mbarrier.test_wait.shared::cta.b64 after, [bars], state;
  selp.u32 v, 1, 0, before; st.global.u32 [o+512], v; selp.u32 v, 1, 0, after; st.global.u32 [o+516], v;
wait:
  bar.sync 0;
  mad.lo.u32 at, t, 4, at; mad.wide.u32 o, t, 4, o;
  ld.shared.u32 v, [at]; st.global.u32 [o], v;
  ret;
})");
  std::vector<uint32_t> values(128);
  std::iota(values.begin(), values.end(), 5u);
  auto *in = gpu.array(values), *out = gpu.zeros<uint32_t>(130);
  const auto outcome = gpu.launch("k", {.block = {128, 1, 1}}, Params().add(in).add(out), executor().get());
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], values[i]);
  EXPECT_EQ(out[128], 0u) << "bytes are missing";
  EXPECT_EQ(out[129], 1u);
}

INSTANTIATE_TEST_SUITE_P(Executor, AsyncCopies, testing::Values("interpreter", "jit"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace warplens::exec
