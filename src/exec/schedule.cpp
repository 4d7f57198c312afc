// SPDX-License-Identifier: Apache-2.0
#include "exec/schedule.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace warplens::exec {

SchedulePlan make_plan(const analysis::LoopForest& forest, const std::vector<bool>& spinning) {
  SchedulePlan plan;
  plan.positions = static_cast<uint32_t>(forest.layout.size());
  plan.loops_ending.resize(plan.positions);
  plan.loop_headed_at.assign(plan.positions, analysis::kNoLoop);
  for (size_t i = 0; i < forest.loops.size(); ++i) {
    const analysis::Loop& loop = forest.loops[i];
    plan.loops.push_back({loop.first, loop.last, spinning[i]});
    plan.any_spins |= spinning[i];
    WL_CHECK(loop.first < loop.last && loop.last <= plan.positions);
    // Outer loops come before inner ones, so the inner one is put in front.
    auto& ending = plan.loops_ending[loop.last - 1];
    ending.insert(ending.begin(), static_cast<uint32_t>(i));
    plan.loop_headed_at[loop.first] = static_cast<uint32_t>(i);  // each block heads at most one loop
  }
  return plan;
}

bool SpinCount::go_round(bool anyone_outside, bool& yields) {
  if (++turns % analysis::kSpinBudget == 0) yields = true;
  rounds = anyone_outside ? rounds + 1 : 0;
  if (rounds <= analysis::kSpinBudget) return true;
  rounds = 0;
  return false;
}

Schedule::Schedule(const SchedulePlan& plan)
    : plan_(plan),
      pending_(plan.positions),
      returning_(plan.loops.size()),
      parked_(plan.loops.size()),
      counts_(plan.loops.size()) {}

void Schedule::start(uint32_t mask) {
  std::fill(pending_.begin(), pending_.end(), 0);
  for (auto* masks : {&returning_, &parked_}) std::fill(masks->begin(), masks->end(), 0);
  std::fill(counts_.begin(), counts_.end(), SpinCount{});
  cursor_ = 0;
  if (!pending_.empty()) pending_[0] = mask;
}

void Schedule::resume(uint32_t position, uint32_t mask, const uint32_t* waiting) {
  start(0);
  WL_CHECK(position < plan_.positions);
  cursor_ = position_ = position;
  mask_ = mask;
  const auto loops = static_cast<uint32_t>(plan_.loops.size());
  const analysis::SpinWords words{plan_.positions, loops};
  for (uint32_t i = 0; i < loops && plan_.any_spins; ++i) {
    parked_[i] = waiting[words.parked(i)];
    counts_[i] = {waiting[words.rounds(i)], waiting[words.turns(i)]};
  }
  for (uint32_t p = 0; p < plan_.positions; ++p)
    if (held(p))
      pending_[p] |= waiting[p];
    else
      go(p, waiting[p]);
}

void Schedule::go_on_at(uint32_t position, uint32_t mask) {
  position_ = position;
  mask_ = mask;
  cursor_ = std::min(cursor_, position);
}

uint32_t Schedule::elsewhere() const {
  uint32_t lanes = 0;
  for (const auto* masks : {&pending_, &returning_, &parked_})
    for (const uint32_t m : *masks) lanes |= m;
  return lanes;
}

void Schedule::go(uint32_t target, uint32_t mask) {
  if (mask == 0) return;
  if (target > position_) {
    pending_[target] |= mask;
    return;
  }
  const uint32_t loop = plan_.loop_headed_at[target];
  WL_CHECK(loop != analysis::kNoLoop && position_ < plan_.loops[loop].last, "a back edge that enters no loop header");
  returning_[loop] |= mask;
}

bool Schedule::next() {
  for (;;) {
    while (cursor_ < plan_.positions) {
      // What ends behind a block is looked at when the walk comes by again, after the block's edges are known.
      if (pending_[cursor_] != 0 && !held(cursor_)) {
        position_ = cursor_;
        mask_ = std::exchange(pending_[cursor_], 0);
        return true;
      }
      if (!go_back_at(cursor_)) ++cursor_;
    }
    // The walk is over; lanes that were parked in spinning loops are all that is left.
    if (std::all_of(parked_.begin(), parked_.end(), [](uint32_t lanes) { return lanes == 0; })) return false;
    yields_ = true;
    unpark(0, plan_.positions);
    cursor_ = 0;
  }
}

/// Whether lanes that wait at a barrier of the thread block at the beginning of the block there go on waiting, since
/// others of the warp are parked: a warp arrives as a whole. (Those parked inside a loop that begins there have come
/// through.)
bool Schedule::held(uint32_t position) const {
  if (!plan_.any_spins || plan_.stops_at_barrier.empty() || !plan_.stops_at_barrier[position]) return false;
  const uint32_t loop = plan_.loop_headed_at[position];
  return parked_outside(loop == analysis::kNoLoop ? SchedulePlan::LoopRange{} : plan_.loops[loop]);
}

bool Schedule::parked_outside(const SchedulePlan::LoopRange& range) const {
  for (size_t i = 0; i < plan_.loops.size(); ++i)
    if (parked_[i] != 0 && !(plan_.loops[i].first >= range.first && plan_.loops[i].last <= range.last)) return true;
  return false;
}

/// Loops that end at `position`: takes the innermost pending back edge. True: cursor_ was moved to its header.
bool Schedule::go_back_at(uint32_t position) {
  for (const uint32_t i : plan_.loops_ending[position]) {
    const SchedulePlan::LoopRange& range = plan_.loops[i];
    if (returning_[i] == 0) {
      counts_[i].rounds = 0;
      continue;
    }
    if (held(range.first)) {
      counts_[i].rounds = 0;
      pending_[range.first] |= std::exchange(returning_[i], 0);
      continue;
    }
    if (range.spins && !counts_[i].go_round(anyone_outside(range), yields_)) {
      parked_[i] |= std::exchange(returning_[i], 0);
      continue;
    }
    pending_[range.first] |= std::exchange(returning_[i], 0);
    unpark(range.first, range.last);
    cursor_ = range.first;
    return true;
  }
  return false;
}

/// Whether a lane of the warp waits anywhere but in this loop, and not at a barrier that needs the loop's lanes.
/// (Inside it, nothing but its own back edge is left.)
bool Schedule::anyone_outside(const SchedulePlan::LoopRange& range) const {
  const auto at_barrier = [&](uint32_t p) { return !plan_.stops_at_barrier.empty() && plan_.stops_at_barrier[p]; };
  for (uint32_t p = range.last; p < plan_.positions; ++p)
    if (pending_[p] != 0 && !at_barrier(p)) return true;
  for (size_t i = 0; i < plan_.loops.size(); ++i) {
    const bool inside = plan_.loops[i].first >= range.first && plan_.loops[i].last <= range.last;
    if (!inside && returning_[i] != 0 && !at_barrier(plan_.loops[i].first)) return true;
  }
  return parked_outside(range);
}

/// Lanes parked in loops within [first, last) wait at their headers again.
void Schedule::unpark(uint32_t first, uint32_t last) {
  for (size_t i = 0; i < plan_.loops.size(); ++i)
    if (plan_.loops[i].first >= first && plan_.loops[i].last <= last)
      pending_[plan_.loops[i].first] |= std::exchange(parked_[i], 0);
}

}  // namespace warplens::exec
