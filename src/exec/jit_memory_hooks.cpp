// SPDX-License-Identifier: Apache-2.0
// What generated code does not do inline: first touches of an allocation, faults, generic addresses outside global
// memory, lanes of local memory at different offsets, atomics, counts of addresses in no order, and events for
// listeners.
#include "exec/jit_memory_hooks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "base/bits.h"
#include "codegen/access_cost.h"
#include "codegen/access_descriptor.h"
#include "codegen/counter_layout.h"
#include "exec/access_check.h"
#include "exec/atomic_values.h"
#include "exec/emit_events.h"
#include "exec/executor.h"
#include "exec/lane_memory.h"

namespace warplens::exec {
namespace {

using codegen::AccessDescriptor;
using Addresses = std::array<uint64_t, 32>;

/// One access in flight; `address` is a copy, since generic addresses become offsets in place.
struct LaneAccess {
  WarpContext& warp;
  const AccessDescriptor& access;
  Addresses address;
};

events::Space space_of(const AccessDescriptor& d) {
  switch (static_cast<ptx::Space>(d.space)) {
    case ptx::Space::kShared: return events::Space::kShared;
    case ptx::Space::kSharedCluster: return events::Space::kSharedCluster;
    case ptx::Space::kLocal: return events::Space::kLocal;
    case ptx::Space::kConst: return events::Space::kConst;
    case ptx::Space::kParam: return events::Space::kParam;
    default: return events::Space::kGlobal;
  }
}

/// Brings the site's range into the form of generated code's compare: see exec::CachedRange.
void prepare_fast_path(CachedRange& range, const AccessDescriptor& d) {
  const uint64_t bytes = d.bytes();
  range.aligned_begin = round_up(range.begin, bytes);
  const uint64_t size = range.end > range.aligned_begin ? range.end - range.aligned_begin : 0;
  range.limit = size < d.extent ? 0 : ((size - d.extent) >> std::countr_zero(bytes)) + 1;
}

void check_lanes(LaneAccess& a, events::Space space, uint32_t mask) {
  const AccessDescriptor& d = a.access;
  check_access(a.warp, {d.pc, d.site, mask, d.bytes(), space, static_cast<events::Access>(d.access), &a.address});
  if (space == events::Space::kGlobal || space == events::Space::kConst) prepare_fast_path(a.warp.ranges[d.site], d);
}

bool is_generic(const AccessDescriptor& d) { return static_cast<ptx::Space>(d.space) == ptx::Space::kGeneric; }

/// The counters of the site that stands for lanes in `space`; in the order of events::SiteCounts.
uint64_t* words_of(const WarpContext& warp, const AccessDescriptor& d, events::Space space) {
  return warp.counters + d.counter_word + events::resolved_site(0, is_generic(d), space) * codegen::kWordsPerSite;
}

/// As generated code counts an access of its own.
void add_costs(const AccessDescriptor& d, uint64_t* words, events::Space space, uint32_t mask,
               const uint64_t* address) {
  const auto lanes = static_cast<unsigned>(std::popcount(mask));
  const auto access = static_cast<events::Access>(d.access);
  const codegen::AccessCost cost = codegen::cost_of(space, access, d.bytes(), mask, address);
  words[2] += cost.sectors;
  words[3] += cost.lines;
  words[4] += codegen::ideal_cost(cost.sectors, lanes, d.bytes(), 32);
  words[5] += cost.wavefronts;
  words[6] += codegen::ideal_wavefronts(space, cost.wavefronts, lanes, d.bytes());
}

/// Every count of an access whose form matters; and of its loads, which are a site of their own.
void count_whole(const LaneAccess& a, uint64_t* words, const events::WarpAccess& event) {
  const auto& sites = a.warp.launch->request->kernel->info.sites;
  const events::AccessSite& site = sites[event.site];
  const bool has_loads = events::has_loads(site);
  events::WarpAccess loads = event;
  if (has_loads) loads.site = events::loads_site(event.site, site);
  if (a.access.flags & AccessDescriptor::kEvents) {
    emit_access(a.warp, event);
    if (has_loads) emit_access(a.warp, loads);
  }
  if (!(a.access.flags & AccessDescriptor::kCosts)) return;
  if (!has_loads) return codegen::add_words(words, codegen::counts_of(event, site));
  const auto [own, of_loads] = codegen::counts_with_loads(event, site, sites[loads.site]);
  codegen::add_words(words, own);
  codegen::add_words(words + (loads.site - event.site) * codegen::kWordsPerSite, of_loads);
}

uint8_t* host_byte(const WarpContext& warp, events::Space space, uint64_t address, unsigned lane) {
  switch (space) {
    case events::Space::kShared:
    case events::Space::kSharedCluster: return shared_byte(warp, space, address);
    case events::Space::kLocal: return warp.local + local_byte(address, lane);
    default: return reinterpret_cast<uint8_t*>(address);  // device addresses are host addresses
  }
}

/// Calls f(memory, values, bytes) for each contiguous piece of one lane's access: words in local memory, else elements.
template <typename F>
void for_each_piece(LaneAccess& a, events::Space space, unsigned lane, uint8_t* values, F&& f) {
  const AccessDescriptor& d = a.access;
  const unsigned piece = space == events::Space::kLocal ? std::min(d.element_bytes, 4u) : d.element_bytes;
  for (unsigned e = 0; e < d.elements; ++e) {
    uint8_t* value = values + (size_t{e} * kWarpSize + lane) * d.element_bytes;
    for (unsigned at = 0; at < d.element_bytes; at += piece)
      f(host_byte(a.warp, space, a.address[lane] + e * d.element_bytes + at, lane), value + at, piece);
  }
}

template <typename T>
void load_as(const uint8_t* memory, uint8_t* value) {
  const T read = __atomic_load_n(reinterpret_cast<const T*>(memory), __ATOMIC_ACQUIRE);
  std::memcpy(value, &read, sizeof read);
}
template <typename T>
void store_as(uint8_t* memory, const uint8_t* value) {
  T written;
  std::memcpy(&written, value, sizeof written);
  __atomic_store_n(reinterpret_cast<T*>(memory), written, __ATOMIC_RELEASE);
}

/// Other workers may use the same word of global memory at the same time (exec/lane_memory.h); checked: aligned.
void load_piece(events::Space space, const uint8_t* memory, uint8_t* value, unsigned bytes) {
  if (space != events::Space::kGlobal) {
    std::memcpy(value, memory, bytes);
    return;
  }
  switch (bytes) {
    case 1: return load_as<uint8_t>(memory, value);
    case 2: return load_as<uint16_t>(memory, value);
    case 4: return load_as<uint32_t>(memory, value);
    default:
      for (unsigned at = 0; at < bytes; at += 8) load_as<uint64_t>(memory + at, value + at);
  }
}
void store_piece(events::Space space, uint8_t* memory, const uint8_t* value, unsigned bytes) {
  if (space != events::Space::kGlobal) {
    std::memcpy(memory, value, bytes);
    return;
  }
  switch (bytes) {
    case 1: return store_as<uint8_t>(memory, value);
    case 2: return store_as<uint16_t>(memory, value);
    case 4: return store_as<uint32_t>(memory, value);
    default:
      for (unsigned at = 0; at < bytes; at += 8) store_as<uint64_t>(memory + at, value + at);
  }
}

bool moves_16_bytes(const LaneAccess& a, events::Space space) {
  return space == events::Space::kGlobal && a.access.elements > 1 && a.access.bytes() == 16;
}

/// Calls f(element in the whole, element in the values, its bytes).
template <typename F>
void for_each_element(const LaneAccess& a, unsigned lane, uint8_t* values, Bytes16& whole, F&& f) {
  const unsigned bytes = a.access.element_bytes;
  for (unsigned e = 0; e < a.access.elements; ++e)
    f(whole.bytes + size_t{e} * bytes, values + (size_t{e} * kWarpSize + lane) * bytes, bytes);
}

uint64_t read_value(const void* values, unsigned lane, unsigned bytes) {
  uint64_t v = 0;
  if (values != nullptr) std::memcpy(&v, static_cast<const uint8_t*>(values) + size_t{lane} * bytes, bytes);
  return v;
}

/// Runs `move(space, lanes)` for each space that the lanes are in, after check, event and count. `operand`: an atomic's
/// first, 32 of the element's width.
template <typename F>
void for_each_space(LaneAccess& a, uint32_t mask, F&& move, const void* operand = nullptr) {
  SpaceParts used{{{{space_of(a.access), mask}}}, 1};
  if (is_generic(a.access))
    used = parts_of(resolve_generic(a.warp, mask, a.address));
  else
    name_own_memory(a.warp, space_of(a.access), mask, a.address);
  for (const auto& [space, lanes] : used) check_lanes(a, space, lanes);
  for (const auto& [space, lanes] : used) {
    const uint32_t site = events::resolved_site(a.access.site, is_generic(a.access), space);
    uint64_t* words = words_of(a.warp, a.access, space);
    // What a generic address turns out to name in a cluster costs by whose memory it is.
    if ((a.access.flags & AccessDescriptor::kWhole) || space == events::Space::kSharedCluster) {
      events::WarpAccess event{site, lanes, a.warp.block, a.warp.warp, space, &a.address};
      event.beside = lanes_beside(used, space);
      const LoadedKernel& kernel = *a.warp.launch->request->kernel;
      const LaneAtomicValues values(a.warp, kernel.function->body[a.access.pc], space, a.access.element_bytes,
                                    a.address,
                                    [&](unsigned lane) { return read_value(operand, lane, a.access.element_bytes); });
      if (operand != nullptr && kernel.info.sites[site].form == events::Form::kRetried) event.values = &values;
      count_whole(a, words, event);
      continue;
    }
    if (a.access.flags & AccessDescriptor::kEvents) emit_access(a.warp, site, lanes, space, a.address);
    if (a.access.flags & AccessDescriptor::kRequests) {
      words[0] += 1;
      words[1] += static_cast<unsigned>(std::popcount(lanes));
    }
    if (a.access.flags & AccessDescriptor::kCosts) add_costs(a.access, words, space, lanes, a.address.data());
  }
  for (const auto& [space, lanes] : used) move(space, lanes);
}

/// The lanes' addresses from base and scale, in loops that compilers turn into vectors.
void join_parts(const AccessDescriptor& d, const uint64_t* parts, Addresses& address) {
  const uint64_t width = d.flags & AccessDescriptor::kNarrow ? 0xffffffff : ~uint64_t{0};
  address.fill(parts[0]);
  if (d.steps != nullptr)
    for (size_t lane = 0; lane < address.size(); ++lane)
      address[lane] += parts[1] * static_cast<uint64_t>(d.steps[lane]);
  if (d.offsets != nullptr)
    for (size_t lane = 0; lane < address.size(); ++lane) address[lane] += static_cast<uint64_t>(d.offsets[lane]);
  for (uint64_t& at : address) at &= width;
}

LaneAccess lane_access(void* warp, void* access, void* address) {
  LaneAccess a{*static_cast<WarpContext*>(warp), *static_cast<const AccessDescriptor*>(access), {}};
  if (a.access.flags & AccessDescriptor::kParts)
    join_parts(a.access, static_cast<const uint64_t*>(address), a.address);
  else
    std::memcpy(a.address.data(), address, sizeof a.address);
  return a;
}

void atomic_lane(LaneAccess& a, events::Space space, unsigned lane, const void* first, const void* second, void* out) {
  const unsigned bytes = a.access.element_bytes;
  const ptx::Instr& instr = a.warp.launch->request->kernel->function->body[a.access.pc];
  const uint64_t x = read_value(first, lane, bytes), y = read_value(second, lane, bytes);
  const uint64_t old = LaneMemory(a.warp, lane).update(space, a.address[lane], bytes, instr, x, y);
  std::memcpy(static_cast<uint8_t*>(out) + size_t{lane} * bytes, &old, bytes);
}

}  // namespace
}  // namespace warplens::exec

using namespace warplens;        // NOLINT: the hooks are the whole of what follows
using namespace warplens::exec;  // NOLINT

void wl_check_lanes(void* warp, void* access, uint32_t mask, void* address) {
  LaneAccess a = lane_access(warp, access, address);
  check_lanes(a, space_of(a.access), mask);
}

void wl_load_lanes(void* warp, void* access, uint32_t mask, void* address, void* values) {
  LaneAccess a = lane_access(warp, access, address);
  for_each_space(a, mask, [&](events::Space space, uint32_t lanes) {
    for_each_lane(lanes, [&](int l) {
      const auto lane = static_cast<unsigned>(l);
      auto* const to = static_cast<uint8_t*>(values);
      if (!moves_16_bytes(a, space))
        return for_each_piece(a, space, lane, to, [&](uint8_t* memory, uint8_t* value, unsigned bytes) {
          load_piece(space, memory, value, bytes);
        });
      Bytes16 whole = load_16_bytes(reinterpret_cast<const void*>(a.address[lane]));
      for_each_element(a, lane, to, whole,
                       [](uint8_t* element, uint8_t* value, unsigned bytes) { std::memcpy(value, element, bytes); });
    });
  });
}

void wl_store_lanes(void* warp, void* access, uint32_t mask, void* address, void* values) {
  LaneAccess a = lane_access(warp, access, address);
  for_each_space(a, mask, [&](events::Space space, uint32_t lanes) {
    for_each_lane(lanes, [&](int l) {
      const auto lane = static_cast<unsigned>(l);
      auto* const from = static_cast<uint8_t*>(values);
      if (!moves_16_bytes(a, space))
        return for_each_piece(a, space, lane, from, [&](uint8_t* memory, uint8_t* value, unsigned bytes) {
          store_piece(space, memory, value, bytes);
        });
      Bytes16 whole;
      for_each_element(a, lane, from, whole,
                       [](uint8_t* element, uint8_t* value, unsigned bytes) { std::memcpy(element, value, bytes); });
      store_16_bytes(reinterpret_cast<void*>(a.address[lane]), whole);
    });
  });
}

void wl_atomic_lanes(void* warp, void* access, uint32_t mask, void* address, void* first, void* second, void* old) {
  LaneAccess a = lane_access(warp, access, address);
  for_each_space(
      a, mask,
      [&](events::Space space, uint32_t lanes) {
        for_each_lane(lanes, [&](int lane) { atomic_lane(a, space, static_cast<unsigned>(lane), first, second, old); });
      },
      first);
}

void wl_count_lanes(void* warp, void* access, uint32_t mask, void* address) {
  const auto& d = *static_cast<const AccessDescriptor*>(access);
  Addresses joined;
  const auto* lanes = static_cast<const uint64_t*>(address);
  if (d.flags & AccessDescriptor::kParts) {
    join_parts(d, lanes, joined);
    lanes = joined.data();
  }
  const events::Space space = space_of(d);
  add_costs(d, words_of(*static_cast<WarpContext*>(warp), d, space), space, mask, lanes);
}
