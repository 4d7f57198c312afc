// SPDX-License-Identifier: Apache-2.0
// How far a running launch is: each worker counts the blocks that have ended on a cache line of its own, and whoever
// shows progress adds them up. Costs a store a block, and nothing when nobody asks.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace warplens::exec {

class LaunchProgress {
 public:
  /// The launch's code is ready, its first block is about to begin.
  void begin() { started_.store(std::chrono::steady_clock::now().time_since_epoch().count()); }
  /// On worker `worker`'s thread. More workers than slots share them.
  void add(unsigned worker, uint64_t blocks) {
    slots_[worker % slots_.size()].done.fetch_add(blocks, std::memory_order_relaxed);
  }
  /// Blocks that have ended. Any thread.
  uint64_t done() const {
    uint64_t sum = 0;
    for (const Slot& slot : slots_) sum += slot.done.load(std::memory_order_relaxed);
    return sum;
  }
  /// Seconds since begin(); below 0 before it.
  double seconds() const {
    const auto started = started_.load();
    if (started == 0) return -1;
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    return std::chrono::duration<double>(std::chrono::steady_clock::duration(now - started)).count();
  }

 private:
  struct alignas(64) Slot {
    std::atomic<uint64_t> done{0};
  };
  std::array<Slot, 64> slots_;
  std::atomic<std::chrono::steady_clock::rep> started_{0};
};

}  // namespace warplens::exec
