// SPDX-License-Identifier: Apache-2.0
// Whole launches of small hand-written kernels; what they must do is worked out in plain C++ or by hand.
#include <gtest/gtest.h>

#include <numeric>

#include "memory/counter_listener.h"
#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

/// out[i] = in[i] + 1 for i < n, i = the thread's linear index in the grid of any shape.
const std::string kAddOne = kPtxHead + R"(
.visible .entry add_one(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;  mov.u32 %r2, %tid.y;  mov.u32 %r3, %tid.z;
  mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z;
  mad.lo.u32 %r7, %r3, %r5, %r2;
  mad.lo.u32 %r7, %r7, %r4, %r1;
  mul.lo.u32 %r8, %r4, %r5;
  mul.lo.u32 %r8, %r8, %r6;
  mov.u32 %r9, %ctaid.y;
  mov.u32 %r10, %nctaid.x;
  mov.u32 %r11, %ctaid.x;
  mad.lo.u32 %r9, %r9, %r10, %r11;
  mad.lo.u32 %r7, %r9, %r8, %r7;
  ld.param.u32 %r12, [n];
  setp.ge.u32 %p1, %r7, %r12;
  @%p1 bra $done;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r7, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.u32 %r13, [%rd4];
  add.u32 %r13, %r13, 1;
  st.global.u32 [%rd5], %r13;
$done:
  ret;
}
)";

struct Shape {
  events::Dim3 grid, block;
};

class AddOne : public testing::TestWithParam<Shape> {};

TEST_P(AddOne, every_thread_of_any_shape_runs_once) {
  const auto [grid, block] = GetParam();
  PtxLauncher gpu(kAddOne);
  const auto threads = static_cast<uint32_t>(grid.count() * block.count());
  const uint32_t n = threads - 1;
  std::vector<uint32_t> in(threads);
  std::iota(in.begin(), in.end(), 100u);
  auto* const a = gpu.array(in);
  auto* const b = gpu.zeros<uint32_t>(threads);
  memory::CounterListener counter;
  const auto outcome = gpu.launch("add_one", {.grid = grid, .block = block, .workers = 2, .listeners = {&counter}},
                                  Params().add(a).add(b).add(n));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(b[i], 101 + i);
  EXPECT_EQ(b[n], 0u);
  EXPECT_EQ(outcome.counts, counter.counts());
  const uint64_t warps = (block.count() + 31) / 32 * grid.count();
  EXPECT_EQ(outcome.counts.blocks[0].warps, warps);
  EXPECT_EQ(outcome.counts.blocks[0].lanes, threads);
  EXPECT_EQ(outcome.counts.sites[0].lanes, n);
}

INSTANTIATE_TEST_SUITE_P(Shapes, AddOne,
                         testing::Values(Shape{{4, 1, 1}, {128, 1, 1}}, Shape{{3, 1, 1}, {33, 1, 1}},
                                         Shape{{2, 3, 1}, {5, 7, 3}}, Shape{{1, 1, 1}, {1, 1, 2}},
                                         Shape{{2, 1, 1}, {16, 4, 1}}, Shape{{1, 1, 1}, {1024, 1, 1}},
                                         Shape{{7, 1, 1}, {31, 1, 1}}));

TEST(Interpreter, counts_sectors_of_a_strided_read) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry strided(.param .u64 in, .param .u64 out, .param .u32 stride) {
  .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .f32 %f<2>;
  mov.u32 %r1, %tid.x;
  ld.param.u32 %r2, [stride];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mul.lo.u32 %r3, %r1, %r2;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4+4];
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd6, %rd2, %rd5;
  st.global.f32 [%rd6], %f1;
  ret;
})");
  auto* const in = gpu.zeros<float>(64 * 33 + 1);
  auto* const out = gpu.zeros<float>(64);
  const auto outcome = gpu.launch("strided", {.block = {64, 1, 1}}, Params().add(in).add(out).add(uint32_t{3}));
  ASSERT_TRUE(outcome.complete());
  // Stride 12 bytes, begun at byte 4: lanes 0..31 cover bytes 4..379, lanes 32..63 bytes 388..763: sectors
  // 0..11, 12..23.
  EXPECT_EQ(outcome.counts.sites[0], (events::SiteCounts{2, 64, 24, 6, 8, 0, 0}));
  EXPECT_EQ(outcome.counts.sites[1], (events::SiteCounts{2, 64, 8, 2, 8, 0, 0}));
  const auto& sites = gpu.kernel("strided")->info.sites;
  EXPECT_EQ(sites[0].parameter, "in");
  EXPECT_EQ(sites[1].parameter, "out");
}

/// Collatz steps: lanes leave the loop at different times, arms differ.
TEST(Interpreter, divergent_loop_gives_each_lane_its_own_result) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry collatz(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  add.u32 %r2, %r1, 1;
  mov.u32 %r3, 0;
$loop:
  setp.eq.u32 %p1, %r2, 1;
  @%p1 bra $done;
  add.u32 %r3, %r3, 1;
  and.b32 %r4, %r2, 1;
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra $even;
  mad.lo.u32 %r2, %r2, 3, 1;
  bra $loop;
$even:
  shr.u32 %r2, %r2, 1;
  bra $loop;
$done:
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(100);
  const auto outcome = gpu.launch("collatz", {.block = {100, 1, 1}}, Params().add(out));
  ASSERT_TRUE(outcome.complete());
  for (uint32_t i = 0; i < 100; ++i) {
    uint32_t steps = 0;
    for (uint64_t v = i + 1; v != 1; v = v % 2 ? 3 * v + 1 : v / 2) ++steps;
    EXPECT_EQ(out[i], steps) << i;
  }
  // The lanes of a warp are together again at the store.
  EXPECT_EQ(outcome.counts.sites[0].requests, 4u);
}

TEST(Interpreter, irreducible_loop_with_two_entries) {
  // Lanes with bit 0 enter at B, the others at A; A: x += 1, B: x *= 2; leave after B when x >= 100.
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry two_entries(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %r1;
  and.b32 %r3, %r1, 1;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra $b;
$a:
  add.u32 %r2, %r2, 1;
$b:
  shl.b32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 100;
  @%p2 bra $a;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  exit;
})");
  auto* const out = gpu.zeros<uint32_t>(64);
  const auto outcome = gpu.launch("two_entries", {.block = {64, 1, 1}}, Params().add(out));
  ASSERT_TRUE(outcome.complete());
  for (uint32_t i = 0; i < 64; ++i) {
    uint32_t x = i;
    bool at_b = i & 1;
    do {
      if (!at_b) x += 1;
      at_b = false;
      x *= 2;
    } while (x < 100);
    EXPECT_EQ(out[i], x) << i;
  }
  EXPECT_EQ(outcome.counts.sites[0].requests, 2u);
}

/// Block-wide sum by halving in shared memory, dynamic: a barrier in a loop; then a lane-0 atomic.
const std::string kReduce = kPtxHead + R"(
.extern .shared .align 4 .b8 dyn[];
.visible .entry reduce(.param .u64 in, .param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  ld.param.u64 %rd1, [in];
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r5, [%rd3];
  mov.u32 %r6, dyn;
  shl.b32 %r7, %r1, 2;
  add.u32 %r8, %r6, %r7;
  st.shared.u32 [%r8], %r5;
  mov.u32 %r9, %r3;
$loop:
  bar.sync 0;
  shr.u32 %r9, %r9, 1;
  setp.eq.u32 %p1, %r9, 0;
  @%p1 bra $done;
  setp.ge.u32 %p2, %r1, %r9;
  @%p2 bra $loop;
  shl.b32 %r10, %r9, 2;
  add.u32 %r11, %r8, %r10;
  ld.shared.u32 %r12, [%r11];
  ld.shared.u32 %r13, [%r8];
  add.u32 %r13, %r13, %r12;
  st.shared.u32 [%r8], %r13;
  bra $loop;
$done:
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra $end;
  ld.shared.u32 %r14, [dyn];
  ld.param.u64 %rd4, [out];
  red.global.add.u32 [%rd4], %r14;
$end:
  ret;
}
)";

TEST(Interpreter, block_reduction_with_barriers_in_a_loop) {
  for (const unsigned workers : {1u, 3u}) {
    PtxLauncher gpu(kReduce);
    std::vector<uint32_t> in(256 * 20);
    std::iota(in.begin(), in.end(), 5u);
    auto* const a = gpu.array(in);
    auto* const sum = gpu.zeros<uint32_t>(1);
    const auto outcome = gpu.launch(
        "reduce", {.grid = {20, 1, 1}, .block = {256, 1, 1}, .dynamic_shared_bytes = 1024, .workers = workers},
        Params().add(a).add(sum));
    ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
    EXPECT_EQ(*sum, std::accumulate(in.begin(), in.end(), 0u));
  }
}

TEST(Interpreter, events_do_not_depend_on_the_number_of_workers) {
  std::string texts[2];
  for (const unsigned workers : {1u, 4u}) {
    PtxLauncher gpu(kReduce);
    auto* const a = gpu.zeros<uint32_t>(64 * 9);
    auto* const sum = gpu.zeros<uint32_t>(1);
    memory::TraceListener trace(gpu.arena().space().base);
    const auto outcome = gpu.launch("reduce",
                                    {.grid = {9, 1, 1},
                                     .block = {64, 1, 1},
                                     .dynamic_shared_bytes = 256,
                                     .workers = workers,
                                     .listeners = {&trace}},
                                    Params().add(a).add(sum));
    ASSERT_TRUE(outcome.complete());
    texts[workers == 4] = trace.text();
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_NE(texts[0].find("barrier pc="), std::string::npos);
}

TEST(Interpreter, static_shared_memory_takes_what_the_kernel_names) {
  PtxLauncher gpu(kPtxHead + R"(
.shared .align 4 .b8 unused[4096];
.shared .align 8 .b8 used[24];
.visible .entry k(.param .u64 out) {
  .shared .align 16 .b8 own[32];
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  mov.u32 %r1, used;
  mov.u32 %r2, own;
  mov.u32 %r3, 7;
  st.shared.u32 [%r1+20], %r3;
  st.shared.u32 [own+28], %r3;
  ld.param.u64 %rd1, [out];
  st.global.v2.u32 [%rd1], {%r1, %r2};
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(2);
  const auto outcome = gpu.launch("k", {}, Params().add(out));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  EXPECT_EQ(out[0], 1024u);
  EXPECT_EQ(out[1], 1024u + 32);
  EXPECT_EQ(gpu.kernel("k")->static_shared_bytes, 64u);
}

TEST(Interpreter, variables_are_initialised_with_values_and_addresses) {
  PtxLauncher gpu(kPtxHead + R"(
.global .align 4 .u32 numbers[4] = {10, 20, 30, 40};
.global .align 8 .u64 pointer = numbers + 8;
.const .align 4 .f32 factor = 0f40400000;
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<2>;
  ld.global.u64 %rd1, [pointer];
  ld.global.u32 %r1, [%rd1];
  ld.const.f32 %f1, [factor];
  ld.param.u64 %rd2, [out];
  st.global.u32 [%rd2], %r1;
  st.global.f32 [%rd2+4], %f1;
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(2);
  const auto outcome = gpu.launch("k", {}, Params().add(out));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  EXPECT_EQ(out[0], 30u);
  EXPECT_EQ(out[1], 0x40400000u);
}

TEST(Interpreter, narrow_loads_extend_by_their_type) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .b16 %h<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.global.s8 %r1, [%rd1];
  ld.global.u8 %r2, [%rd1];
  ld.global.s16 %rd3, [%rd1];
  ld.global.b16 %h1, [%rd1];
  st.global.u32 [%rd2], %r1;
  st.global.u32 [%rd2+4], %r2;
  st.global.u64 [%rd2+8], %rd3;
  st.global.b16 [%rd2+16], %h1;
  ret;
})");
  auto* const in = gpu.array(std::vector<uint16_t>{0xfe80});
  auto* const out = gpu.zeros<uint32_t>(5);
  ASSERT_TRUE(gpu.launch("k", {}, Params().add(in).add(out)).complete());
  EXPECT_EQ(out[0], 0xffffff80u);
  EXPECT_EQ(out[1], 0x80u);
  EXPECT_EQ(out[2], 0xfffffe80u);
  EXPECT_EQ(out[3], 0xffffffffu);
  EXPECT_EQ(out[4], 0xfe80u);
}

/// Local memory, indexed by lane, through a generic pointer; with a vector access.
TEST(Interpreter, local_memory_is_each_threads_own) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 out) {
  .local .align 16 .b8 depot[64];
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  mov.u64 %rd1, depot;
  cvta.local.u64 %rd2, %rd1;
  mov.u32 %r2, 5;
  st.local.v4.u32 [%rd1+16], {%r1, %r2, %r1, %r2};
  and.b32 %r3, %r1, 3;
  mul.wide.u32 %rd3, %r3, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.u32 %r4, [%rd4+16];
  ld.param.u64 %rd5, [out];
  mul.wide.u32 %rd6, %r1, 4;
  add.s64 %rd7, %rd5, %rd6;
  st.global.u32 [%rd7], %r4;
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(40);
  const auto outcome = gpu.launch("k", {.block = {40, 1, 1}}, Params().add(out));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(out[i], i % 2 ? 5 : i);
  // 16 bytes at one offset: 4 lines of 4 sectors for a full warp, 4 lines of 1 sector for 8 lanes.
  EXPECT_EQ(outcome.counts.sites[0].sectors, 16u + 4);
  // The generic load found local memory: lanes 0..31 read 4 different words, 8 lanes each.
  EXPECT_EQ(outcome.counts.sites[1].requests, 0u);
  EXPECT_EQ(outcome.counts.sites[3].requests, 2u);
  EXPECT_EQ(outcome.counts.sites[3].lines, 4u + 4);
}

TEST(Interpreter, a_generic_access_may_mix_spaces) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 io) {
  .shared .align 4 .b8 s[128];
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  mov.u64 %rd1, s;
  cvta.shared.u64 %rd2, %rd1;
  ld.param.u64 %rd3, [io];
  mul.wide.u32 %rd4, %r1, 4;
  setp.lt.u32 %p1, %r1, 8;
  selp.b64 %rd5, %rd2, %rd3, %p1;
  add.s64 %rd6, %rd5, %rd4;
  st.u32 [%rd6], %r1;
  cvt.u32.u64 %r2, %rd4;
  mov.u32 %r3, s;
  add.u32 %r3, %r3, %r2;
  ld.shared.u32 %r4, [%r3];
  @%p1 st.global.u32 [%rd3+256], %r4;
  ret;
})");
  auto* const io = gpu.zeros<uint32_t>(100);
  memory::TraceListener trace(reinterpret_cast<uintptr_t>(io));
  const auto outcome = gpu.launch("k", {.block = {10, 1, 1}, .listeners = {&trace}}, Params().add(io));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  EXPECT_EQ(io[8], 8u);
  EXPECT_EQ(io[9], 9u);
  EXPECT_EQ(io[7], 0u);
  EXPECT_EQ(io[64], 7u) << "the last lane's store to one address stays";
  EXPECT_EQ(outcome.counts.sites[0], (events::SiteCounts{1, 2, 1, 1, 1, 0, 0}));
  EXPECT_EQ(outcome.counts.sites[1], (events::SiteCounts{1, 8, 0, 0, 0, 1, 1}));
  EXPECT_NE(trace.text().find("access site=0 space=global block=0 warp=0 mask=00000300 addresses=20,24\n"
                              "access site=1 space=shared block=0 warp=0 mask=000000ff addresses=400,404,"),
            std::string::npos)
      << trace.text();
}

TEST(Interpreter, atomics_return_what_lanes_before_left) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 counter, .param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %rd1, [counter];
  ld.param.u64 %rd2, [out];
  atom.global.add.u32 %r2, [%rd1], 3;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r2;
  atom.global.cas.b32 %r3, [%rd1+4], %r1, 77;
  ret;
})");
  auto* const counter = gpu.array(std::vector<uint32_t>{1, 5});
  auto* const out = gpu.zeros<uint32_t>(32);
  ASSERT_TRUE(gpu.launch("k", {.block = {32, 1, 1}}, Params().add(counter).add(out)).complete());
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 1 + 3 * i);
  EXPECT_EQ(counter[0], 1 + 3 * 32u);
  EXPECT_EQ(counter[1], 77u);
}

/// Each lane takes a lock, adds 1 without an atomic, and frees the lock: lanes of a warp and warps wait for each other.
TEST(Interpreter, a_spin_lock_is_free_of_deadlock_between_lanes_and_warps) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 lock, .param .u64 sum) {
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [lock];
  ld.param.u64 %rd2, [sum];
$spin:
  atom.global.cas.b32 %r1, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $spin;
  ld.volatile.global.u32 %r2, [%rd2];
  add.u32 %r2, %r2, 1;
  st.volatile.global.u32 [%rd2], %r2;
  membar.gl;
  atom.global.exch.b32 %r3, [%rd1], 0;
  ret;
})");
  auto* const lock = gpu.zeros<uint32_t>(1);
  auto* const sum = gpu.zeros<uint32_t>(1);
  const auto outcome =
      gpu.launch("k", {.grid = {3, 1, 1}, .block = {96, 1, 1}, .workers = 2}, Params().add(lock).add(sum));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  EXPECT_EQ(*sum, 288u);
}

/// Warp 0 waits for a flag in shared memory that warp 1 sets: only turns between the warps of the block can end it.
TEST(Interpreter, a_warp_that_spins_lets_the_others_run) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 out) {
  .shared .align 4 .u32 flag;
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra $set;
$wait:
  ld.volatile.shared.u32 %r2, [flag];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra $wait;
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r2;
  ret;
$set:
  mov.u32 %r3, 9;
  st.volatile.shared.u32 [flag], %r3;
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(1);
  ASSERT_TRUE(gpu.launch("k", {.block = {64, 1, 1}}, Params().add(out)).complete());
  EXPECT_EQ(*out, 9u);
}

TEST(Interpreter, warp_shuffle_and_vote_see_all_lanes) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  shfl.sync.bfly.b32 %r2|%p1, %r1, 1, 31, 0xffffffff;
  setp.lt.u32 %p2, %r1, 5;
  vote.sync.ballot.b32 %r3, %p2, 0xffffffff;
  add.u32 %r4, %r2, %r3;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(32);
  ASSERT_TRUE(gpu.launch("k", {.block = {32, 1, 1}}, Params().add(out)).complete());
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], (i ^ 1) + 0x1f);
}

TEST(Interpreter, barrier_reduction_counts_all_threads) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<6>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 40;
  bar.red.popc.u32 %r2, 0, %p1;
  bar.red.and.pred %p2, 0, %p1;
  bar.red.or.pred %p3, 0, !%p1;
  selp.u32 %r3, 1, 0, %p2;
  selp.u32 %r4, 1, 0, %p3;
  ld.param.u64 %rd1, [out];
  mad.wide.u32 %rd2, %r1, 16, %rd1;
  st.global.v4.u32 [%rd2], {%r2, %r3, %r4, %r1};
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(4 * 70);
  const auto outcome = gpu.launch("k", {.block = {70, 1, 1}}, Params().add(out));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  for (uint32_t i = 0; i < 70; ++i) {
    EXPECT_EQ(out[4 * i], 40u);
    EXPECT_EQ(out[4 * i + 1], 0u);
    EXPECT_EQ(out[4 * i + 2], 1u);
  }
}

TEST(Interpreter, named_barriers_pair_producers_with_consumers) {
  // Warp 0 stores, then arrives at barrier 1 without waiting; warp 1 waits there for both.
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 out) {
  .shared .align 4 .u32 box;
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 32;
  @!%p1 bra $consumer;
  st.shared.u32 [box], %r1;
  bar.arrive 1, 64;
  ret;
$consumer:
  bar.sync 1, 64;
  ld.shared.u32 %r2, [box];
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r2;
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(1);
  ASSERT_TRUE(gpu.launch("k", {.block = {64, 1, 1}}, Params().add(out)).complete());
  EXPECT_EQ(*out, 63u);
}

TEST(Interpreter, warps_that_have_ended_count_as_arrived) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 exit;
  bar.sync 0;
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r1;
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(1);
  ASSERT_TRUE(gpu.launch("k", {.block = {128, 1, 1}}, Params().add(out)).complete());
  EXPECT_EQ(*out, 31u);
}

TEST(Interpreter, indexed_branch_goes_by_the_table) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>;
  mov.u32 %r1, %tid.x;
  rem.u32 %r2, %r1, 3;
$table: .branchtargets $zero, $one, $two;
  brx.idx %r2, $table;
$zero:
  mov.u32 %r3, 100;
  bra $join;
$one:
  mov.u32 %r3, 200;
  bra $join;
$two:
  mov.u32 %r3, 300;
$join:
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(32);
  const auto outcome = gpu.launch("k", {.block = {32, 1, 1}}, Params().add(out));
  ASSERT_TRUE(outcome.complete());
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 100 * (i % 3 + 1));
  EXPECT_EQ(outcome.counts.sites[0].requests, 1u);
}

TEST(Interpreter, mathematical_functions_are_supplied) {
  PtxLauncher gpu(kPtxHead + R"(
.extern .func (.param .b32 r) __nv_sinf(.param .b32 a);
.extern .func __nv_sincosf(.param .b32 a, .param .b64 s, .param .b64 c);
.visible .entry k(.param .u64 io) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [io];
  ld.global.f32 %f1, [%rd1];
  {
  .param .b32 param0; .param .b32 retval0;
  st.param.f32 [param0], %f1;
  call.uni (retval0), __nv_sinf, (param0);
  ld.param.f32 %f2, [retval0];
  }
  st.global.f32 [%rd1+4], %f2;
  add.s64 %rd2, %rd1, 8;
  add.s64 %rd3, %rd1, 12;
  {
  .param .b32 param0; .param .b64 param1; .param .b64 param2;
  st.param.f32 [param0], %f1;
  st.param.b64 [param1], %rd2;
  st.param.b64 [param2], %rd3;
  call.uni __nv_sincosf, (param0, param1, param2);
  }
  ret;
})");
  auto* const io = gpu.array(std::vector<float>{0.5f, 0, 0, 0});
  const auto outcome = gpu.launch("k", {}, Params().add(io));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  EXPECT_FLOAT_EQ(io[1], 0.47942554f);
  EXPECT_FLOAT_EQ(io[2], 0.47942554f);
  EXPECT_FLOAT_EQ(io[3], 0.87758256f);
}

/// Two levels of calls, two calls of one function, early returns that differ by lane, a guarded call.
TEST(Interpreter, functions_of_the_module_run_in_place) {
  PtxLauncher gpu(kPtxHead + R"(
.func (.param .b32 r) half_or_triple(.param .b32 a) {
  .reg .pred %p<2>; .reg .b32 %r<4>;
  ld.param.u32 %r1, [a];
  and.b32 %r2, %r1, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra $odd;
  shr.u32 %r1, %r1, 1;
  st.param.u32 [r], %r1;
  ret;
$odd:
  mad.lo.u32 %r1, %r1, 3, 1;
  st.param.u32 [r], %r1;
  ret;
}
.func (.param .b32 r) twice(.param .b32 a) {
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [a];
  {
  .param .b32 param0; .param .b32 retval0;
  st.param.b32 [param0], %r1;
  call.uni (retval0), half_or_triple, (param0);
  ld.param.b32 %r2, [retval0];
  }
  {
  .param .b32 param0; .param .b32 retval0;
  st.param.b32 [param0], %r2;
  call.uni (retval0), half_or_triple, (param0);
  ld.param.b32 %r3, [retval0];
  }
  st.param.b32 [r], %r3;
  ret;
}
.visible .entry k(.param .u64 out) {
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  .param .b32 param0; .param .b32 retval0;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 20;
  st.param.b32 [retval0], %r1;
  st.param.b32 [param0], %r1;
  @%p1 call (retval0), twice, (param0);
  ld.param.b32 %r2, [retval0];
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r2;
  ret;
})");
  auto* const out = gpu.zeros<uint32_t>(32);
  const auto outcome = gpu.launch("k", {.block = {32, 1, 1}}, Params().add(out));
  ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
  const auto step = [](uint32_t v) { return v % 2 ? 3 * v + 1 : v / 2; };
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 20 ? step(step(i)) : i) << i;
  EXPECT_EQ(outcome.counts.sites[0].requests, 1u) << "all lanes are together again";
}

TEST(Interpreter, recursion_is_refused_when_the_kernel_is_loaded) {
  PtxLauncher gpu(kPtxHead + R"(
.func again(.param .b32 a) {
  .param .b32 param0;
  .reg .b32 %r<2>;
  ld.param.u32 %r1, [a];
  st.param.b32 [param0], %r1;
  call.uni again, (param0);
  ret;
}
.visible .entry k() {
  .param .b32 param0;
  .reg .b32 %r<2>;
  st.param.b32 [param0], %r1;
  call.uni again, (param0);
  ret;
})");
  const auto loaded = load_kernel(gpu.module(), *gpu.module().module->find_function("k"));
  ASSERT_FALSE(loaded.has_value());
  EXPECT_NE(loaded.error()[0].message.find("recursion"), std::string::npos);
}

}  // namespace
}  // namespace warplens::exec
