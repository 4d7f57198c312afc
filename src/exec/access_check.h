// SPDX-License-Identifier: Apache-2.0
// Checks that every executor makes before a warp touches memory, and the findings they lead to. One implementation, so
// that the interpreter and the slow paths of generated code say the same about the same lane.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "events/events.h"
#include "exec/warp_context.h"

namespace warplens::exec {

struct LoadedKernel;

/// One warp-level access about to happen. Addresses as in events::WarpAccess: device addresses (global, const), shared
/// offsets, the lane's own local offsets.
struct CheckedAccess {
  uint32_t pc = 0;
  uint32_t site = 0;  ///< which cached range to use and to update
  uint32_t mask = 0;
  unsigned bytes = 4;  ///< per lane
  events::Space space = events::Space::kGlobal;
  events::Access access = events::Access::kLoad;
  const std::array<uint64_t, 32>* address = nullptr;
};

/// Checks all lanes, lowest first; per lane: null pointer, alignment, bounds. Records the finding of the first lane
/// that fails, ends the launch and does not return then.
void check_access(WarpContext& warp, const CheckedAccess& access);

/// The lanes of `mask` by the space that their generic address lies in; the addresses of shared and local lanes are
/// made offsets in place. `cluster`: shared memory of a block that the address names (memory/address_space.h).
struct ResolvedLanes {
  uint32_t global = 0, shared = 0, local = 0, cluster = 0;
};
/// Those that are not empty, in the order of docs/divergence.md.
struct SpaceParts {
  std::array<std::pair<events::Space, uint32_t>, 4> parts{};
  size_t count = 0;
  auto begin() const { return parts.begin(); }
  auto end() const { return parts.begin() + count; }
};
SpaceParts parts_of(const ResolvedLanes& lanes);
/// events::WarpAccess::beside of the part in `space`.
uint32_t lanes_beside(const SpaceParts& parts, events::Space space);
/// Addresses of a cluster's shared memory: those that name the executing block are made offsets in its own.
void name_own_memory(const WarpContext& warp, events::Space space, uint32_t mask, std::array<uint64_t, 32>& address);
ResolvedLanes resolve_generic(const WarpContext& warp, uint32_t mask, std::array<uint64_t, 32>& address);

/// The kernel reads %reserved_smem_offset_*: it may use that part of shared memory (in program.cpp).
bool may_use_reserved_shared(const LoadedKernel& kernel);

/// A finding about one lane, with everything about where but nothing about what.
events::Finding finding_at(const WarpContext& warp, events::FindingKind kind, uint32_t pc, unsigned lane);
/// An aligned barrier that lanes `mask` of the warp execute while `others` of it run elsewhere.
void remark_divergent_barrier(WarpContext& warp, uint32_t pc, uint32_t mask, uint32_t others);
/// Records the finding and ends the warp for good.
[[noreturn]] void fail_warp(WarpContext& warp, events::Finding finding);

}  // namespace warplens::exec
