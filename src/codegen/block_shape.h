// SPDX-License-Identifier: Apache-2.0
// The class of block shapes that a kernel is compiled for. It decides what is known of %tid: with a width that is a
// multiple of 32 a warp is a piece of one row; with a width of 1, 2, 4, 8 or 16 it is several whole rows, if rows and
// planes do not begin inside a warp's row group. All other shapes are "general": %tid is a vector.
#pragma once
#include <cstdint>

#include "base/bits.h"

namespace warplens::codegen {

enum class BlockShape : uint8_t {
  kGeneral = 0,
  kWidth1 = 1,
  kWidth2 = 2,
  kWidth4 = 4,
  kWidth8 = 8,
  kWidth16 = 16,
  kRows = 32
};

/// Threads of one row, for the small widths.
constexpr unsigned width_of(BlockShape s) { return static_cast<unsigned>(s); }

constexpr BlockShape block_shape_of(uint32_t x, uint32_t y, uint32_t z) {
  if (x != 0 && x % 32 == 0) return BlockShape::kRows;
  if (!is_power_of_two(x) || x > 16) return BlockShape::kGeneral;
  // A warp holds 32 / x rows; with more than one plane they must not run over a plane's end.
  return z == 1 || y % (32 / x) == 0 ? static_cast<BlockShape>(x) : BlockShape::kGeneral;
}

}  // namespace warplens::codegen
