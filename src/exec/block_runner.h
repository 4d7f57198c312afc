// SPDX-License-Identifier: Apache-2.0
// BlockRunner: one worker's blocks. It owns the memory of the block that runs (shared, local, warp contexts, stacks)
// and lets the block's warps take turns: a warp that must wait at a barrier switches straight to the next warp that can
// run, in a ring; the worker's own thread only continues when the whole block has ended, or when all its warps wait for
// another block: then the worker runs others meanwhile (grid.cpp).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/executor.h"
#include "exec/fiber.h"
#include "exec/warp_context.h"

namespace warplens::exec {

class BlockRunner {
 public:
  /// `counters`: this worker's counter words.
  BlockRunner(LaunchState& launch, Executor& executor, unsigned worker, uint64_t* counters);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  /// Runs the block to its end, or until all its warps wait for another block: then waits() is true, and resume() goes
  /// on. Only on the worker's thread.
  void run_block(uint64_t block);
  void resume();
  bool waits() const { return suspended_ != kNoWarp && !abandoned_; }

  // --- called on warps' stacks
  void barrier(WarpContext& warp, uint32_t id, uint32_t expected_threads, uint32_t mask, uint32_t value_mask,
               bool arrive_only);
  /// Of the reduction at the barrier that `warp` just came through.
  struct Reduction {
    uint32_t popc = 0;
    bool all = true, any = false;
  };
  Reduction reduction_of(const WarpContext& warp) const { return came_through_[warp.warp]; }
  void yield(WarpContext& warp);
  [[noreturn]] void abandon(WarpContext& warp);

 private:
  struct Barrier {
    uint32_t arrived = 0;   ///< warps
    uint32_t expected = 0;  ///< warps; 0: all live ones
    uint32_t waiting = 0;   ///< bit by warp
    Reduction reduction;
  };
  static constexpr unsigned kMaxWarps = 32;
  static constexpr unsigned kBarriers = 16;
  static constexpr uint32_t kNoWarp = kMaxWarps;

  static void fiber_main(void* self);
  void warp_main();
  void begin_block(uint64_t block);
  void begin_warp(uint32_t warp);
  void run_in_turns();
  void run_one_by_one();
  void open_if_complete(Barrier& barrier);
  void finish_warp(uint32_t warp);
  /// Continues another warp that can run, or the thread when none is left. Does not return for a warp that has ended.
  void switch_away(uint32_t from, bool ended);
  void report_deadlock(const WarpContext& warp, uint32_t barrier);

  LaunchState& launch_;
  Executor& executor_;
  const bool in_turns_;  ///< warps of a block take turns, each on its own stack
  uint32_t warps_ = 0;
  uint64_t local_bytes_per_warp_ = 0;
  std::vector<WarpContext> contexts_;
  std::vector<CachedRange> ranges_;
  std::unique_ptr<uint8_t[]> shared_, local_;
  std::vector<Stack> stacks_;
  std::array<Fiber, kMaxWarps> fibers_;
  Fiber thread_;
  uint32_t starting_ = 0;         ///< the warp whose fiber is being entered for the first time
  uint32_t ready_ = 0;            ///< warps that can run, the running one included
  uint32_t live_ = 0;             ///< warps that have not ended
  uint32_t suspended_ = kNoWarp;  ///< the warp that gave the thread back
  uint32_t yields_ = 0;           ///< since the block last gave the thread back
  bool abandoned_ = false;
  std::array<Barrier, kBarriers> barriers_;
  std::array<Reduction, kMaxWarps> came_through_;
};

}  // namespace warplens::exec
