// SPDX-License-Identifier: Apache-2.0
// Listener 1: counts every access and block run by the slow, obvious rules. Its result must equal the counts that
// generated code accumulates by closed forms; tests compare the two.
#pragma once
#include <vector>

#include "events/events.h"

namespace warplens::memory {

class CounterListener : public events::Listener {
 public:
  uint32_t interest() const override { return events::kLaunches | events::kAccesses | events::kBlocks; }
  void on_launch_begin(const events::LaunchInfo& launch) override;
  void on_access(unsigned worker, const events::WarpAccess& access) override;
  void on_block_run(unsigned worker, const events::BlockRun& run) override;
  void on_launch_end(const events::LaunchInfo& launch) override;
  /// Counts of the last finished launch.
  const events::LaunchCounts& counts() const { return total_; }

 private:
  const events::KernelInfo* kernel_ = nullptr;
  std::vector<events::LaunchCounts> per_worker_;
  events::LaunchCounts total_;
};

}  // namespace warplens::memory
