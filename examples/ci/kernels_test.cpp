// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <gtest/gtest.h>

std::vector<float> numbers(int count) {
  std::vector<float> v;
  for (int i = 0; i < count; ++i) v.push_back(static_cast<float>(i % 1000));
  return v;
}

TEST(Kernels, scale_multiplies_every_element) {
  const std::vector<float> in = numbers(64 * 256), out = scaled(in, 64, 256, 3);
  for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], 3 * in[i]) << i;
}

TEST(Kernels, transpose_swaps_rows_and_columns) {
  const std::vector<float> in = numbers(128 * 128), out = transposed(in, 128);
  for (int y = 0; y < 128; ++y)
    for (int x = 0; x < 128; ++x) ASSERT_EQ(out[x * 128 + y], in[y * 128 + x]) << x << " " << y;
}
