// SPDX-License-Identifier: Apache-2.0
// The order of blocks by hand-made layouts: what runs, with which lanes. The expected orders follow docs/divergence.md
// by hand.
#include "exec/schedule.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace warplens::exec {
namespace {

using Trace = std::vector<std::pair<uint32_t, uint32_t>>;  // position, mask

SchedulePlan plan_of(uint32_t positions, std::vector<SchedulePlan::LoopRange> loops) {
  analysis::LoopForest forest;
  std::vector<bool> spins;
  for (uint32_t p = 0; p < positions; ++p) forest.layout.push_back(p);
  for (const auto& range : loops) {
    forest.loops.push_back({range.first, analysis::kNoLoop, 1, range.first, range.last, false});
    spins.push_back(range.spins);
  }
  return make_plan(forest, spins);
}

/// Runs to the end; `edges(position, visit, mask)` sends lanes on.
Trace run(const SchedulePlan& plan, uint32_t mask,
          const std::function<void(Schedule&, uint32_t position, uint32_t mask, uint32_t visit)>& edges) {
  Schedule s(plan);
  s.start(mask);
  Trace trace;
  std::map<uint32_t, uint32_t> visits;
  while (s.next() && trace.size() < 1000) {
    trace.emplace_back(s.position(), s.mask());
    edges(s, s.position(), s.mask(), visits[s.position()]++);
  }
  return trace;
}

TEST(Schedule, arms_of_a_branch_run_one_after_the_other_and_join) {
  const auto plan = plan_of(4, {});
  const Trace trace = run(plan, 0xf, [](Schedule& s, uint32_t at, uint32_t mask, uint32_t) {
    if (at == 0) {
      s.go(2, mask & 3);
      s.go(1, mask & ~3u);
    } else if (at < 3) {
      s.go(3, mask);
    }
  });
  EXPECT_EQ(trace, (Trace{{0, 0xf}, {1, 0xc}, {2, 0x3}, {3, 0xf}}));
}

TEST(Schedule, lanes_that_leave_a_loop_wait_for_the_others) {
  const auto plan = plan_of(3, {{1, 2, false}});
  const Trace trace = run(plan, 0x7, [](Schedule& s, uint32_t at, uint32_t mask, uint32_t visit) {
    if (at == 0) s.go(1, mask);
    if (at == 1) {  // one lane leaves a round, lane 0 first
      s.go(2, mask & (1u << visit));
      s.go(1, mask & ~(1u << visit));
    }
  });
  EXPECT_EQ(trace, (Trace{{0, 7}, {1, 7}, {1, 6}, {1, 4}, {2, 7}}));
}

TEST(Schedule, continue_waits_for_the_rest_of_the_body) {
  // Loop of positions 1, 2: lane 0 goes back from 1, the others first run 2.
  const auto plan = plan_of(4, {{1, 3, false}});
  const Trace trace = run(plan, 0x3, [](Schedule& s, uint32_t at, uint32_t mask, uint32_t visit) {
    if (at == 0) s.go(1, mask);
    if (at == 1 && visit == 0) {
      s.go(1, mask & 1);
      s.go(2, mask & 2);
    }
    if (at == 1 && visit == 1) s.go(2, mask);
    if (at == 2) s.go(visit == 0 ? 1 : 3, mask);
  });
  EXPECT_EQ(trace, (Trace{{0, 3}, {1, 3}, {2, 2}, {1, 3}, {2, 3}, {3, 3}}));
}

TEST(Schedule, inner_loops_end_before_outer_ones_that_end_at_the_same_block) {
  const auto plan = plan_of(4, {{1, 3, false}, {2, 3, false}});
  const Trace trace = run(plan, 0x3, [](Schedule& s, uint32_t at, uint32_t mask, uint32_t visit) {
    if (at == 0 || at == 1) s.go(at + 1, mask);
    if (at == 2 && visit == 0) {  // lane 0 stays in the inner loop, lane 1 goes round the outer one
      s.go(2, mask & 1);
      s.go(1, mask & 2);
    }
    if (at == 2 && visit == 1) s.go(1, mask);
    if (at == 2 && visit == 2) s.go(3, mask);
  });
  EXPECT_EQ(trace, (Trace{{0, 3}, {1, 3}, {2, 3}, {2, 1}, {1, 3}, {2, 3}, {3, 3}}));
}

TEST(Schedule, irreducible_entry_waits_for_its_own_block) {
  // Positions 1 and 2 form a loop that lane 1 enters at 2.
  const auto plan = plan_of(4, {{1, 3, false}});
  const Trace trace = run(plan, 0x3, [](Schedule& s, uint32_t at, uint32_t mask, uint32_t visit) {
    if (at == 0) {
      s.go(1, mask & 1);
      s.go(2, mask & 2);
    }
    if (at == 1) s.go(2, mask);
    if (at == 2) {
      s.go(3, mask & (visit == 0 ? 1 : 3));
      if (visit == 0) s.go(1, mask & 2);
    }
  });
  EXPECT_EQ(trace, (Trace{{0, 3}, {1, 1}, {2, 3}, {1, 2}, {2, 2}, {3, 3}}));
}

TEST(Schedule, ordinary_loops_have_no_budget) {
  const auto plan = plan_of(3, {{1, 2, false}});
  const Trace trace = run(plan, 0x3, [](Schedule& s, uint32_t at, uint32_t mask, uint32_t visit) {
    if (at == 0) s.go(1, mask);
    if (at == 1) {
      s.go(2, visit == 0 ? 1 : visit == 500 ? 2 : 0);
      s.go(1, visit == 500 ? 0 : 2);
    }
  });
  EXPECT_EQ(trace.size(), 1 + 501 + 1u);
  EXPECT_EQ(trace.back(), std::make_pair(2u, 3u));
}

// Lane 0 takes the lock and frees it behind the loop; lane 1 spins until then.
TEST(Schedule, a_spinning_loop_lets_the_lock_holder_run) {
  const auto plan = plan_of(3, {{1, 2, true}});
  bool locked = false;
  const Trace trace = run(plan, 0x3, [&](Schedule& s, uint32_t at, uint32_t mask, uint32_t) {
    if (at == 0) s.go(1, mask);
    if (at == 1) {
      uint32_t winner = 0;
      if (!locked) winner = mask & -mask;
      locked = true;
      s.go(2, winner);
      s.go(1, mask & ~winner);
    }
    if (at == 2) locked = false;
  });
  // 1 round that parts them, then 64 rounds of waiting before lane 0 may go on.
  ASSERT_EQ(trace.size(), 1 + 1 + 64 + 1 + 1 + 1u);
  EXPECT_EQ(trace[66], std::make_pair(2u, 1u));
  EXPECT_EQ(trace[67], std::make_pair(1u, 2u));
  EXPECT_EQ(trace[68], std::make_pair(2u, 2u));
}

TEST(Schedule, a_spinning_loop_without_waiters_goes_on_and_yields) {
  const auto plan = plan_of(3, {{1, 2, true}});
  int yields = 0;
  const Trace trace = run(plan, 0x3, [&](Schedule& s, uint32_t at, uint32_t mask, uint32_t visit) {
    yields += s.take_yield();
    if (at == 0) s.go(1, mask);
    if (at == 1) s.go(visit < 200 ? 1 : 2, mask);
  });
  EXPECT_EQ(yields, 3);
  EXPECT_EQ(trace.size(), 1 + 201 + 1u);
}

TEST(Schedule, a_warp_is_taken_over_in_the_middle) {
  const auto plan = plan_of(4, {{1, 3, false}});
  Schedule s(plan);
  const uint32_t waiting[] = {0, 8, 0, 4};  // lane 3 went back to 1, lane 2 waits behind the loop
  s.resume(2, 3, waiting);
  EXPECT_EQ(s.position(), 2u);
  EXPECT_EQ(s.mask(), 3u);
  s.go(3, 1);
  s.go(1, 2);
  ASSERT_TRUE(s.next());
  EXPECT_EQ(s.position(), 1u);
  EXPECT_EQ(s.mask(), 0xau);
  s.go(3, 0xa);
  ASSERT_TRUE(s.next());
  EXPECT_EQ(s.mask(), 0xfu);
  EXPECT_FALSE(s.next());
}

}  // namespace
}  // namespace warplens::exec
