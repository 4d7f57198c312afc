// SPDX-License-Identifier: Apache-2.0
// Gang: the blocks of a cluster, which run on one worker at the same time, because they may wait for each other.
// Usually it is one block. Their warps take turns; when no warp of a block can go on, a warp of the next block does.
// When all of them wait for blocks outside, the worker sets the gang aside.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/block_runner.h"

namespace warplens::exec {

/// A cluster's barrier and its blocks' shared memory. Warps arrive as a whole; those that have ended count as arrived.
struct Cluster {
  std::vector<BlockRunner*> blocks;  ///< by rank
  std::vector<uint8_t*> shared;      ///< host addresses, by rank
  std::vector<uint8_t> ended;        ///< by rank: 1 when all threads of the block have
  /// Lets the waiting warps go when all warps of all blocks have come.
  void open_if_complete();
};

class Gang {
 public:
  /// Of as many blocks as the launch's clusters have. `counters`: the worker's counter words.
  Gang(LaunchState& launch, Executor& executor, unsigned worker, uint64_t* counters);
  Gang(const Gang&) = delete;
  Gang& operator=(const Gang&) = delete;

  /// Runs these blocks (linear indices, in order of rank) to their ends, or until all their warps wait for other
  /// blocks: then waits() is true, and resume() goes on. Only on the worker's thread.
  void run(std::span<const uint64_t> blocks);
  void resume();
  bool waits() const { return suspended_ != nullptr && !abandoned; }

  // --- for its blocks
  Fiber& thread() { return thread_; }
  /// The next block behind number `index`, in a ring, that has a warp that can run; null: none, or only that one.
  BlockRunner* next_ready(size_t index) const;
  /// A warp waits in vain, of all that are left: ends the launch.
  void report_deadlock();
  bool anyone_live() const;
  /// Counts a warp that waits for something; true when all that can run have done so since the gang last gave the
  /// thread back.
  bool all_have_yielded();
  /// Gives the thread back from a warp's stack.
  void suspend(BlockRunner& block, uint32_t warp, Fiber& fiber);
  bool abandoned = false;

 private:
  Fiber thread_;
  Cluster cluster_;
  BlockRunner* suspended_ = nullptr;  ///< whose warp gave the thread back
  uint32_t suspended_warp_ = 0, yields_ = 0;
  std::vector<std::unique_ptr<BlockRunner>> blocks_;
};

}  // namespace warplens::exec
