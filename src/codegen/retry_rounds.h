// SPDX-License-Identifier: Apache-2.0
// The rounds of an atomic that shared memory has no instruction for: a loop of a load and a compare and swap. Most
// depend on the addresses alone and are read off the lanes' turns on their banks; the others are gone through with
// the lanes' values. The rule, as sets and maps: memory::count_retries.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "events/events.h"

namespace warplens::codegen {

class RetryRounds {
 public:
  struct Round {
    uint32_t loading;   ///< lanes that are left
    uint32_t swapping;  ///< of those, lanes that try to swap
  };
  /// Lanes `mask` of `access`, of `bytes` each in the executing block's shared memory.
  RetryRounds(uint32_t mask, const events::WarpAccess& access, unsigned bytes);
  uint32_t mask() const { return mask_; }
  std::span<const Round> rounds() const { return {rounds_.data(), count_}; }

 private:
  void by_banks(const uint64_t* offset, unsigned group);
  void by_values(const uint64_t* offset, unsigned group, const events::AtomicValues* values,
                 const std::array<uint8_t, 32>& first);

  uint32_t mask_;
  unsigned count_ = 0;
  std::array<Round, 32> rounds_;  // in each at least one lane is done
};

}  // namespace warplens::codegen
