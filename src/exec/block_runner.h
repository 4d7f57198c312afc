// SPDX-License-Identifier: Apache-2.0
// BlockRunner: a block while it runs, and the next one after it. It owns the block's memory (shared, local, warp
// contexts, stacks) and lets the block's warps take turns: a warp that must wait at a barrier switches straight to the
// next warp that can run, in a ring, and to another block of its gang (gang.h) when there is none; the worker's own
// thread only continues when all have ended, or when all wait for blocks outside: then the worker runs others meanwhile
// (grid.cpp).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/executor.h"
#include "exec/fiber.h"
#include "exec/warp_context.h"

namespace warplens::exec {

class Gang;
struct Cluster;

class BlockRunner {
 public:
  /// Where it stands among the blocks that run at the same time.
  struct Place {
    Gang& gang;
    Cluster& cluster;
    size_t index;   ///< in the gang
    uint32_t rank;  ///< in the cluster
    bool has_neighbours;
    unsigned worker;
  };
  /// `counters`: this worker's counter words.
  BlockRunner(LaunchState& launch, Executor& executor, Place place, uint64_t* counters);
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  // --- called by the gang
  uint8_t* shared() { return shared_.get(); }
  /// Once the cluster's list of blocks is complete.
  void join_cluster();
  void begin_block(uint64_t block);
  /// Runs this block's warps, and with them the gang's; returns when all have ended, or wait for blocks outside.
  void run();
  /// Goes on with a warp that gave the thread back.
  void resume(uint32_t warp);
  bool can_run() const { return ready_ != 0; }
  uint32_t ready_warps() const { return ready_; }
  bool is_live() const { return live_ != 0; }
  bool all_at_cluster_barrier() const { return (live_ & ~at_cluster_barrier_) == 0; }
  bool anyone_at_cluster_barrier() const { return (live_ & at_cluster_barrier_) != 0; }
  void open_cluster_barrier();
  /// Records the finding if a warp of this block waits at a barrier.
  bool report_deadlock();

  // --- called on warps' stacks
  [[gnu::noinline]] void barrier(WarpContext& warp, uint32_t id, uint32_t expected_threads, uint32_t mask,
                                 uint32_t value_mask, bool arrive_only);
  /// barrier(...) of all threads, without reduction: the shortest way to the next warp.
  void barrier_of_all(WarpContext& warp, uint32_t id);
  /// Of the reduction at the barrier that `warp` just came through.
  struct Reduction {
    uint32_t popc = 0;
    bool all = true, any = false;
  };
  Reduction reduction_of(const WarpContext& warp) const { return came_through_[warp.warp]; }
  /// barrier.cluster: the warp's arrival; waiting until all warps of the cluster have arrived.
  void cluster_arrive(WarpContext& warp);
  void cluster_wait(WarpContext& warp);
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

  static void fiber_main(void* self);
  void warp_main();
  void begin_warp(uint32_t warp);
  void run_one_by_one();
  void open_if_complete(Barrier& barrier);
  void finish_warp(uint32_t warp);
  /// Continues another warp that can run, or the thread when none is left. Does not return for a warp that has ended.
  void switch_away(uint32_t from, bool ended);
  /// The first warp that can run, from number `first` on in the ring.
  uint32_t next_warp(uint32_t first) const;
  /// Continues a warp of `block`, or the thread when that is null.
  void go_on(uint32_t from, bool ended, BlockRunner* block, uint32_t warp);
  void report_deadlock(const WarpContext& warp, uint32_t barrier);

  LaunchState& launch_;
  Executor& executor_;
  const Place place_;
  const bool in_turns_;  ///< warps of a block take turns, each on its own stack
  uint32_t warps_ = 0;
  uint64_t local_bytes_per_warp_ = 0;
  std::vector<WarpContext> contexts_;
  std::vector<CachedRange> ranges_;
  std::unique_ptr<uint8_t[]> shared_, local_;
  std::vector<Stack> stacks_;
  std::array<Fiber, kMaxWarps> fibers_;
  uint32_t starting_ = 0;    ///< the warp whose fiber is being entered for the first time
  uint32_t ready_ = 0;       ///< warps that can run, the running one included
  uint32_t live_ = 0;        ///< warps that have not ended
  uint32_t live_warps_ = 0;  ///< their number
  std::array<Barrier, kBarriers> barriers_;
  std::array<Reduction, kMaxWarps> came_through_;
  uint32_t at_cluster_barrier_ = 0;  ///< warps that have arrived since it last opened
  uint32_t cluster_waiting_ = 0;     ///< those that wait there
};

}  // namespace warplens::exec
