// SPDX-License-Identifier: Apache-2.0
// Schedule: in which order a warp whose lanes went different ways executes its basic blocks. docs/divergence.md says
// why; generated code follows exactly this order, so that both executors emit equal event streams.
//
// Blocks are numbered by their position in the layout (analysis/loops.h). A warp walks the layout forward; at each
// position it runs the block for the lanes that wait there. Lanes that take a back edge wait at the loop's end until
// the walk gets there, then the walk goes back to the loop's first block.
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/loops.h"
#include "analysis/spin_loops.h"

namespace warplens::exec {

/// The part that all warps of a kernel share.
struct SchedulePlan {
  struct LoopRange {
    uint32_t first = 0, last = 0;  ///< positions [first, last)
    bool spins = false;
  };
  std::vector<LoopRange> loops;                     ///< outer before inner
  std::vector<std::vector<uint32_t>> loops_ending;  ///< by position p: loops with last == p + 1, inner before outer
  std::vector<uint32_t> loop_headed_at;             ///< by position: the loop whose first block it is, or kNoLoop
  /// By position: the block begins with a barrier of all the block's threads, so lanes that wait for it can do nothing
  /// for those in a spinning loop. Empty: no block does.
  std::vector<bool> stops_at_barrier;
  uint32_t positions = 0;
  bool any_spins = false;
};
SchedulePlan make_plan(const analysis::LoopForest& forest, const std::vector<bool>& spinning);

/// What a warp remembers of one spinning loop besides where its lanes are.
struct SpinCount {
  uint32_t rounds = 0;  ///< in a row, while others waited
  uint32_t turns = 0;   ///< all
  /// One more round is asked for; false: the lanes are parked. `yields` is set when other warps should run.
  bool go_round(bool anyone_outside, bool& yields);
};

class Schedule {
 public:
  explicit Schedule(const SchedulePlan& plan);
  /// All of `mask` at position 0.
  void start(uint32_t mask);
  /// Takes a warp over in the middle: lanes `mask` are in the block at `position`, others wait as `waiting` says, by
  /// position; at or before `position` they have taken a back edge. Where loops spin their words follow
  /// (analysis::SpinWords).
  void resume(uint32_t position, uint32_t mask, const uint32_t* waiting);
  /// Goes on to the next block to run. False: no lane is left. `yields` is set when a spinning loop has gone round
  /// often enough that other warps should run.
  bool next();
  /// Lanes `mask` go on in the middle of the block at `position`, wherever the walk is.
  void go_on_at(uint32_t position, uint32_t mask);
  /// Lanes that wait for some block.
  uint32_t elsewhere() const;
  /// Calls f(position, lanes) for each block that lanes wait for; for a loop's first where they go round.
  template <typename F>
  void for_each_waiting(F&& f) const {
    for (uint32_t p = 0; p < plan_.positions; ++p)
      if (pending_[p] != 0) f(p, pending_[p]);
    for (size_t i = 0; i < plan_.loops.size(); ++i)
      if (const uint32_t lanes = returning_[i] | parked_[i]; lanes != 0) f(plan_.loops[i].first, lanes);
  }
  uint32_t position() const { return position_; }
  uint32_t mask() const { return mask_; }
  bool take_yield() {
    const bool y = yields_;
    yields_ = false;
    return y;
  }
  /// Lanes `mask` of the block just run go to `target`.
  void go(uint32_t target, uint32_t mask);

 private:
  bool go_back_at(uint32_t position);
  bool anyone_outside(const SchedulePlan::LoopRange& range) const;
  bool parked_outside(const SchedulePlan::LoopRange& range) const;
  bool held(uint32_t position) const;
  void unpark(uint32_t first, uint32_t last);

  const SchedulePlan& plan_;
  uint32_t position_ = 0, mask_ = 0;
  uint32_t cursor_ = 0;  // next position to look at
  bool yields_ = false;
  std::vector<uint32_t> pending_;    // by position
  std::vector<uint32_t> returning_;  // by loop: took a back edge
  std::vector<uint32_t> parked_;     // by loop: took too many while others waited
  std::vector<SpinCount> counts_;    // by loop
};

}  // namespace warplens::exec
