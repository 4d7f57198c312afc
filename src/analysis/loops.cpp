// SPDX-License-Identifier: Apache-2.0
// See loops.h. Tarjan's algorithm finds the strongly connected components of a region in reverse topological order;
// each component with a cycle becomes a loop, and its body, without the edges into the header, is the next region.
#include "analysis/loops.h"

#include <algorithm>

namespace warplens::analysis {
namespace {

using ir::BlockId;
using ir::kNoBlock;

class LoopFinder {
 public:
  explicit LoopFinder(const ir::Kernel& kernel) : kernel_(kernel) {
    const size_t n = kernel.blocks.size();
    rank_.resize(n);
    for (uint32_t i = 0; i < n; ++i) rank_[kernel.reverse_post_order[i]] = i;
    region_.assign(n, 0);
    index_.assign(n, 0);
    low_.assign(n, 0);
    component_.assign(n, 0);
    forest_.loop_of.assign(n, kNoLoop);
    forest_.position_of.assign(n, 0);
  }

  LoopForest find() {
    // The work is a stack, not recursion: kernels may nest loops deeply. What comes first in the layout lies on top.
    work_.push_back({Work::Kind::kRegion, kNoLoop, kNoBlock, kernel_.reverse_post_order});
    while (!work_.empty()) {
      const Work item = std::move(work_.back());
      work_.pop_back();
      switch (item.kind) {
        case Work::Kind::kRegion: search(item); break;
        case Work::Kind::kLoop: open_loop(item); break;
        case Work::Kind::kBlock: place(item); break;
        case Work::Kind::kEnd: forest_.loops[item.loop].last = static_cast<uint32_t>(forest_.layout.size()); break;
      }
    }
    return std::move(forest_);
  }

 private:
  struct Work {
    enum class Kind : uint8_t {
      kRegion,  ///< find the components of `blocks` inside `loop`, whose header is `block`
      kLoop,    ///< `blocks` are a loop inside `loop`
      kBlock,   ///< `block` is next in the layout
      kEnd,     ///< all blocks of `loop` are placed
    };
    Kind kind;
    uint32_t loop;
    BlockId block;
    std::vector<BlockId> blocks;  ///< in reverse post-order
  };

  void place(const Work& item) {
    forest_.position_of[item.block] = static_cast<uint32_t>(forest_.layout.size());
    forest_.layout.push_back(item.block);
    forest_.loop_of[item.block] = item.loop;
  }

  void open_loop(const Work& item) {
    const auto id = static_cast<uint32_t>(forest_.loops.size());
    Loop loop;
    loop.header = item.blocks[0];  // reached first, hence an entry, and all others are reached from it
    loop.parent = item.loop;
    loop.depth = item.loop == kNoLoop ? 1 : forest_.loops[item.loop].depth + 1;
    loop.first = static_cast<uint32_t>(forest_.layout.size());
    const uint32_t region = mark(item.blocks);
    for (const BlockId b : item.blocks)
      for (const BlockId p : kernel_.blocks[b].predecessors)
        loop.irreducible |= b != loop.header && region_[p] != region;
    forest_.loops.push_back(loop);
    work_.push_back({Work::Kind::kEnd, id, kNoBlock, {}});
    work_.push_back({Work::Kind::kRegion, id, loop.header, item.blocks});
  }

  uint32_t mark(const std::vector<BlockId>& blocks) {
    ++regions_;
    for (const BlockId b : blocks) region_[b] = regions_;
    return regions_;
  }

  void search(const Work& item) {
    const uint32_t region = mark(item.blocks);
    for (const BlockId b : item.blocks) index_[b] = 0;
    std::vector<std::vector<BlockId>> components;
    for (const BlockId b : item.blocks)
      if (index_[b] == 0) tarjan(b, region, item.block, components);
    // They came out in reverse topological order: the last one ends on top of the stack.
    for (std::vector<BlockId>& c : components) {
      const auto& s = kernel_.blocks[c[0]].successors;
      const bool cycle = c.size() > 1 || (c[0] != item.block && std::find(s.begin(), s.end(), c[0]) != s.end());
      if (cycle)
        work_.push_back({Work::Kind::kLoop, item.loop, kNoBlock, std::move(c)});
      else
        work_.push_back({Work::Kind::kBlock, item.loop, c[0], {}});
    }
  }

  void tarjan(BlockId root, uint32_t region, BlockId header, std::vector<std::vector<BlockId>>& components) {
    std::vector<std::pair<BlockId, size_t>> stack;
    const auto enter = [&](BlockId b) {
      index_[b] = low_[b] = ++counter_;
      component_[b] = 0;
      open_.push_back(b);
      stack.emplace_back(b, 0);
    };
    enter(root);
    while (!stack.empty()) {
      const auto [b, next] = stack.back();
      const auto& successors = kernel_.blocks[b].successors;
      if (next < successors.size()) {
        ++stack.back().second;
        const BlockId s = successors[next];
        if (region_[s] != region || s == header) continue;
        if (index_[s] == 0)
          enter(s);
        else if (component_[s] == 0)
          low_[b] = std::min(low_[b], index_[s]);
        continue;
      }
      stack.pop_back();
      if (!stack.empty()) low_[stack.back().first] = std::min(low_[stack.back().first], low_[b]);
      if (low_[b] != index_[b]) continue;
      std::vector<BlockId>& c = components.emplace_back();
      do {
        c.push_back(open_.back());
        component_[open_.back()] = 1;
        open_.pop_back();
      } while (c.back() != b);
      std::sort(c.begin(), c.end(), [this](BlockId x, BlockId y) { return rank_[x] < rank_[y]; });
    }
  }

  const ir::Kernel& kernel_;
  LoopForest forest_;
  std::vector<Work> work_;
  std::vector<uint32_t> rank_, region_, index_, low_;
  std::vector<uint8_t> component_;
  std::vector<BlockId> open_;
  uint32_t regions_ = 0, counter_ = 0;
};

}  // namespace

LoopForest find_loops(const ir::Kernel& kernel) { return LoopFinder(kernel).find(); }

}  // namespace warplens::analysis
