// SPDX-License-Identifier: Apache-2.0
// What one warp access costs, quickly: the same rules as memory/coalescer.h (the oracle, which tests compare this
// with). Code generation evaluates it for lane patterns at compile time; the hooks of generated code use it for
// addresses that no closed form covers.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "codegen/lane_class.h"
#include "events/events.h"

namespace warplens::codegen {

struct AccessCost {
  uint32_t sectors = 0, lines = 0, wavefronts = 0;
  friend bool operator==(const AccessCost&, const AccessCost&) = default;
};

/// Of loads and stores. `address`: 32 device addresses (global) or offsets (shared, local); lanes outside `mask` are
/// not read. Parameter memory costs nothing here. Accesses are aligned to `bytes`.
AccessCost cost_of(events::Space space, events::Access access, unsigned bytes, uint32_t mask, const uint64_t* address);

/// min(actual, ceil(lanes * bytes / unit)).
inline uint32_t ideal_cost(uint32_t actual, unsigned lanes, unsigned bytes, unsigned unit) {
  const uint32_t wanted = (lanes * bytes + unit - 1) / unit;
  return actual < wanted ? actual : wanted;
}

/// Passes that a load of constants takes at least, all its lanes at one place (memory::count_constant_requests).
constexpr uint32_t passes_of_constant(unsigned bytes) { return bytes == 16 ? 4 : 1; }
/// The ideal of `wavefronts`.
inline uint32_t ideal_wavefronts(events::Space space, uint32_t wavefronts, unsigned lanes, unsigned bytes) {
  return space == events::Space::kConst ? passes_of_constant(bytes) : ideal_cost(wavefronts, lanes, bytes, 128);
}

/// What one access adds to its site's counts, whatever its form: memory::count_access.
events::SiteCounts counts_of(const events::WarpAccess& access, const events::AccessSite& site);
/// Of an atomic that has loads besides (events::has_loads): of its site and of that of the loads, whose rounds are the
/// same and worked out once.
std::pair<events::SiteCounts, events::SiteCounts> counts_with_loads(const events::WarpAccess& access,
                                                                    const events::AccessSite& site,
                                                                    const events::AccessSite& loads);

/// The cost with all lanes active, by phase of the base: entry p is for a base of p << granule_log2 modulo 128 bytes.
/// One entry alone: the phase does not matter.
std::vector<AccessCost> costs_by_phase(events::Space space, events::Access access, unsigned bytes,
                                       const Pattern& offsets, unsigned granule_log2);

}  // namespace warplens::codegen
