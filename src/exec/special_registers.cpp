// SPDX-License-Identifier: Apache-2.0
#include "exec/special_registers.h"

#include <chrono>

#include "base/bits.h"
#include "exec/executor.h"
#include "memory/address_space.h"

namespace warplens::exec {
namespace {

/// Time moves on so that code that waits by the clock ends; it says nothing about a GPU's speed.
uint64_t nanoseconds() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

uint64_t linear(const uint32_t (&i)[3], const uint32_t (&n)[3]) {
  return i[0] + uint64_t{n[0]} * (i[1] + uint64_t{n[1]} * i[2]);
}

/// Names in groups of three: x, y, z.
uint64_t component(const uint32_t (&v)[3], ptx::SpecialReg which, ptx::SpecialReg first) {
  return v[static_cast<int>(which) - static_cast<int>(first)];
}

/// %envreg1 and %envreg2 hold the two halves of the grid barrier's address (read off the PTX that nvcc 13.0 makes of a
/// cooperative_groups grid sync); the others are 0.
uint64_t environment_register(const LaunchRequest& request, uint32_t index) {
  if (index == 1) return request.grid_workspace >> 32;
  return index == 2 ? request.grid_workspace & 0xffffffff : 0;
}

/// Indices: 100 begin, 101 end, 102 cap (size); 0, 1: what the two users of the region have, half of it each.
uint64_t reserved_shared(uint32_t index) {
  constexpr uint32_t kBegin = memory::kSharedReservedForCode, kEnd = memory::kSharedReservedBytes;
  if (index == 101) return kEnd;
  if (index == 102) return kEnd - kBegin;
  return index == 1 ? kBegin + (kEnd - kBegin) / 2 : kBegin;
}

}  // namespace

uint64_t special_register(const WarpContext& w, ptx::SpecialReg which, uint32_t index, unsigned lane) {
  using S = ptx::SpecialReg;
  const uint32_t bit = uint32_t{1} << lane;
  const uint64_t threads = uint64_t{w.ntid[0]} * w.ntid[1] * w.ntid[2];
  switch (which) {
    case S::kTidX: return w.tid_x[lane];
    case S::kTidY: return w.tid_y[lane];
    case S::kTidZ: return w.tid_z[lane];
    case S::kNtidX:
    case S::kNtidY:
    case S::kNtidZ: return component(w.ntid, which, S::kNtidX);
    case S::kCtaidX:
    case S::kCtaidY:
    case S::kCtaidZ: return component(w.ctaid, which, S::kCtaidX);
    case S::kNctaidX:
    case S::kNctaidY:
    case S::kNctaidZ: return component(w.nctaid, which, S::kNctaidX);
    case S::kLaneid: return lane;
    case S::kWarpid: return w.warp;
    case S::kNwarpid: return (threads + 31) / 32;
    case S::kSmid: return w.worker;
    case S::kNsmid: return w.launch->info.workers;
    case S::kGridid: return w.launch->info.id;
    case S::kLanemaskEq: return bit;
    case S::kLanemaskLe: return bit | (bit - 1);
    case S::kLanemaskLt: return bit - 1;
    case S::kLanemaskGe: return ~(bit - 1);
    case S::kLanemaskGt: return ~(bit | (bit - 1));
    case S::kClock: return nanoseconds() & 0xffffffff;
    case S::kClockHi: return nanoseconds() >> 32;
    case S::kClock64:
    case S::kGlobaltimer: return nanoseconds();
    case S::kGlobaltimerLo: return nanoseconds() & 0xffffffff;
    case S::kGlobaltimerHi: return nanoseconds() >> 32;
    case S::kClusteridX:
    case S::kClusteridY:
    case S::kClusteridZ: return component(w.clusterid, which, S::kClusteridX);
    case S::kNclusteridX:
    case S::kNclusteridY:
    case S::kNclusteridZ: return component(w.nclusterid, which, S::kNclusteridX);
    case S::kClusterCtaidX:
    case S::kClusterCtaidY:
    case S::kClusterCtaidZ: return component(w.cluster_ctaid, which, S::kClusterCtaidX);
    case S::kClusterNctaidX:
    case S::kClusterNctaidY:
    case S::kClusterNctaidZ: return component(w.cluster_nctaid, which, S::kClusterNctaidX);
    case S::kClusterCtarank: return linear(w.cluster_ctaid, w.cluster_nctaid);
    case S::kClusterNctarank: return uint64_t{w.cluster_nctaid[0]} * w.cluster_nctaid[1] * w.cluster_nctaid[2];
    case S::kIsExplicitCluster: return w.launch->request->cluster.count() > 1;
    case S::kDynamicSmemSize: return w.launch->info.dynamic_shared_bytes;
    case S::kTotalSmemSize:
    case S::kAggrSmemSize: return w.launch->info.static_shared_bytes + w.launch->info.dynamic_shared_bytes;
    case S::kEnvreg: return environment_register(*w.launch->request, index);
    case S::kReservedSmemOffset: return reserved_shared(index);
    case S::kCurrentGraphExec: return 0;
  }
  return 0;
}

}  // namespace warplens::exec
