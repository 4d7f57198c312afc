// SPDX-License-Identifier: Apache-2.0
// What an atomic's lanes find in shared memory and make of it, for counting those that the GPU carries out as a loop
// (events::AtomicValues). Both executors show it, before the access, to whoever counts.
#pragma once
#include <array>
#include <utility>

#include "base/bits.h"
#include "exec/lane_memory.h"

namespace warplens::exec {

/// `operand(lane)`: the lane's first operand. Lives for one access; addresses as in events::WarpAccess.
template <typename Operand>
class LaneAtomicValues final : public events::AtomicValues {
 public:
  LaneAtomicValues(WarpContext& warp, const ptx::Instr& in, events::Space space, unsigned bytes,
                   const std::array<uint64_t, 32>& address, Operand operand)
      : warp_(warp), in_(in), space_(space), bytes_(bytes), address_(address), operand_(std::move(operand)) {}

  uint64_t before(unsigned lane) const override { return LaneMemory(warp_, lane).read(space_, address_[lane], bytes_); }
  uint64_t after(unsigned lane, uint64_t old) const override {
    return in_.def->reference.atomic(ptx::AtomicArgs{in_, old, operand_(lane), 0}) & low_bits(8 * bytes_);
  }
  bool skips_unchanged() const override { return in_.word("op") == "min" || in_.word("op") == "max"; }

 private:
  WarpContext& warp_;
  const ptx::Instr& in_;
  events::Space space_;
  unsigned bytes_;
  const std::array<uint64_t, 32>& address_;
  Operand operand_;
};

}  // namespace warplens::exec
