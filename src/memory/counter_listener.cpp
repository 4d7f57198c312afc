// SPDX-License-Identifier: Apache-2.0
#include "memory/counter_listener.h"

#include "base/check.h"
#include "memory/coalescer.h"

namespace warplens::memory {

void CounterListener::on_launch_begin(const events::LaunchInfo& launch) {
  kernel_ = launch.kernel;
  events::LaunchCounts empty;
  empty.sites.resize(kernel_->sites.size());
  empty.blocks.resize(kernel_->blocks.size());
  total_ = empty;
  per_worker_.assign(launch.workers, empty);
}

void CounterListener::on_access(unsigned worker, const events::WarpAccess& access) {
  WL_CHECK(access.site < kernel_->sites.size());
  count_access(per_worker_[worker].sites[access.site], access, kernel_->sites[access.site]);
}

void CounterListener::on_block_run(unsigned worker, const events::BlockRun& run) {
  events::BlockCounts& counts = per_worker_[worker].blocks[run.block_index];
  counts.warps += 1;
  counts.lanes += static_cast<unsigned>(std::popcount(run.mask));
}

void CounterListener::on_launch_end(const events::LaunchInfo&) {
  for (const events::LaunchCounts& part : per_worker_) {
    for (size_t i = 0; i < part.sites.size(); ++i) total_.sites[i] += part.sites[i];
    for (size_t i = 0; i < part.blocks.size(); ++i) total_.blocks[i] += part.blocks[i];
  }
  per_worker_.clear();
}

}  // namespace warplens::memory
