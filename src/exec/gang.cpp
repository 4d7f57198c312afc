// SPDX-License-Identifier: Apache-2.0
#include "exec/gang.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace warplens::exec {

void Cluster::open_if_complete() {
  const auto arrived = [](const BlockRunner* b) { return b->all_at_cluster_barrier(); };
  const auto anyone = [](const BlockRunner* b) { return b->anyone_at_cluster_barrier(); };
  if (!std::ranges::all_of(blocks, arrived) || !std::ranges::any_of(blocks, anyone)) return;
  for (BlockRunner* b : blocks) b->open_cluster_barrier();
}

Gang::Gang(LaunchState& launch, Executor& executor, unsigned worker, uint64_t* counters) {
  const size_t size = launch.request->cluster.count();
  WL_CHECK(size >= 1);
  cluster_.ended.resize(size);
  for (size_t i = 0; i < size; ++i) {
    blocks_.push_back(std::make_unique<BlockRunner>(
        launch, executor, BlockRunner::Place{*this, cluster_, i, static_cast<uint32_t>(i), size > 1, worker},
        counters));
    cluster_.blocks.push_back(blocks_.back().get());
    cluster_.shared.push_back(blocks_.back()->shared());
  }
  for (auto& b : blocks_) b->join_cluster();
  adopt_thread(thread_);
}

void Gang::run(std::span<const uint64_t> blocks) {
  WL_CHECK(blocks.size() == blocks_.size());
  for (size_t i = 0; i < blocks.size(); ++i) blocks_[i]->begin_block(blocks[i]);
  blocks_.front()->run();
}

void Gang::resume() { std::exchange(suspended_, nullptr)->resume(suspended_warp_); }

bool Gang::all_have_yielded() {
  uint32_t ready = 0;
  for (const auto& b : blocks_) ready += static_cast<uint32_t>(std::popcount(b->ready_warps()));
  return ++yields_ > ready;
}

void Gang::suspend(BlockRunner& block, uint32_t warp, Fiber& fiber) {
  yields_ = 0;
  suspended_ = &block;
  suspended_warp_ = warp;
  switch_fiber(fiber, thread_);
}

BlockRunner* Gang::next_ready(size_t index) const {
  for (size_t k = 1; k < blocks_.size(); ++k) {
    BlockRunner* b = blocks_[(index + k) % blocks_.size()].get();
    if (b->can_run()) return b;
  }
  return nullptr;
}

bool Gang::anyone_live() const {
  return std::ranges::any_of(blocks_, [](const auto& b) { return b->is_live(); });
}

void Gang::report_deadlock() {
  abandoned = true;
  for (const auto& b : blocks_)
    if (b->report_deadlock()) return;
}

}  // namespace warplens::exec
