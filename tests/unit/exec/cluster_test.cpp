// SPDX-License-Identifier: Apache-2.0
// Clusters: blocks that meet at a barrier of their own and reach into each other's shared memory. Expected values are
// worked out in plain C++.
#include <gtest/gtest.h>

#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

/// Each block stores 1000 * block + thread in its shared memory; all meet; then each thread reads what the next block
/// of the cluster has, by .shared::cluster, and adds to the next but one's word by a generic address.
const std::string kNeighbours = kPtxHead + R"(
.visible .entry neighbours(.param .u64 out) {
  .reg .b32 t, b, v, at, far, rank, size, next, back, k; .reg .b64 o, g, place; .reg .pred p;
  .shared .align 4 .b32 mine[64]; .shared .align 4 .b32 sum[64];
  mov.u32 t, %tid.x; mov.u32 rank, %cluster_ctarank; mov.u32 size, %cluster_nctarank;
  mov.u32 b, %ctaid.y; mov.u32 k, %nctaid.x; mul.lo.u32 b, b, k; mov.u32 k, %ctaid.x; add.u32 b, b, k;
  mad.lo.u32 v, b, 1000, t;
  mov.u32 at, mine; mad.lo.u32 at, t, 4, at; st.shared.u32 [at], v; st.shared.u32 [at+256], t;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  add.u32 next, rank, 1; setp.ge.u32 p, next, size; @p mov.u32 next, 0;
  mapa.shared::cluster.u32 far, at, next;
  ld.shared::cluster.u32 v, [far];
  getctarank.shared::cluster.u32 back, far;
  cvt.u64.u32 g, at; cvta.shared.u64 g, g; add.u64 g, g, 256;
  add.u32 next, next, 1; setp.ge.u32 p, next, size; @p mov.u32 next, 0;
  mapa.u64 g, g, next;
  atom.add.u32 k, [g], back;
  barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
  ld.shared.u32 k, [at+256];
  ld.param.u64 o, [out];
  mov.u32 next, %ntid.x; mad.lo.u32 b, b, next, t; mul.wide.u32 place, b, 8; add.u64 o, o, place;
  st.global.v2.u32 [o], {v, k};
  ret;
})";

class Clusters : public testing::TestWithParam<const char*> {
 protected:
  std::unique_ptr<Executor> executor() const {
    return std::string(GetParam()) == "jit" ? make_jit({}) : make_interpreter();
  }
};

TEST_P(Clusters, blocks_read_and_update_shared_memory_of_others) {
  for (const events::Dim3 cluster : {events::Dim3{4, 1, 1}, events::Dim3{2, 2, 1}, events::Dim3{1, 1, 1}}) {
    PtxLauncher gpu(kNeighbours);
    const auto runs = executor();
    constexpr uint32_t kThreads = 40, kGridX = 4, kGridY = 4;
    auto* out = gpu.zeros<uint32_t>(kGridX * kGridY * kThreads * 2);
    const auto outcome = gpu.launch(
        "neighbours", {.grid = {kGridX, kGridY, 1}, .block = {kThreads, 1, 1}, .cluster = cluster, .workers = 2},
        Params().add(out), runs.get());
    ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
    const uint32_t size = cluster.x * cluster.y;
    for (uint32_t y = 0; y < kGridY; ++y)
      for (uint32_t x = 0; x < kGridX; ++x)
        for (uint32_t t = 0; t < kThreads; ++t) {
          const uint32_t rank = y % cluster.y * cluster.x + x % cluster.x, next = (rank + 1) % size;
          const uint32_t next_x = x / cluster.x * cluster.x + next % cluster.x,
                         next_y = y / cluster.y * cluster.y + next / cluster.x;
          const uint32_t* words = out + ((y * kGridX + x) * kThreads + t) * 2;
          ASSERT_EQ(words[0], 1000 * (next_y * kGridX + next_x) + t);
          // The block two before it in the ring added the rank of the one before it.
          ASSERT_EQ(words[1], t + (rank + size - 1) % size);
        }
  }
}

TEST_P(Clusters, an_address_beyond_the_other_blocks_memory_is_found) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k() {
  .reg .b32 at, v; .shared .b32 mine[4];
  mov.u32 at, mine; mapa.shared::cluster.u32 at, at, 1; ld.shared::cluster.u32 v, [at+16];
  barrier.cluster.arrive; barrier.cluster.wait; ret;
})");
  const auto outcome =
      gpu.launch("k", {.grid = {2, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}}, {}, executor().get());
  ASSERT_FALSE(outcome.complete());
  EXPECT_EQ(outcome.findings[0].kind, events::FindingKind::kOutOfBounds);
}

TEST_P(Clusters, a_block_that_the_cluster_does_not_have_is_found) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k() {
  .reg .b32 at, v; .shared .b32 mine[4];
  mov.u32 at, mine; mapa.shared::cluster.u32 at, at, 2; ld.shared::cluster.u32 v, [at]; ret;
})");
  const auto outcome =
      gpu.launch("k", {.grid = {2, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}}, {}, executor().get());
  ASSERT_FALSE(outcome.complete());
  EXPECT_NE(outcome.findings[0].message.find("block 2 of a cluster of 2"), std::string::npos)
      << outcome.findings[0].message;
}

TEST_P(Clusters, a_misaligned_address_of_a_block_that_the_cluster_does_not_have_is_found) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k() { .reg .b32 v; ld.shared::cluster.u32 v, [0xFF000402]; ret; })");
  const auto outcome =
      gpu.launch("k", {.grid = {2, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}}, {}, executor().get());
  ASSERT_FALSE(outcome.complete());
  EXPECT_EQ(outcome.findings[0].kind, events::FindingKind::kMisaligned);
}

// The second barrier opens when all of block 0 has ended: ended blocks count as arrived. An H200 ends such a launch
// with error 719 (gallery/claims/13_early_exit.cu).
TEST_P(Clusters, shared_memory_of_a_block_that_has_ended_is_gone) {
  for (const std::string address : {"mapa.shared::cluster.u32 at, at, 0; ld.shared::cluster.u32 v, [at];",
                                    "cvt.u64.u32 g, at; cvta.shared.u64 g, g; mapa.u64 g, g, 0; ld.u32 v, [g];"}) {
    PtxLauncher gpu(kPtxHead + R"(
.visible .entry k() {
  .reg .b32 at, v, rank; .reg .b64 g; .reg .pred p; .shared .b32 mine[4];
  mov.u32 at, mine; mov.u32 rank, %cluster_ctarank; setp.eq.u32 p, rank, 0;
  barrier.cluster.arrive; barrier.cluster.wait;
  @p ret;
  barrier.cluster.arrive; barrier.cluster.wait;
  )" + address + " ret; }");
    const auto outcome =
        gpu.launch("k", {.grid = {2, 1, 1}, .block = {64, 1, 1}, .cluster = {2, 1, 1}}, {}, executor().get());
    ASSERT_FALSE(outcome.complete()) << address;
    EXPECT_EQ(outcome.findings[0].kind, events::FindingKind::kOutOfBounds);
    EXPECT_NE(outcome.findings[0].message.find("block 0 of the cluster, which has ended"), std::string::npos)
        << outcome.findings[0].message;
  }
}

// 32 words side by side are 4 sectors, of another block's memory; of the own they are one pass.
TEST_P(Clusters, generic_loads_and_stores_of_another_block_count_sectors) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u32 other_block) {
  .reg .b32 at, t, other; .reg .b64 g; .shared .align 128 .b32 mine[64];
  mov.u32 t, %tid.x; ld.param.u32 other, [other_block];
  mov.u32 at, mine; mad.lo.u32 at, t, 4, at; cvt.u64.u32 g, at; cvta.shared.u64 g, g;
  mov.u32 t, %cluster_ctarank; xor.b32 t, t, other; mapa.u64 g, g, t;
  ld.u32 t, [g]; st.u32 [g+128], t;
  barrier.cluster.arrive; barrier.cluster.wait; ret;
})");
  for (const uint32_t other : {0U, 1U}) {
    const auto outcome = gpu.launch("k", {.grid = {2, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}},
                                    Params().add(other), executor().get());
    ASSERT_TRUE(outcome.complete()) << outcome.findings[0].message;
    for (const events::Access access : {events::Access::kLoad, events::Access::kStore}) {
      events::SiteCounts all;
      const auto& sites = gpu.kernel("k")->info.sites;
      for (size_t s = 0; s < sites.size(); ++s)
        if (sites[s].access == access && sites[s].generic) all += outcome.counts.sites[s];
      EXPECT_EQ(all.requests, 2U);
      EXPECT_EQ(all.sectors, other == 1 ? 8U : 0U);
      EXPECT_EQ(all.wavefronts, other == 1 ? 0U : 2U);
    }
  }
}

/// Blocks that end without arriving count as arrived; one that waits for a block that waits elsewhere is a deadlock.
TEST_P(Clusters, blocks_that_have_ended_are_not_waited_for) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 b; .reg .b64 o; .reg .pred p;
  mov.u32 b, %ctaid.x; setp.ne.u32 p, b, 0; @p ret;
  barrier.cluster.arrive; barrier.cluster.wait;
  ld.param.u64 o, [out]; st.global.u32 [o], 7; ret;
})");
  auto* out = gpu.zeros<uint32_t>(1);
  const auto outcome = gpu.launch("k", {.grid = {2, 1, 1}, .block = {64, 1, 1}, .cluster = {2, 1, 1}},
                                  Params().add(out), executor().get());
  EXPECT_TRUE(outcome.complete());
  EXPECT_EQ(out[0], 7u);
}

TEST_P(Clusters, waiting_for_a_block_that_waits_elsewhere_is_a_deadlock) {
  PtxLauncher gpu(kPtxHead + R"(
.visible .entry k() {
  .reg .b32 b, t; .reg .pred p, q;
  mov.u32 b, %ctaid.x; mov.u32 t, %tid.x; setp.ne.u32 p, b, 0; @p bra other;
  barrier.cluster.arrive; barrier.cluster.wait; ret;
other:
  setp.ge.u32 q, t, 32; @q bra never;
  bar.sync 1, 96;
never:
  barrier.cluster.arrive; barrier.cluster.wait; ret;
})");
  const auto outcome =
      gpu.launch("k", {.grid = {2, 1, 1}, .block = {64, 1, 1}, .cluster = {2, 1, 1}}, {}, executor().get());
  ASSERT_FALSE(outcome.complete());
  EXPECT_EQ(outcome.findings[0].kind, events::FindingKind::kDeadlock);
}

TEST_P(Clusters, a_grid_that_is_no_multiple_of_its_clusters_is_refused) {
  PtxLauncher gpu(kPtxHead + ".visible .entry k() { ret; }");
  const auto outcome =
      gpu.launch("k", {.grid = {3, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}}, {}, executor().get());
  ASSERT_FALSE(outcome.complete());
  EXPECT_EQ(outcome.findings[0].kind, events::FindingKind::kUnsupported);
}

INSTANTIATE_TEST_SUITE_P(Executor, Clusters, testing::Values("interpreter", "jit"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace warplens::exec
