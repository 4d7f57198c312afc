// SPDX-License-Identifier: Apache-2.0
// The two listeners fed by hand-made events.
#include <gtest/gtest.h>

#include "base/bits.h"
#include "memory/counter_listener.h"
#include "memory/trace_listener.h"

namespace warplens::memory {
namespace {

using events::Access;
using events::Space;

struct Fixture {
  events::KernelInfo kernel;
  events::LaunchInfo launch;
  Fixture() {
    kernel.name = "k";
    kernel.sites = {{0, Space::kGlobal, Access::kLoad, 4, ""},
                    {1, Space::kShared, Access::kStore, 8, ""},
                    {2, Space::kGlobal, Access::kLoad, 4, "", true},
                    {2, Space::kShared, Access::kLoad, 4, "", true},
                    {2, Space::kLocal, Access::kLoad, 4, "", true}};
    kernel.blocks = {{0, 2}, {2, 1}};
    launch.kernel = &kernel;
    launch.grid = {2, 1, 1};
    launch.block = {64, 1, 1};
    launch.workers = 2;
  }
};

std::array<uint64_t, 32> strided(uint64_t base, uint64_t stride) {
  std::array<uint64_t, 32> a{};
  for (uint64_t l = 0; l < 32; ++l) a[l] = base + l * stride;
  return a;
}

TEST(CounterListener, adds_up_the_workers) {
  const Fixture f;
  CounterListener counter;
  counter.on_launch_begin(f.launch);
  const auto unit = strided(4096, 4), eight = strided(1024, 8), shared = strided(1024, 4);
  counter.on_access(0, {0, kFullMask, 0, 0, Space::kGlobal, &unit});
  counter.on_access(1, {0, 0xfu, 1, 0, Space::kGlobal, &unit});
  counter.on_access(1, {1, kFullMask, 1, 0, Space::kShared, &eight});
  counter.on_access(0, {3, kFullMask, 0, 0, Space::kShared, &shared});  // generic, found to be shared
  counter.on_access(0, {2, kFullMask, 0, 0, Space::kGlobal, &unit});
  counter.on_block_run(0, {0, kFullMask, 0, 0});
  counter.on_block_run(1, {0, 0xfu, 1, 0});
  counter.on_block_run(1, {1, 0x1u, 1, 0});
  counter.on_launch_end(f.launch);
  const events::LaunchCounts& c = counter.counts();
  EXPECT_EQ(c.sites[0], (events::SiteCounts{2, 36, 5, 2, 5, 0, 0}));
  EXPECT_EQ(c.sites[1], (events::SiteCounts{1, 32, 0, 0, 0, 2, 2}));
  EXPECT_EQ(c.sites[2], (events::SiteCounts{1, 32, 4, 1, 4, 0, 0}));
  EXPECT_EQ(c.sites[3], (events::SiteCounts{1, 32, 0, 0, 0, 1, 1}));
  EXPECT_EQ(c.blocks[0], (events::BlockCounts{2, 36}));
  EXPECT_EQ(c.blocks[1], (events::BlockCounts{1, 1}));
}

TEST(CounterListener, starts_anew_with_each_launch) {
  const Fixture f;
  CounterListener counter;
  for (int i = 0; i < 2; ++i) {
    counter.on_launch_begin(f.launch);
    counter.on_block_run(0, {0, 1, 0, 0});
    counter.on_launch_end(f.launch);
    EXPECT_EQ(counter.counts().blocks[0].warps, 1u);
  }
}

TEST(TraceListener, orders_by_block_and_warp_whatever_the_schedule) {
  const Fixture f;
  TraceListener trace(4096);
  trace.on_launch_begin(f.launch);
  const auto unit = strided(4096, 4);
  const auto shared = strided(1024, 8);
  trace.on_barrier(1, {2, 0, 0x3, 1, 0});
  trace.on_access(0, {1, 0x80000001u, 0, 1, Space::kShared, &shared});
  trace.on_access(0, {0, 0x7u, 0, 0, Space::kGlobal, &unit});
  trace.on_block_run(0, {1, 0x7u, 0, 0});
  EXPECT_EQ(trace.text(),
            "launch 0 kernel=k grid=2x1x1 block=64x1x1\n"
            "access site=0 space=global block=0 warp=0 mask=00000007 addresses=0,4,8\n"
            "run block_index=1 block=0 warp=0 mask=00000007\n"
            "access site=1 space=shared block=0 warp=1 mask=80000001 addresses=400,4f8\n"
            "barrier pc=2 barrier=0 block=1 warp=0 mask=00000003\n");
}

}  // namespace
}  // namespace warplens::memory
