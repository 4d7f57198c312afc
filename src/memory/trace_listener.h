// SPDX-License-Identifier: Apache-2.0
// Listener 2: writes the event stream as text, one line an event, for tests and for people who want to see every
// access:
//   access site=3 space=global block=0 warp=1 mask=ffffffff addresses=...
// The stream of a warp is in program order; streams of different warps are joined by (block, warp) so that the text
// does not depend on the schedule.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "events/events.h"

namespace warplens::memory {

class TraceListener : public events::Listener {
 public:
  /// Device addresses are printed relative to `address_base`, so that two runs compare equal.
  explicit TraceListener(uint64_t address_base = 0) : address_base_(address_base) {}
  uint32_t interest() const override {
    return events::kLaunches | events::kAccesses | events::kBlocks | events::kBarriers;
  }
  void on_launch_begin(const events::LaunchInfo& launch) override;
  void on_access(unsigned worker, const events::WarpAccess& access) override;
  void on_block_run(unsigned worker, const events::BlockRun& run) override;
  void on_barrier(unsigned worker, const events::BarrierArrive& arrive) override;
  /// The whole text, launches in order, warps in order of (block, warp).
  std::string text() const;

 private:
  void append(uint64_t block, uint32_t warp, std::string line);
  uint64_t address_base_;
  mutable std::mutex mutex_;
  uint64_t launch_ = 0;
  std::map<uint64_t, std::string> heads_;                                    // launch -> its first line
  std::map<std::tuple<uint64_t, uint64_t, uint32_t>, std::string> streams_;  // (launch, block, warp)
};

}  // namespace warplens::memory
