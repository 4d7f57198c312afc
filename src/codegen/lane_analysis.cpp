// SPDX-License-Identifier: Apache-2.0
#include "codegen/lane_analysis.h"

#include <algorithm>

#include "analysis/spin_loops.h"
#include "codegen/class_flow.h"

namespace warplens::codegen {
namespace {

class Analyser {
 public:
  Analyser(const KernelSource& source, const analysis::DominatorTree& dominators,
           const analysis::DominatorTree& post_dominators, const analysis::Liveness& live)
      : source_(source),
        graph_(*source.graph),
        loops_(*source.loops),
        post_dominators_(post_dominators),
        webs_(build_webs(graph_, dominators, live)),
        flow_(source, webs_) {
    out_.diverged.assign(graph_.blocks.size(), !source.lane_classes);
    out_.divergent_branch.assign(graph_.blocks.size(), false);
    out_.parks.assign(loops_.loops.size(), false);
    behind_parking_.assign(graph_.blocks.size(), false);
    if (!source.lane_classes)
      for (WebId w = 0; w < webs_.webs.size(); ++w) flow_.make_vary(w);
    divergent_loop_.assign(loops_.loops.size(), !source.lane_classes);
  }

  LaneAnalysis run() {
    do flow_.run(loops_.layout);
    while (spread());
    for (WebId w = 0; w < webs_.webs.size(); ++w) out_.info.push_back(flow_.info(w));
    out_.webs = std::move(webs_);
    for (WebId w = 0; w < out_.info.size(); ++w) finish(w);
    return std::move(out_);
  }

 private:
  // --- divergence
  bool spread() {
    const bool by_branches = spread_divergence();
    return spread_parking() || by_branches;
  }

  /// Adds what newly divergent branches imply; true when that made another web vary.
  bool spread_divergence() {
    bool more = false;
    for (ir::BlockId b = 0; b < graph_.blocks.size(); ++b) {
      if (out_.divergent_branch[b] || !flow_.is_divergent(b)) continue;
      out_.divergent_branch[b] = true;
      more |= spread_from(b);
    }
    return more;
  }

  /// Where all lanes that the branch of `b` parts are together again; blocks.size(): only at the end of the thread. It
  /// is the post-dominator, except for lanes that go back to a loop's header on the way: they wait at that loop's end
  /// (docs/divergence.md), so a block inside of it is too early.
  ir::BlockId meeting_of(ir::BlockId b) const {
    ir::BlockId meeting = post_dominators_.parent[b];
    while (meeting < graph_.blocks.size() && someone_goes_round(b, meeting)) meeting = post_dominators_.parent[meeting];
    return meeting;
  }

  bool someone_goes_round(ir::BlockId b, ir::BlockId meeting) const {
    std::vector<bool> region = reached(graph_.blocks[b].successors, analysis::kNoLoop, meeting);
    region[b] = true;
    for (ir::BlockId x = 0; x < region.size(); ++x) {
      if (!region[x] || x == meeting) continue;
      for (const ir::BlockId s : graph_.blocks[x].successors)
        if (s != meeting && loops_.is_back_edge(x, s) && loops_.contains(loops_.loop_of[s], meeting)) return true;
    }
    return false;
  }

  bool spread_from(ir::BlockId b) {
    const ir::BlockId meeting = meeting_of(b);
    std::vector<ir::BlockId> label(graph_.blocks.size(), ir::kNoBlock), work;
    std::vector<bool> is_join(graph_.blocks.size());
    const auto visit = [&](ir::BlockId block, ir::BlockId from) {
      if (label[block] == from || label[block] == block) return;
      if (label[block] != ir::kNoBlock) is_join[block] = true;
      label[block] = label[block] == ir::kNoBlock ? from : block;
      work.push_back(block);
    };
    for (const ir::BlockId s : graph_.blocks[b].successors) visit(s, s);
    while (!work.empty()) {
      const ir::BlockId block = work.back();
      work.pop_back();
      if (block == meeting) continue;
      out_.diverged[block] = true;
      if (block == b) continue;
      for (const ir::BlockId s : graph_.blocks[block].successors) visit(s, label[block]);
    }
    // A successor that the other side reaches too is a join although it keeps its label.
    for (const ir::BlockId s : graph_.blocks[b].successors)
      for (const ir::BlockId p : graph_.blocks[s].predecessors)
        if (p != b && label[p] != ir::kNoBlock && label[p] != s) is_join[s] = true;
    bool more = spread_to_waiting(b, meeting);
    for (const WebValue& v : webs_.values)
      if (v.is_phi && is_join[v.block]) more |= flow_.make_vary(v.web);
    for (uint32_t loop = loops_.loop_of[b]; loop != analysis::kNoLoop; loop = loops_.loops[loop].parent) {
      if (meeting < graph_.blocks.size() && loops_.contains(loop, meeting)) continue;
      if (divergent_loop_[loop]) continue;
      divergent_loop_[loop] = true;
      more |= spread_from_loop(loop);
    }
    return more;
  }

  /// Lanes that went one way at the end of `b` wait with what they had while others go another way: what is live where
  /// they wait, and written meanwhile, is not one value for all, although its values never meet.
  bool spread_to_waiting(ir::BlockId b, ir::BlockId meeting) {
    bool more = false;
    for (const ir::BlockId waiting : graph_.blocks[b].successors) {
      if (waiting == meeting) continue;
      const std::vector<bool> others = reached_before_meeting(b, waiting, meeting);
      std::vector<bool> live(webs_.webs.size());
      for (const auto& [reg, web] : webs_.live_in[waiting])
        if (web != kNoWeb) live[web] = true;
      for (const WebValue& v : webs_.values)
        if (!v.is_phi && others[v.block] && live[v.web]) more |= flow_.make_vary(v.web);
    }
    return more;
  }

  /// The blocks that lanes come to from `b` by other ways than `but`, until they wait for the rest: at `meeting`, or at
  /// the end of a loop around `b`.
  std::vector<bool> reached_before_meeting(ir::BlockId b, ir::BlockId but, ir::BlockId meeting) const {
    std::vector<bool> mark(graph_.blocks.size());
    std::vector<ir::BlockId> work;
    const auto visit = [&](ir::BlockId from, ir::BlockId to) {
      if (to == meeting || mark[to] || (loops_.is_back_edge(from, to) && loops_.contains(loops_.loop_of[to], b)))
        return;
      mark[to] = true;
      work.push_back(to);
    };
    for (const ir::BlockId s : graph_.blocks[b].successors)
      if (s != but) visit(b, s);
    while (!work.empty()) {
      const ir::BlockId block = work.back();
      work.pop_back();
      for (const ir::BlockId s : graph_.blocks[block].successors) visit(block, s);
    }
    return mark;
  }

  bool spread_from_loop(uint32_t loop) {
    bool more = false;
    for (const WebValue& v : webs_.values) {
      if (!loops_.contains(loop, v.block)) continue;
      const bool phi_of_irreducible = v.is_phi && loops_.loops[loop].irreducible;
      if (phi_of_irreducible || used_outside(v, loop)) more |= flow_.make_vary(v.web);
    }
    return more;
  }

  // --- spinning loops

  bool inside(ir::BlockId b, uint32_t loop) const { return loops_.contains(loop, b); }

  /// Marks all blocks that are reached from `work` (itself included) without entering `loop` or going on behind `stop`.
  std::vector<bool> reached(std::vector<ir::BlockId> work, uint32_t loop, ir::BlockId stop) const {
    std::vector<bool> mark(graph_.blocks.size());
    while (!work.empty()) {
      const ir::BlockId b = work.back();
      work.pop_back();
      if (mark[b] || (loop != analysis::kNoLoop && inside(b, loop))) continue;
      mark[b] = true;
      if (b == stop) continue;
      for (const ir::BlockId s : graph_.blocks[b].successors) work.push_back(s);
    }
    return mark;
  }

  /// Whether lanes that come from block `from` to wait for block `b` would let the loop's lanes be parked: they come
  /// after it in the walk and do not wait at a barrier that needs the loop's lanes too, or have gone round an outer
  /// loop.
  bool lets_park(ir::BlockId from, ir::BlockId b, uint32_t loop) const {
    if (analysis::begins_with_barrier(graph_, b)) return false;
    if (loops_.position_of[b] >= loops_.loops[loop].last) return true;
    for (uint32_t l = loops_.loops[loop].parent; l != analysis::kNoLoop; l = loops_.loops[l].parent)
      if (loops_.loops[l].header == b && inside(from, l)) return true;
    return false;
  }

  /// Whether lanes that the branch of `b` sends another way may wait outside of the loop while others are in it.
  bool parts_lanes_of(ir::BlockId b, uint32_t loop) const {
    const ir::BlockId meeting = meeting_of(b);
    if (inside(b, loop)) {
      if (meeting < graph_.blocks.size() && inside(meeting, loop)) return false;
      for (uint32_t p = loops_.loops[loop].first; p < loops_.loops[loop].last; ++p)
        for (const ir::BlockId s : graph_.blocks[loops_.layout[p]].successors)
          if (!inside(s, loop) && lets_park(b, s, loop)) return true;
      return false;
    }
    const std::vector<ir::BlockId>& ways = graph_.blocks[b].successors;
    const std::vector<bool> together = reached(ways, analysis::kNoLoop, meeting);
    const auto& range = loops_.loops[loop];
    const bool on_the_way = std::any_of(loops_.layout.begin() + range.first, loops_.layout.begin() + range.last,
                                        [&](ir::BlockId x) { return together[x] && x != meeting; });
    if (!on_the_way) return false;
    const std::vector<bool> apart = reached(ways, loop, meeting);
    for (ir::BlockId x = 0; x < apart.size(); ++x)
      if (apart[x] && lets_park(b, x, loop)) return true;
    return false;
  }

  bool may_park(uint32_t loop) const {
    if (!source_.lane_classes || behind_parking_[loops_.loops[loop].header]) return true;
    for (ir::BlockId b = 0; b < graph_.blocks.size(); ++b)
      if (out_.divergent_branch[b] && parts_lanes_of(b, loop)) return true;
    return false;
  }

  /// Finds loops whose lanes may be parked, and what that implies; true when another web varies.
  bool spread_parking() {
    bool more = false;
    for (bool found = true; found;) {
      found = false;
      for (uint32_t loop = 0; loop < loops_.loops.size(); ++loop) {
        if (!source_.spinning_loops[loop] || out_.parks[loop] || !may_park(loop)) continue;
        out_.parks[loop] = found = true;
        more |= spread_behind(loop);
      }
    }
    return more;
  }

  bool spread_behind(uint32_t loop) {
    const std::vector<bool> behind = reached({loops_.loops[loop].header}, analysis::kNoLoop, ir::kNoBlock);
    for (ir::BlockId b = 0; b < behind.size(); ++b) {
      if (!behind[b]) continue;
      behind_parking_[b] = true;
      out_.diverged[b] = true;
    }
    bool more = false;
    for (const WebValue& v : webs_.values)
      if (behind[v.block] && (kept(v) || webs_.webs[v.web].values.size() > 1)) more |= flow_.make_vary(v.web);
    return more;
  }

  /// Whether the value is more than a temporary of one block.
  bool kept(const WebValue& v) const {
    return v.is_phi ||
           std::any_of(v.use_blocks.begin(), v.use_blocks.end(), [&](ir::BlockId b) { return b != v.block; });
  }

  bool used_outside(const WebValue& v, uint32_t loop) const {
    return std::any_of(v.use_blocks.begin(), v.use_blocks.end(),
                       [&](ir::BlockId b) { return !loops_.contains(loop, b); });
  }

  void finish(WebId w) {
    WebInfo& info = out_.info[w];
    const auto& values = out_.webs.webs[w].values;
    info.blend = values.size() > 1;
    for (const uint32_t v : values) {
      const WebValue& value = out_.webs.values[v];
      info.blend |= behind_parking_[value.block] && kept(value);
      for (uint32_t l = loops_.loop_of[value.block]; l != analysis::kNoLoop; l = loops_.loops[l].parent)
        info.blend |= divergent_loop_[l] && used_outside(value, l);
    }
    if (!source_.lane_classes) info.blend = true;
  }

  const KernelSource& source_;
  const ir::Kernel& graph_;
  const analysis::LoopForest& loops_;
  const analysis::DominatorTree& post_dominators_;
  Webs webs_;  // moves to the result
  ClassFlow flow_;
  LaneAnalysis out_;
  std::vector<bool> divergent_loop_;  // by loop
  std::vector<bool> behind_parking_;  // by block: reached from a loop that parks
};

/// Whether code that holds the web as `here` can hand it to code that expects `there`.
bool can_become(const LaneClass& here, const LaneClass& there) {
  const bool forgets_constant = here.constant && there.is_uniform() && !there.constant;
  return there.is_vector() || forgets_constant || same_form(here, there);
}

}  // namespace

LaneAnalysis analyse_whole_warps(const KernelSource& source, const LaneAnalysis& lanes) {
  if (!source.lane_classes) return lanes;
  ClassFlow flow(source, lanes.webs);
  flow.run(source.loops->layout);
  LaneAnalysis out = lanes;
  for (ir::BlockId b = 0; b < out.divergent_branch.size(); ++b) out.divergent_branch[b] = flow.is_divergent(b);
  out.diverged.assign(out.diverged.size(), false);
  for (WebId w = 0; w < out.info.size(); ++w) {
    WebInfo info = flow.info(w);
    info.blend = lanes.info[w].blend;
    if (!can_become(info.cls, lanes.info[w].cls)) return lanes;
    out.info[w] = info;
  }
  return out;
}

LaneAnalysis analyse_lanes(const KernelSource& source, const analysis::DominatorTree& dominators,
                           const analysis::DominatorTree& post_dominators, const analysis::Liveness& live) {
  return Analyser(source, dominators, post_dominators, live).run();
}

}  // namespace warplens::codegen
