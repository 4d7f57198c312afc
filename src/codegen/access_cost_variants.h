// SPDX-License-Identifier: Apache-2.0
// The forms of cost_of (access_cost.h) for different machines, by name, so that tests compare each with the oracle.
// All take 32 addresses of one space. The vector forms ask that no two active lanes' addresses are 128 GiB or more
// apart (device memory is one arena smaller than that), so that sectors have 32-bit names.
#pragma once
#include <string_view>
#include <vector>

#include "codegen/access_cost.h"

namespace warplens::codegen {

using CostFunction = AccessCost (*)(events::Space, events::Access, unsigned bytes, uint32_t mask, const uint64_t*);

struct CostVariant {
  std::string_view name;
  CostFunction cost;
};

/// Those that this machine can run, the slowest (and plainest) first.
std::vector<CostVariant> cost_variants();

AccessCost portable_cost(events::Space space, events::Access access, unsigned bytes, uint32_t mask,
                         const uint64_t* address);
#if defined(__x86_64__)
AccessCost cost_by_sorting(events::Space space, events::Access access, unsigned bytes, uint32_t mask,
                           const uint64_t* address);
AccessCost cost_by_intersection(events::Space space, events::Access access, unsigned bytes, uint32_t mask,
                                const uint64_t* address);
#endif

}  // namespace warplens::codegen
