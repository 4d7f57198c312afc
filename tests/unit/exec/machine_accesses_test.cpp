// SPDX-License-Identifier: Apache-2.0
// Which accesses atomics and joined loads and stores become (src/machine), and that both executors, and the oracle
// behind events, count them alike. What is expected was measured on an H200 (truth/h200/warps_uniform.csv,
// warps_shared_atomics.csv).
#include "memory/counter_listener.h"
#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using events::Access;
using events::Form;
using events::SiteCounts;
using test::Params;
using test::PtxLauncher;

/// A kernel of one warp; %r1 is the lane, %rd1 global memory of the same place for all, %rd2 of the lane's own.
std::string kernel_text(const std::string& body) {
  return R"(.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {
  .shared .align 16 .b8 s[1024];
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg .pred %p<3>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r3, [n];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd2, %rd1, %rd3;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r4, s;
  add.u32 %r2, %r2, %r4;
  mov.f32 %f1, 0f3F800000;
)" + body +
         "  ret;\n}\n";
}

struct Counted {
  std::vector<events::AccessSite> sites;
  std::vector<SiteCounts> counts;
};

/// By both executors and by the oracle; all must agree.
Counted run(const std::string& body, uint32_t threads = 32, Level level = Level::kMachine) {
  PtxLauncher gpu(kernel_text(body), level);
  auto* memory = gpu.zeros<uint32_t>(1024);
  const auto interpreter = make_interpreter(), jit = make_jit({});
  Counted out;
  for (Executor* executor : {interpreter.get(), jit.get()}) {
    const auto outcome = gpu.launch("k", {.block = {threads, 1, 1}}, Params().add(memory).add(uint32_t{3}), executor);
    EXPECT_TRUE(outcome.complete());
    if (executor == interpreter.get())
      out.counts = outcome.counts.sites;
    else
      EXPECT_EQ(out.counts, outcome.counts.sites) << body;
  }
  out.sites = gpu.kernel("k")->info.sites;
  return out;
}

TEST(AtomicForms, a_result_that_nothing_reads_is_a_reduction) {
  const Counted r = run(R"(
  atom.global.add.u32 %r5, [%rd2], %r1;
  atom.global.add.u32 %r6, [%rd2], %r1;
  st.global.u32 [%rd2], %r6;
  atom.global.exch.b32 %r7, [%rd2], %r1;
)");
  EXPECT_EQ(r.sites[0].access, Access::kReduction);
  EXPECT_EQ(r.sites[1].access, Access::kAtomic);
  EXPECT_EQ(r.sites[3].access, Access::kAtomic);  // there is no reduction that exchanges
  EXPECT_EQ(r.counts[0], (SiteCounts{1, 32, 4, 1, 4, 0, 0, 0}));
}

TEST(AtomicForms, lanes_of_one_place_combine_integers) {
  const Counted r = run(R"(
  red.global.add.u32 [%rd1], 1;
  red.global.max.s32 [%rd1], %r1;
  red.global.add.f32 [%rd1], %f1;
  red.global.inc.u32 [%rd1], %r3;
  atom.global.add.u32 %r5, [%rd1], %r3;
  atom.global.or.b32 %r6, [%rd1], %r3;
  add.u32 %r5, %r5, %r6;
  st.global.u32 [%rd2], %r5;
)");
  const SiteCounts one{1, 1, 1, 1, 1, 0, 0, 0}, all{1, 32, 32, 1, 1, 0, 0, 31};
  EXPECT_EQ(r.counts[0], one);
  EXPECT_EQ(r.counts[1], one);
  EXPECT_EQ(r.counts[2], all);
  EXPECT_EQ(r.counts[3], all);
  EXPECT_EQ(r.counts[4], one);
  EXPECT_EQ(r.counts[5], all);
}

TEST(AtomicForms, full_warps_combine_unequal_sums_whose_result_is_read) {
  const std::string body = "  atom.global.add.u32 %r5, [%rd1], %r1;\n  st.global.u32 [%rd2], %r5;\n";
  EXPECT_EQ(run(body).counts[0].sectors, 1u);
  EXPECT_EQ(run(body, 31).counts[0].sectors, 31u);
}

TEST(AtomicForms, a_place_by_the_warps_number_is_not_seen_to_be_one) {
  const Counted r = run(R"(
  shr.u32 %r5, %r1, 5;
  mul.wide.u32 %rd4, %r5, 4;
  add.u64 %rd5, %rd1, %rd4;
  red.global.add.u32 [%rd5], 1;
  ld.global.u32 %r6, [%rd1];
  mul.wide.u32 %rd6, %r6, 0;
  add.u64 %rd7, %rd1, %rd6;
  red.global.add.u32 [%rd7], 1;
)");
  EXPECT_EQ(r.counts[0].sectors, 32u);
  EXPECT_EQ(r.counts[2].sectors, 1u);  // a load from one place is
}

TEST(AtomicForms, of_a_partial_warp_one_lane_counts) {
  const Counted r = run("  red.global.add.u32 [%rd1], 1;\n", 7);
  EXPECT_EQ(r.counts[0], (SiteCounts{1, 1, 1, 1, 1, 0, 0, 0}));
}

TEST(AtomicForms, shared_increments_serve_a_word_in_one_pass) {
  const Counted r = run(R"(
  and.b32 %r5, %r2, 0xfffffff0;
  atom.shared.add.u32 %r6, [%r5], 1;
  atom.shared.add.u32 %r6, [%r5], 2;
  atom.shared.add.u32 %r6, [%r5], 1;
  st.shared.u32 [%r2], %r6;
)");
  EXPECT_EQ(r.sites[0].form, Form::kIncrement);
  EXPECT_EQ(r.counts[0].wavefronts, 1u);
  EXPECT_EQ(r.counts[1].wavefronts, 4u);
  EXPECT_EQ(r.counts[2].wavefronts, 4u);  // its result is read
}

TEST(AtomicForms, compare_and_swap_takes_each_pass_twice) {
  const Counted r = run("  atom.shared.cas.b32 %r6, [%r4], %r1, %r3;\n");
  EXPECT_EQ(r.counts[0], (SiteCounts{1, 32, 0, 0, 0, 64, 2, 0}));
}

TEST(AtomicForms, shared_float_sums_are_a_loop_of_loads_and_swaps) {
  const Counted r = run("  red.shared.add.f32 [%r4], %f1;\n");
  ASSERT_EQ(r.sites.size(), 2u);
  EXPECT_EQ(r.sites[0].form, Form::kRetried);
  EXPECT_EQ(r.sites[1].form, Form::kRetryLoads);
  EXPECT_EQ(r.sites[1].access, Access::kLoad);
  EXPECT_EQ(r.counts[0], (SiteCounts{32, 528, 0, 0, 0, 64, 64, 0}));
  EXPECT_EQ(r.counts[1], (SiteCounts{32, 528, 0, 0, 0, 32, 32, 0}));
}

/// Places that two or three lanes share, of both halves of the warp; every fifth lane adds 0.
TEST(AtomicForms, loops_at_places_of_several_lanes_count_alike) {
  const std::string begin = R"(
  .reg .f64 %d<2>; .reg .b64 %v<2>; .reg .b16 %h<2>;
  rem.u32 %r5, %r1, 5;
  cvt.u64.u32 %v1, %r5;
  cvt.rn.f32.u32 %f1, %r5;
  cvt.rn.f64.u32 %d1, %r5;
  cvt.rn.f16.u32 %h1, %r5;
  mov.b32 %r7, {%h1, %h1};
  mul.lo.u32 %r6, %r1, 7;
  rem.u32 %r6, %r6, 12;
  mad.lo.u32 %r6, %r6, 8, %r4;
)";
  // Wide sums depend on values: the lanes that add 0 make no other try again.
  const std::pair<const char*, SiteCounts> kLoops[] = {
      {"add.f32 [%r6], %f1", {3, 60, 0, 0, 0, 6, 6}},       {"add.noftz.f16x2 [%r6], %r7", {3, 60, 0, 0, 0, 6, 6}},
      {"add.noftz.f16 [%r6], %h1", {3, 60, 0, 0, 0, 6, 6}}, {"add.f64 [%r6], %d1", {3, 54, 0, 0, 0, 10, 10}},
      {"add.u64 [%r6], %v1", {3, 54, 0, 0, 0, 10, 10}},     {"max.u64 [%r6], %v1", {2, 32, 0, 0, 0, 8, 6}},
      {"xor.b64 [%r6], %v1", {3, 54, 0, 0, 0, 10, 10}},
  };
  for (const auto& [loop, swaps] : kLoops) {
    const Counted r = run(begin + "  red.shared." + loop + ";\n");
    EXPECT_EQ(r.sites[0].form, Form::kRetried) << loop;
    EXPECT_EQ(r.counts[0], swaps) << loop;
  }
}

TEST(AtomicForms, shared_64_bit_sums_of_equal_values_are_one_lanes_loop) {
  const Counted r = run("  cvt.u64.u32 %rd6, %r3;\n  red.shared.add.u64 [s], %rd6;\n");
  EXPECT_EQ(r.counts[0], (SiteCounts{1, 1, 0, 0, 0, 2, 2, 0}));
  EXPECT_EQ(r.counts[1], (SiteCounts{1, 1, 0, 0, 0, 1, 1, 0}));
}

/// Lanes 0 to 15 in shared memory, the others in global memory; then all in global memory. (truth/h200/warps_mixed.csv)
TEST(AtomicForms, by_generic_address_lanes_pass_through_shared_memory_wherever_they_go) {
  const Counted r = run(R"(
  cvt.u64.u32 %rd4, %r2;
  cvta.shared.u64 %rd5, %rd4;
  setp.lt.u32 %p1, %r1, 16;
  selp.b64 %rd6, %rd5, %rd2, %p1;
  atom.add.u32 %r5, [%rd6], %r1;
  atom.add.f32 %f2, [%rd6], %f1;
  atom.cas.b32 %r6, [%rd2], %r1, %r3;
  st.global.u32 [%rd2], %r5;
  st.global.f32 [%rd2], %f2;
)");
  EXPECT_EQ(r.counts[0], (SiteCounts{1, 16, 2, 1, 2}));
  EXPECT_EQ(r.counts[1], (SiteCounts{1, 16, 0, 0, 0, 1, 1}));
  // Tried once, then a loop: its sites are those of global, shared and local memory, and the loop's loads.
  EXPECT_EQ(r.counts[3], (SiteCounts{1, 16, 2, 1, 2}));
  EXPECT_EQ(r.counts[4], (SiteCounts{2, 32, 0, 0, 0, 3, 3, 0, 1}));
  EXPECT_EQ(r.sites[6].form, Form::kRetryLoads);
  EXPECT_EQ(r.counts[6], (SiteCounts{1, 16, 0, 0, 0, 1, 1}));
  EXPECT_EQ(r.counts[7], (SiteCounts{1, 32, 4, 1, 4, 2, 2, 0, 2}));
  EXPECT_EQ(r.counts[8], SiteCounts{});
}

/// 64 bits, all lanes at one place. (truth/h200/warps_wide.csv)
TEST(AtomicForms, loops_end_where_memory_need_not_change) {
  const Counted r = run(R"(
  cvt.u64.u32 %rd6, %r1;
  mov.u64 %rd5, 31;
  sub.u64 %rd5, %rd5, %rd6;
  red.shared.max.u64 [s], %rd5;
  red.shared.max.u64 [s], %rd5;
  red.shared.or.b64 [s], %rd5;
)");
  // Lane 31 has nothing to change; lane 0 writes 31, so that the second half's first fails; then all find that it
  // suffices.
  EXPECT_EQ(r.counts[0], (SiteCounts{1, 31, 0, 0, 0, 4, 4}));
  EXPECT_EQ(r.counts[1], (SiteCounts{2, 62, 0, 0, 0, 2, 2}));
  EXPECT_EQ(r.counts[2], SiteCounts{});
  EXPECT_EQ(r.counts[3], (SiteCounts{1, 32, 0, 0, 0, 1, 1}));
  // With 31 there already no swap changes anything: one of each half succeeds in every round.
  EXPECT_EQ(r.counts[4].requests, 16u);
  EXPECT_EQ(r.counts[4].wavefronts, 64u);
  EXPECT_EQ(r.counts[5].wavefronts, 16u);
  EXPECT_FALSE(r.sites[0].estimate);
}

TEST(AtomicForms, narrow_compare_and_swap_loads_its_word_first) {
  const Counted r = run("  .reg .b16 %h<3>;\n  cvt.u16.u32 %h1, %r1;\n  atom.shared.cas.b16 %h2, [%r2], %h1, %h1;\n");
  EXPECT_EQ(r.counts[0], (SiteCounts{1, 32, 0, 0, 0, 2, 2}));
  EXPECT_EQ(r.counts[1], (SiteCounts{1, 32, 0, 0, 0, 1, 1}));
  EXPECT_TRUE(r.sites[0].estimate && r.sites[1].estimate);
}

/// One address, one for two lanes, and 16 bytes a lane. (truth/h200/warps_constant.csv)
TEST(ConstantLoads, take_a_pass_for_each_address) {
  PtxLauncher gpu(R"(.version 8.5
.target sm_90
.address_size 64
.const .align 16 .b8 table[1024];
.visible .entry k(.param .u32 n) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u32 %r3, [n];
  mov.u32 %r1, %tid.x;
  mov.u64 %rd1, table;
  ld.const.u32 %r4, [table+4];
  shr.u32 %r5, %r1, 1;
  mul.wide.u32 %rd2, %r5, 8;
  add.u64 %rd2, %rd2, %rd1;
  ld.const.v2.u32 {%r4, %r5}, [%rd2];
  mul.wide.u32 %rd3, %r1, 16;
  add.u64 %rd3, %rd3, %rd1;
  ld.const.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];
  mul.lo.u32 %r5, %r1, %r3;
  mul.wide.u32 %rd4, %r5, 4;
  add.u64 %rd4, %rd4, %rd1;
  ld.const.u32 %r4, [%rd4];
  ret;
}
)");
  const auto interpreter = make_interpreter(), jit = make_jit({});
  for (const uint32_t threads : {32u, 9u})
    for (Executor* executor : {interpreter.get(), jit.get()}) {
      const auto outcome = gpu.launch("k", {.block = {threads, 1, 1}}, Params().add(uint32_t{3}), executor);
      ASSERT_TRUE(outcome.complete());
      const auto& counts = outcome.counts.sites;
      EXPECT_EQ(counts[0], (SiteCounts{1, threads, 0, 0, 0, 1, 1}));
      EXPECT_EQ(counts[1], (SiteCounts{1, threads, 0, 0, 0, (threads + 1) / 2, 1}));
      EXPECT_EQ(counts[2], (SiteCounts{1, threads, 0, 0, 0, 4 * threads, 4}));
      EXPECT_EQ(counts[3], (SiteCounts{1, threads, 0, 0, 0, threads, 1}));
    }
  const auto& sites = gpu.kernel("k")->info.sites;
  EXPECT_TRUE(sites[0].estimate);  // most likely an operand of another instruction
  EXPECT_FALSE(sites[1].estimate);
}

TEST(JoinedLoads, count_as_one_wide_load) {
  const std::string body = R"(
  shl.b32 %r5, %r1, 4;
  add.u32 %r5, %r5, %r4;
  ld.shared.u32 %r6, [%r5];
  ld.shared.u32 %r7, [%r5+4];
  add.u32 %r6, %r6, %r7;
  ld.shared.u32 %r7, [%r5+8];
  add.u32 %r6, %r6, %r7;
  ld.shared.u32 %r7, [%r5+12];
  add.u32 %r6, %r6, %r7;
  st.global.u32 [%rd2], %r6;
)";
  const Counted r = run(body);
  EXPECT_EQ(r.counts[0], (SiteCounts{1, 32, 0, 0, 0, 4, 4, 0}));
  for (size_t s : {1, 2, 3}) EXPECT_EQ(r.counts[s], SiteCounts{});
  EXPECT_EQ(run(body, 9).counts[0], (SiteCounts{1, 9, 0, 0, 0, 2, 2, 0}));
  EXPECT_EQ(run(body, 32, Level::kPtx).counts[1], (SiteCounts{1, 32, 0, 0, 0, 4, 1, 0}));
}

TEST(JoinedStores, count_as_one_wide_store) {
  const std::string body = R"(
  shl.b32 %r5, %r1, 4;
  add.u32 %r5, %r5, %r4;
  st.shared.u32 [%r5+4], %r1;
  st.shared.u32 [%r5], %r1;
  st.shared.v2.u32 [%r5+8], {%r1, %r2};
  ld.shared.u32 %r6, [%r5+12];
  st.global.u32 [%rd2], %r6;
)";
  const Counted r = run(body);
  EXPECT_EQ(r.counts[1], (SiteCounts{1, 32, 0, 0, 0, 4, 4, 0}));
  for (size_t s : {0, 2}) EXPECT_EQ(r.counts[s], SiteCounts{});
  EXPECT_EQ(run(body, 9).counts[1], (SiteCounts{1, 9, 0, 0, 0, 2, 2, 0}));
  EXPECT_EQ(run(body, 32, Level::kPtx).counts[0], (SiteCounts{1, 32, 0, 0, 0, 4, 1, 0}));
}

TEST(JoinedStores, to_variables_by_name) {
  const std::string body = R"(
  st.shared.u32 [s], %r1;
  st.shared.u32 [s+4], %r1;
  bar.sync 0;
  ld.shared.u32 %r6, [s];
  ld.shared.u32 %r7, [s+4];
  add.u32 %r6, %r6, %r7;
  st.global.u32 [%rd2], %r6;
)";
  const Counted one = run(body, 1);
  EXPECT_EQ(one.counts[0], (SiteCounts{1, 1, 0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(one.counts[2], (SiteCounts{1, 1, 0, 0, 0, 1, 1, 0}));
  // All to one place: a wide load does it at once, a wide store takes a pass for each half of the warp.
  const Counted all = run(body);
  EXPECT_EQ(all.counts[0].wavefronts, 2u);
  EXPECT_EQ(all.counts[2].wavefronts, 1u);
  for (size_t s : {1, 3}) EXPECT_EQ(all.counts[s], SiteCounts{});
}

TEST(AtomicForms, as_the_ptx_stands_nothing_is_combined) {
  const Counted r = run("  atom.global.add.u32 %r5, [%rd1], 1;\n  red.shared.add.f32 [%r2], %f1;\n", 32, Level::kPtx);
  ASSERT_EQ(r.sites.size(), 2u);
  EXPECT_EQ(r.sites[0].access, Access::kAtomic);
  EXPECT_EQ(r.counts[0].sectors, 32u);
  EXPECT_EQ(r.counts[1].wavefronts, 1u);
}

TEST(AtomicForms, the_oracle_behind_events_agrees) {
  PtxLauncher gpu(kernel_text("  red.shared.add.f32 [%r4], %f1;\n  red.global.add.u32 [%rd1], 1;\n"));
  auto* memory = gpu.zeros<uint32_t>(1024);
  const auto jit = make_jit({});
  const auto interpreter = make_interpreter();
  std::vector<SiteCounts> counts[2];
  for (Executor* executor : {interpreter.get(), jit.get()}) {
    memory::CounterListener listener;
    gpu.launch("k", {.block = {32, 1, 1}, .listeners = {&listener}}, Params().add(memory).add(uint32_t{3}), executor);
    counts[executor == jit.get()] = listener.counts().sites;
  }
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_EQ(counts[0][0].wavefronts, 64u);
  EXPECT_EQ(counts[0][1].wavefronts, 32u);
  EXPECT_EQ(counts[0][2].sectors, 1u);
}

}  // namespace
}  // namespace warplens::exec
