// SPDX-License-Identifier: Apache-2.0
// Hands an event to the listeners that asked for its kind. Executors call these only where LaunchState::interest has
// the bit.
#pragma once
#include "events/events.h"
#include "exec/executor.h"

namespace warplens::exec {

template <typename F>
void for_each_listener(const LaunchState& launch, events::Interest interest, F&& f) {
  const auto& listeners = launch.request->listeners;
  for (size_t i = 0; i < listeners.size(); ++i)
    if (launch.interests[i] & interest) f(*listeners[i]);
}

inline void emit_access(const WarpContext& warp, const events::WarpAccess& access) {
  for_each_listener(*warp.launch, events::kAccesses, [&](events::Listener& l) { l.on_access(warp.worker, access); });
}

inline void emit_access(const WarpContext& warp, uint32_t site, uint32_t mask, events::Space space,
                        const std::array<uint64_t, 32>& address) {
  emit_access(warp, {site, mask, warp.block, warp.warp, space, &address});
}

inline void emit_block_run(const WarpContext& warp, uint32_t block_index, uint32_t mask) {
  const events::BlockRun run{block_index, mask, warp.block, warp.warp};
  for_each_listener(*warp.launch, events::kBlocks, [&](events::Listener& l) { l.on_block_run(warp.worker, run); });
}

inline void emit_barrier(const WarpContext& warp, uint32_t pc, uint32_t barrier, uint32_t mask) {
  const events::BarrierArrive arrive{pc, barrier, mask, warp.block, warp.warp};
  for_each_listener(*warp.launch, events::kBarriers, [&](events::Listener& l) { l.on_barrier(warp.worker, arrive); });
}

}  // namespace warplens::exec
