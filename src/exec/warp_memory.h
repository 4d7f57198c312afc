// SPDX-License-Identifier: Apache-2.0
// Runs the instructions that touch memory for the whole warp at once (Role::kWarpMemory: cp.async, ldmatrix, wmma.load,
// mbarrier ...) by their rows' references, for both executors: each request is resolved, checked, counted and reported
// here, as if it were that of a ld or st.
#pragma once
#include <cstdint>
#include <span>

#include "events/events.h"
#include "exec/warp_context.h"
#include "ptx/module.h"

namespace warplens::exec {

/// How an executor counts a request; null pointers count nothing.
class RequestCounter {
 public:
  virtual ~RequestCounter() = default;
  virtual void count(const events::WarpAccess& request, const events::AccessSite& site) = 0;
};

struct WarpMemoryCall {
  uint32_t pc = 0;
  uint32_t mask = 0;
  std::span<const ptx::LaneBits> in;
  std::span<ptx::LaneBits> out;
  std::span<const ptx::LaneBits> addresses;
};

/// Does not return when a check fails.
void run_warp_memory(WarpContext& warp, const WarpMemoryCall& call, RequestCounter* counter);

}  // namespace warplens::exec
