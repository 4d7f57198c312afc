// SPDX-License-Identifier: Apache-2.0
// What a hook must know of a memory access: one constant in the generated code for each PTX memory instruction (and
// class of address), handed to the cold routines of exec/jit_memory_hooks.h. Plain 32-bit words, so that both sides
// agree on the layout without further ado.
#pragma once
#include <cstddef>
#include <cstdint>

namespace warplens::codegen {

struct AccessDescriptor {
  uint32_t pc = 0;             ///< instruction index in Function::body
  uint32_t site = 0;           ///< machine access; also the slot in WarpContext::ranges
  uint32_t counter_word = 0;   ///< first of the site's words in WarpContext::counters
  uint32_t space = 0;          ///< ptx::Space as written
  uint32_t access = 0;         ///< events::Access
  uint32_t element_bytes = 4;  ///< 1, 2, 4, 8, 16
  uint32_t elements = 1;       ///< vector length
  uint32_t extent = 0;  ///< bytes from the first to behind the last lane's, when that is a constant; else one lane's
  uint32_t flags = 0;
  uint32_t unused = 0;
  // With kParts the lanes' addresses are base + scale * steps[lane] + offsets[lane]; null: zeros.
  const int64_t* steps = nullptr;
  const int64_t* offsets = nullptr;

  enum Flag : uint32_t {
    kCosts = 1,     ///< load / store / atomic hooks: add sectors, lines, wavefronts and their ideals
    kRequests = 2,  ///< the same for requests and lanes
    kEvents = 4,    ///< tell the listeners
    kParts = 8,     ///< instead of 32 addresses the hook gets base and scale
    kNarrow = 16,   ///< kParts: addresses have 32 bits
    kWhole = 32,    ///< the access's form matters: the hook counts all of it (with kCosts), by the site
  };
  uint32_t bytes() const { return element_bytes * elements; }
};
constexpr size_t kDescriptorWords = offsetof(AccessDescriptor, steps) / sizeof(uint32_t);  ///< the rest are pointers

}  // namespace warplens::codegen
