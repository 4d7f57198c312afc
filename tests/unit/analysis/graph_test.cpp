// SPDX-License-Identifier: Apache-2.0
// Dominance, loops and liveness on known shapes, and against their definitions, tried by brute force, on random graphs.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/dominance.h"
#include "analysis/liveness.h"
#include "analysis/loops.h"
#include "support/graph_program.h"

namespace warplens::analysis {
namespace {

using ir::BlockId;
using test::Edges;

/// Blocks that can be reached from `from` without entering `avoid`; `exit` stands for leaving the function.
std::vector<bool> reach(const ir::Kernel& k, BlockId from, BlockId avoid) {
  std::vector<bool> seen(k.blocks.size() + 1);
  std::vector<BlockId> work;
  const auto visit = [&](BlockId b) {
    if (b == avoid || seen[b]) return;
    seen[b] = true;
    if (b < k.blocks.size()) work.push_back(b);
  };
  visit(from);
  while (!work.empty()) {
    const BlockId b = work.back();
    work.pop_back();
    for (const BlockId s : k.blocks[b].successors) visit(s);
    if (k.blocks[b].exits) visit(static_cast<BlockId>(k.blocks.size()));
  }
  return seen;
}

class RandomGraph : public testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override {
    module_ = test::kernel_of(test::text_of(test::random_edges(GetParam(), 3 + GetParam() % 14)));
    ASSERT_EQ(module_.functions.size(), 1u);
    kernel_ = ir::build(module_.functions[0]);
  }
  ptx::Module module_;
  ir::Kernel kernel_;
};

TEST_P(RandomGraph, dominators_are_those_that_cut_all_paths) {
  const DominatorTree t = dominators(kernel_);
  for (BlockId a = 0; a < kernel_.blocks.size(); ++a) {
    const std::vector<bool> without = reach(kernel_, 0, a);
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) EXPECT_EQ(t.dominates(a, b), !without[b]) << a << " " << b;
  }
}

TEST_P(RandomGraph, post_dominators_cut_all_ways_out) {
  const DominatorTree t = post_dominators(kernel_);
  const auto exit = static_cast<BlockId>(kernel_.blocks.size());
  EXPECT_EQ(t.root, exit);
  bool all_leave = true;
  for (BlockId b = 0; b < exit; ++b) all_leave &= reach(kernel_, b, ir::kNoBlock)[exit];
  for (BlockId b = 0; b < exit; ++b) {
    ASSERT_NE(t.parent[b], ir::kNoBlock);
    EXPECT_TRUE(t.dominates(exit, b));
    if (!all_leave) continue;  // with endless loops the definition depends on where the virtual edge is put
    for (BlockId a = 0; a < exit; ++a) EXPECT_EQ(t.dominates(a, b), !reach(kernel_, b, a)[exit]) << a << " " << b;
  }
}

TEST_P(RandomGraph, layout_is_topological_but_for_edges_to_headers) {
  const LoopForest f = find_loops(kernel_);
  std::vector<BlockId> sorted = f.layout;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(sorted.size(), kernel_.blocks.size());
  for (BlockId b = 0; b < sorted.size(); ++b) EXPECT_EQ(sorted[b], b);
  for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
    for (const BlockId s : kernel_.blocks[b].successors) {
      if (!f.is_back_edge(b, s)) continue;
      bool to_header = false;
      for (uint32_t l = f.loop_of[b]; l != kNoLoop; l = f.loops[l].parent) to_header |= f.loops[l].header == s;
      EXPECT_TRUE(to_header) << b << " -> " << s;
    }
  }
}

TEST_P(RandomGraph, outermost_loops_are_the_strongly_connected_components) {
  const LoopForest f = find_loops(kernel_);
  const auto outermost = [&](BlockId b) {
    uint32_t l = f.loop_of[b];
    while (l != kNoLoop && f.loops[l].parent != kNoLoop) l = f.loops[l].parent;
    return l;
  };
  for (BlockId a = 0; a < kernel_.blocks.size(); ++a) {
    bool cycle = false;
    for (const BlockId s : kernel_.blocks[a].successors) cycle |= reach(kernel_, s, ir::kNoBlock)[a];
    EXPECT_EQ(f.loop_of[a] != kNoLoop, cycle) << a;
    for (BlockId b = 0; b < kernel_.blocks.size(); ++b) {
      if (a == b) continue;
      const bool together = reach(kernel_, a, ir::kNoBlock)[b] && reach(kernel_, b, ir::kNoBlock)[a];
      EXPECT_EQ(cycle && outermost(a) == outermost(b), together) << a << " " << b;
    }
  }
}

TEST_P(RandomGraph, loops_nest_and_are_contiguous) {
  const LoopForest f = find_loops(kernel_);
  for (uint32_t l = 0; l < f.loops.size(); ++l) {
    const Loop& loop = f.loops[l];
    ASSERT_LT(loop.first, loop.last);
    EXPECT_EQ(f.layout[loop.first], loop.header);
    if (loop.parent != kNoLoop) {
      EXPECT_LT(loop.parent, l);
      EXPECT_GT(loop.first, f.loops[loop.parent].first);  // the header of the parent stands before
      EXPECT_LE(loop.last, f.loops[loop.parent].last);
      EXPECT_EQ(loop.depth, f.loops[loop.parent].depth + 1);
    }
    bool second_entry = false;
    for (uint32_t i = loop.first; i < loop.last; ++i)
      for (const BlockId p : kernel_.blocks[f.layout[i]].predecessors)
        second_entry |= f.layout[i] != loop.header && !f.contains(l, p);
    EXPECT_EQ(loop.irreducible, second_entry);
    for (uint32_t i = loop.first; i < loop.last; ++i) {
      uint32_t in = f.loop_of[f.layout[i]];
      while (in != l && in != kNoLoop) in = f.loops[in].parent;
      EXPECT_EQ(in, l);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraph, testing::Range(0u, 200u));

TEST(Loops, nested_while_loops_keep_their_order) {
  // 0 -> 1 (outer head) -> 2 (inner head) -> 3 -> 2; 2 -> 4 -> 1; 1 -> 5
  const ptx::Module m = test::kernel_of(test::text_of(Edges{{1}, {5, 2}, {4, 3}, {2}, {1}, {}}));
  const ir::Kernel k = ir::build(m.functions[0]);
  const LoopForest f = find_loops(k);
  ASSERT_EQ(f.loops.size(), 2u);
  EXPECT_EQ(f.loops[1].parent, 0u);
  EXPECT_FALSE(f.loops[0].irreducible);
  EXPECT_EQ(k.blocks[f.layout.back()].exits, true);
}

TEST(Loops, thousands_of_nested_loops_need_no_deep_stack) {
  // Block i may go back to every outer head through one chain: head i -> head i+1; tail n-1-i -> head i or the next
  // tail.
  constexpr uint32_t n = 2000;
  Edges edges(2 * n + 1);
  for (uint32_t i = 0; i < n; ++i) {
    edges[i] = {i + 1};
    edges[n + i] = {n - 1 - i, n + i + 1};
  }
  const ptx::Module m = test::kernel_of(test::text_of(edges));
  const LoopForest f = find_loops(ir::build(m.functions[0]));
  EXPECT_EQ(f.loops.size(), n);
  EXPECT_EQ(f.loops.back().depth, n);
}

TEST(Liveness, value_lives_from_definition_to_last_use_around_loops) {
  const ptx::Module m = test::kernel_of(
      "mov.u32 %r1, 0; mov.u32 %r2, 5; mov.u32 %r7, 1; "
      "HEAD: add.u32 %r1, %r1, %r2; @%p1 mov.u32 %r3, %r1; setp.lt.u32 %p1, %r1, 9; @%p1 bra HEAD; "
      "ld.param.u64 %rd1, [in]; st.global.u32 [%rd1], %r3; ret;");
  const ptx::Function& fn = m.functions[0];
  const ir::Kernel k = ir::build(fn);
  const Liveness live = liveness(k);
  const auto names = [&](const RegisterSet& s) {
    std::string text;
    s.for_each([&](ptx::RegId r) { text += fn.registers[r].name + " "; });
    return text;
  };
  EXPECT_EQ(names(live.live_in[0]), "%p1 %r3 ");  // read before any write: the guarded move keeps an old value
  EXPECT_EQ(names(live.live_in[1]), "%p1 %r1 %r2 %r3 ");
  EXPECT_EQ(names(live.live_out[1]), "%p1 %r1 %r2 %r3 ");
  EXPECT_EQ(names(live.live_in[2]), "%r3 ");
  std::vector<size_t> counts;
  for_each_instruction_backward(k, live, 2,
                                [&](uint32_t, const RegisterSet& behind) { counts.push_back(behind.size()); });
  EXPECT_EQ(counts, (std::vector<size_t>{0, 0, 2}));
}

}  // namespace
}  // namespace warplens::analysis
