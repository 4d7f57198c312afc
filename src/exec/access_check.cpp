// SPDX-License-Identifier: Apache-2.0
#include "exec/access_check.h"

#include <fmt/format.h>

#include <optional>

#include "base/bits.h"
#include "base/check.h"
#include "exec/executor.h"
#include "memory/address_space.h"

namespace warplens::exec {
namespace {

using events::FindingKind;
using events::Space;

/// Addresses below this are null pointers plus an index or a member's offset.
constexpr uint64_t kNullPage = 4096;

std::string_view verb_of(events::Access access) {
  switch (access) {
    case events::Access::kLoad: return "reads";
    case events::Access::kStore: return "writes";
    case events::Access::kReduction:
    case events::Access::kAtomic: return "updates";
  }
  return "?";
}

/// "16 bytes past the end of the 4096-byte allocation"
std::string where_from_allocations(const memory::Arena& arena, uint64_t address) {
  if (const auto freed = arena.freed_at(address))
    return fmt::format("{} bytes into an allocation of {} bytes that was freed", address - freed->base, freed->bytes);
  if (!arena.contains(address)) return "where no allocation can be";
  const auto below = arena.nearest_below(address);
  if (!below) return "before the first allocation";
  const std::string name = below->label.empty() ? "" : fmt::format(" of '{}'", below->label);
  // (An access may also begin inside and end behind it.)
  if (address < below->base + below->bytes)
    return fmt::format("across the end{} of an allocation of {} bytes", below->base + below->bytes - address, name,
                       below->bytes);
  return fmt::format("{} bytes past the end{} of an allocation of {} bytes", address - (below->base + below->bytes),
                     name, below->bytes);
}

struct Fault {
  FindingKind kind;
  std::string where;
};

std::optional<Fault> global_fault(WarpContext& warp, const CheckedAccess& a, uint64_t address) {
  if (address < kNullPage) return Fault{FindingKind::kNullPointer, "through a null pointer"};
  if (address % a.bytes != 0)
    return Fault{FindingKind::kMisaligned, fmt::format("at {:#x}, which is not a multiple of {}", address, a.bytes)};
  CachedRange& range = warp.ranges[a.site];
  if (address >= range.begin && address < range.end && a.bytes <= range.end - address) return std::nullopt;
  const memory::Arena& arena = *warp.launch->arena;
  const auto allocation = arena.find(address);
  if (!allocation || address + a.bytes > allocation->base + allocation->bytes)
    return Fault{FindingKind::kOutOfBounds,
                 fmt::format("at {:#x}, {}", address, where_from_allocations(arena, address))};
  range = {allocation->base, allocation->base + allocation->bytes};
  return std::nullopt;
}

std::optional<Fault> shared_fault(const WarpContext& warp, const CheckedAccess& a, uint64_t offset) {
  if (offset == 0) return Fault{FindingKind::kNullPointer, "through a null pointer into shared memory"};
  if (offset % a.bytes != 0)
    return Fault{FindingKind::kMisaligned,
                 fmt::format("at shared offset {:#x}, which is not a multiple of {}", offset, a.bytes)};
  const bool inside = offset < warp.shared_end && a.bytes <= warp.shared_end - offset;
  if (offset >= memory::kSharedReservedBytes && inside) return std::nullopt;
  const bool in_reserved = offset >= memory::kSharedReservedForCode && offset + a.bytes <= memory::kSharedReservedBytes;
  if (in_reserved && may_use_reserved_shared(*warp.launch->request->kernel)) return std::nullopt;
  const uint64_t first = memory::kSharedReservedBytes;
  if (offset < first)
    return Fault{FindingKind::kOutOfBounds, fmt::format("{} bytes before the block's shared memory", first - offset)};
  const uint64_t size = warp.shared_end - first;
  return Fault{FindingKind::kOutOfBounds,
               fmt::format("at offset {} in the block's {} bytes of shared memory", offset - first, size)};
}

/// All blocks of a launch have equally much shared memory. That of a block which has ended is gone: an H200 may end
/// the launch with "unspecified launch failure".
std::optional<Fault> cluster_fault(const WarpContext& warp, const CheckedAccess& a, uint64_t address) {
  const uint64_t named = address >> memory::kClusterRankShift;
  if (named > warp.cluster_size && address % a.bytes == 0)
    return Fault{FindingKind::kOutOfBounds,
                 fmt::format("in shared memory of block {} of a cluster of {}", named - 1, warp.cluster_size)};
  if (named != 0 && named <= warp.cluster_size && warp.cluster_ended[named - 1] != 0)
    return Fault{FindingKind::kOutOfBounds,
                 fmt::format("in shared memory of block {} of the cluster, which has ended", named - 1)};
  return shared_fault(warp, a, address & memory::kClusterOffsetMask);
}

std::optional<Fault> local_fault(const WarpContext& warp, const CheckedAccess& a, uint64_t offset) {
  if (offset % a.bytes != 0)
    return Fault{FindingKind::kMisaligned,
                 fmt::format("at local offset {:#x}, which is not a multiple of {}", offset, a.bytes)};
  if (offset < warp.local_end && a.bytes <= warp.local_end - offset) return std::nullopt;
  return Fault{FindingKind::kOutOfBounds,
               fmt::format("at offset {} in the thread's {} bytes of local memory", offset, warp.local_end)};
}

std::optional<Fault> fault_of(WarpContext& warp, const CheckedAccess& a, uint64_t address) {
  switch (a.space) {
    case Space::kShared: return shared_fault(warp, a, address);
    case Space::kSharedCluster: return cluster_fault(warp, a, address);
    case Space::kLocal: return local_fault(warp, a, address);
    case Space::kGlobal:
    case Space::kConst: return global_fault(warp, a, address);
    case Space::kParam: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

events::Finding finding_at(const WarpContext& warp, FindingKind kind, uint32_t pc, unsigned lane) {
  const events::KernelInfo& info = *warp.launch->info.kernel;
  events::Finding f;
  f.kind = kind;
  f.kernel = info.name;
  f.pc = pc;
  if (pc < info.pcs.size()) f.place = info.pcs[pc].user_place;
  if (f.place.file < info.files.size()) f.file = info.files[f.place.file];
  f.block = warp.block;
  f.block_index = {warp.ctaid[0], warp.ctaid[1], warp.ctaid[2]};
  f.thread_index = {warp.tid_x[lane], warp.tid_y[lane], warp.tid_z[lane]};
  f.lane = lane;
  return f;
}

void remark_divergent_barrier(WarpContext& warp, uint32_t pc, uint32_t mask, uint32_t others) {
  if (warp.launch->has_remark(pc)) return;  // before its text is made: every warp may come here
  events::Finding f =
      finding_at(warp, FindingKind::kDivergentBarrier, pc, static_cast<unsigned>(std::countr_zero(mask)));
  f.message =
      fmt::format("executes an aligned barrier with {} of its warp's {} running threads, and the others are elsewhere",
                  std::popcount(mask), std::popcount(mask | others));
  warp.launch->remark(std::move(f));
}

void fail_warp(WarpContext& warp, events::Finding finding) {
  warp.launch->fail(std::move(finding));
  abandon_warp(warp);
}

namespace {

/// Builds the finding and hands it over; returns so that nothing it owns is alive when the warp is abandoned.
void record(WarpContext& warp, const CheckedAccess& a, unsigned lane, const Fault& fault) {
  events::Finding f = finding_at(warp, fault.kind, a.pc, lane);
  f.address = (*a.address)[lane];
  f.bytes = a.bytes;
  f.message = fmt::format("{} {} {} {}", verb_of(a.access), a.bytes, a.bytes == 1 ? "byte" : "bytes", fault.where);
  const auto& sites = warp.launch->info.kernel->sites;
  if (a.site < sites.size() && !sites[a.site].parameter.empty())
    f.message += fmt::format(" (address from parameter {})", sites[a.site].parameter);
  warp.launch->fail(std::move(f));
}

/// Index of the first lane that fails, after recording it; 32: all is well.
unsigned first_bad_lane(WarpContext& warp, const CheckedAccess& a) {
  for (uint32_t mask = a.mask; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(mask));
    if (const auto fault = fault_of(warp, a, (*a.address)[lane])) {
      record(warp, a, lane, *fault);
      return lane;
    }
  }
  return 32;
}

}  // namespace

void check_access(WarpContext& warp, const CheckedAccess& access) {
  if (first_bad_lane(warp, access) != 32) abandon_warp(warp);
}

namespace {

/// An address that names the executing block's own memory by its rank is plain.
uint64_t own_offset(const WarpContext& warp, uint64_t address) {
  const bool own = address >> memory::kClusterRankShift == warp.cluster_rank + uint64_t{1};
  return own ? address & memory::kClusterOffsetMask : address;
}

}  // namespace

void name_own_memory(const WarpContext& warp, events::Space space, uint32_t mask, std::array<uint64_t, 32>& address) {
  if (space != Space::kSharedCluster) return;
  for_each_lane(mask, [&](int lane) {
    uint64_t& at = address[static_cast<size_t>(lane)];
    at = own_offset(warp, at);
  });
}

ResolvedLanes resolve_generic(const WarpContext& warp, uint32_t mask, std::array<uint64_t, 32>& address) {
  ResolvedLanes lanes;
  for_each_lane(mask, [&](int lane) {
    uint64_t& at = address[static_cast<size_t>(lane)];
    const uint32_t bit = uint32_t{1} << lane;
    if (at - warp.shared_window < memory::kWindowBytes) {
      at = own_offset(warp, at - warp.shared_window);
      (at >> memory::kClusterRankShift == 0 ? lanes.shared : lanes.cluster) |= bit;
    } else if (at - warp.local_window < memory::kWindowBytes) {
      lanes.local |= bit;
      at -= warp.local_window;
    } else {
      lanes.global |= bit;
    }
  });
  return lanes;
}

SpaceParts parts_of(const ResolvedLanes& lanes) {
  SpaceParts out;
  const std::pair<Space, uint32_t> all[] = {{Space::kGlobal, lanes.global},
                                            {Space::kShared, lanes.shared},
                                            {Space::kSharedCluster, lanes.cluster},
                                            {Space::kLocal, lanes.local}};
  for (const auto& part : all)
    if (part.second != 0) out.parts[out.count++] = part;
  return out;
}

uint32_t lanes_beside(const SpaceParts& parts, events::Space space) {
  uint32_t lanes = 0;
  for (const auto& [other, mask] : parts) {
    const bool own = other == Space::kShared && space != Space::kShared;
    if (own || (other == Space::kSharedCluster && space == Space::kGlobal)) lanes |= mask;
  }
  return lanes;
}

}  // namespace warplens::exec
