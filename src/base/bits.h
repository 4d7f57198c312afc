// SPDX-License-Identifier: Apache-2.0
// Small integer tools that several folders share.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

namespace warplens {

constexpr int kWarpSize = 32;
constexpr uint32_t kFullMask = 0xffffffffu;

constexpr uint64_t round_up(uint64_t v, uint64_t unit) { return (v + unit - 1) / unit * unit; }
constexpr bool is_power_of_two(uint64_t v) { return v != 0 && (v & (v - 1)) == 0; }
/// A mask of the lowest `n` bits, n in 0..64.
constexpr uint64_t low_bits(unsigned n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; }

/// Calls f(lane) for each set bit of `mask`, lowest first.
template <typename F>
constexpr void for_each_lane(uint32_t mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
}

}  // namespace warplens
