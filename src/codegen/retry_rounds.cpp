// SPDX-License-Identifier: Apache-2.0
#include "codegen/retry_rounds.h"

#include <algorithm>

#include "base/bits.h"

namespace warplens::codegen {
namespace {

using ByLane = std::array<uint8_t, 32>;

/// For each lane the first lane at its place.
ByLane first_at_places(uint32_t mask, const uint64_t* address) {
  std::array<uint8_t, 64> lane_of;  // open addressing
  constexpr uint8_t kNone = 32;
  lane_of.fill(kNone);
  ByLane first{};
  for_each_lane(mask, [&](int lane) {
    size_t at = address[lane] * 0x9e3779b97f4a7c15 >> 58;
    while (lane_of[at] != kNone && address[lane_of[at]] != address[lane]) at = (at + 1) % lane_of.size();
    if (lane_of[at] == kNone) lane_of[at] = static_cast<uint8_t>(lane);
    first[static_cast<size_t>(lane)] = lane_of[at];
  });
  return first;
}

bool meet_across_groups(uint32_t mask, const ByLane& first, unsigned group) {
  bool meet = false;
  for_each_lane(mask, [&](int lane) {
    meet = meet || first[static_cast<size_t>(lane)] / group != static_cast<unsigned>(lane) / group;
  });
  return meet;
}

/// What the lanes find at their places, each place kept by the first lane at it, and what they make of that.
class LoopMemory {
 public:
  LoopMemory(uint32_t mask, const ByLane& first, const events::AtomicValues* values) : values_(values), first_(first) {
    if (values == nullptr) return;
    for_each_lane(mask, [&](int lane) {
      const auto l = static_cast<unsigned>(lane);
      if (first[l] == l) now_[l] = values->before(l);
    });
  }
  uint64_t& operator[](int lane) { return now_[first_[static_cast<size_t>(lane)]]; }
  /// Asked for again while memory stays as it is: sums of floats are slow.
  uint64_t after(int lane, uint64_t old) {
    const auto l = static_cast<unsigned>(lane);
    if (values_ == nullptr) return old + 1;
    if (!(known_ >> l & 1) || of_[l] != old) {
      after_[l] = values_->after(l, old);
      of_[l] = old;
      known_ |= uint32_t{1} << l;
    }
    return after_[l];
  }

 private:
  const events::AtomicValues* values_;
  const ByLane& first_;
  std::array<uint64_t, 32> now_{}, of_, after_;
  uint32_t known_ = 0;
};

}  // namespace

RetryRounds::RetryRounds(uint32_t mask, const events::WarpAccess& access, unsigned bytes) : mask_(mask) {
  const uint64_t* offset = access.address->data();
  const unsigned group = bytes <= 4 ? 32 : 128 / bytes;
  const bool one_group = group == 32, skips = access.values != nullptr && access.values->skips_unchanged();
  const ByLane first = one_group && !skips ? ByLane{} : first_at_places(mask, offset);
  if (skips || (!one_group && meet_across_groups(mask, first, group)))
    by_values(offset, group, access.values, first);
  else
    by_banks(offset, group);
}

// A swap fails only when a lane of another group has changed the value in the same round: of the lanes of one group to
// one bank a single one swaps. So where groups do not meet, each lane has its turn on its bank.
void RetryRounds::by_banks(const uint64_t* offset, unsigned group) {
  std::array<uint32_t, 32> done{};
  for (unsigned first = 0; first < 32; first += group) {
    ByLane lanes_on{};
    for_each_lane(mask_ & static_cast<uint32_t>(low_bits(group) << first), [&](int lane) {
      const unsigned turn = lanes_on[offset[lane] / 4 % 32]++;
      done[turn] |= uint32_t{1} << lane;
      count_ = std::max(count_, turn + 1);
    });
  }
  uint32_t left = mask_;
  for (unsigned i = 0; i < count_; ++i) {
    rounds_[i] = {left, left};
    left &= ~done[i];
  }
}

void RetryRounds::by_values(const uint64_t* offset, unsigned group, const events::AtomicValues* values,
                            const ByLane& first) {
  const bool skips = values != nullptr && values->skips_unchanged();
  LoopMemory memory(mask_, first, values);
  for (uint32_t left = mask_; left != 0;) {
    std::array<uint64_t, 32> loaded;
    uint32_t swapping = left, done = 0;
    for_each_lane(left, [&](int lane) {
      loaded[static_cast<size_t>(lane)] = memory[lane];
      if (skips && memory.after(lane, memory[lane]) == memory[lane]) swapping &= ~(uint32_t{1} << lane);
    });
    for (unsigned begin = 0; begin < 32; begin += group) {
      uint32_t busy = 0;
      for_each_lane(swapping & static_cast<uint32_t>(low_bits(group) << begin), [&](int lane) {
        const uint32_t bank = uint32_t{1} << (offset[lane] / 4 % 32);
        if (busy & bank) return;
        busy |= bank;
        const uint64_t old = loaded[static_cast<size_t>(lane)];
        if (memory[lane] != old) return;
        memory[lane] = memory.after(lane, old);
        done |= uint32_t{1} << lane;
      });
    }
    rounds_[count_++] = {left, swapping};
    left = swapping & ~done;
  }
}

}  // namespace warplens::codegen
