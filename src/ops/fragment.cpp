// SPDX-License-Identifier: Apache-2.0
#include "ops/fragment.h"

#include <algorithm>

namespace warplens::ops {

Shape shape_named(std::string_view word) {
  unsigned values[3] = {0, 0, 0};
  int which = -1;
  for (const char c : word) {
    if (c < '0' || c > '9') {
      which = std::min(which + 1, 2);
      continue;
    }
    if (which >= 0) values[which] = values[which] * 10 + static_cast<unsigned>(c - '0');
  }
  return {values[0], values[1], values[2]};
}

unsigned element_bits(std::string_view type) {
  if (type == "f64") return 64;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "e4m3" || type == "e5m2" || type == "u8" || type == "s8") return 8;
  if (type == "u4" || type == "s4") return 4;
  return type == "b1" ? 1 : 32;
}

Fragment::Fragment(unsigned rows, unsigned columns, std::string_view type, bool accumulator)
    : rows_(rows),
      columns_(columns),
      bits_(element_bits(type)),
      pack_(bits_ == 64 ? 1 : 32 / bits_),
      accumulator_(accumulator) {}

Place Fragment::at(unsigned reg, unsigned lane, unsigned element) const {
  const unsigned g = lane / 4, t = lane % 4, groups = rows_ / 8;
  reg %= std::max(1u, registers());
  if (!accumulator_) {
    // Registers go down the groups of rows first, then along k, four packs at a time.
    return {reg % groups * 8 + g, reg / groups * 4 * pack_ + t * pack_ + element};
  }
  // Pairs of columns: one register of f16, two of the wider types.
  const unsigned in_pair = pack_ == 2 ? element : reg % 2, pair = pack_ == 2 ? reg : reg / 2;
  return {pair % groups * 8 + g, pair / groups * 8 + t * 2 + in_pair};
}

}  // namespace warplens::ops
