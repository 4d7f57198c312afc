// SPDX-License-Identifier: Apache-2.0
// The cold halves of memory accesses in generated code (codegen/runtime_hooks.def). Arguments as raw pointers, since
// the caller is generated:
//   warp     WarpContext
//   access   const codegen::AccessDescriptor
//   mask     active lanes, never none
//   address  uint64_t[32]: device or generic address, or offset; lanes outside the mask hold anything. With kParts:
//   base
//            and scale only
//   values   element by element, each 32 lanes of the element's width
#pragma once
#include <cstdint>

extern "C" {
/// Checks the lanes; ends the warp when one may not access. The site's range is ready for the fast path afterwards.
void wl_check_lanes(void* warp, void* access, uint32_t mask, void* address);
/// Check, event and count as the descriptor asks, then load into / store from / combine lane by lane.
void wl_load_lanes(void* warp, void* access, uint32_t mask, void* address, void* values);
void wl_store_lanes(void* warp, void* access, uint32_t mask, void* address, void* values);
/// `a`, `b` (may be null): operands; `old` receives memory's values before each lane's turn, in lane order.
void wl_atomic_lanes(void* warp, void* access, uint32_t mask, void* address, void* a, void* b, void* old);
/// Adds sectors, lines, wavefronts and their ideals, not requests and lanes.
void wl_count_lanes(void* warp, void* access, uint32_t mask, void* address);
void wl_warp_memory(void* warp, uint32_t pc, uint32_t mask, void* inputs, void* outputs, void* addresses);
}
