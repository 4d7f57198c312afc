// SPDX-License-Identifier: Apache-2.0
// Compiled kernels as bytes: what was encoded is decoded, and no other bytes do harm.
#include "codegen/stored_kernel.h"

#include <gtest/gtest.h>

namespace warplens::codegen {
namespace {

StoredKernel example() {
  StoredKernel k;
  k.layout = {5, 3};
  k.frame_bytes = 1234;
  k.constants.push_back({2, 4, {1, 2, 3, 4, 5, 6, 7, 8, 9}, ConstantCost::Per::kFullRun});
  k.constants.push_back({0, 0, {}, ConstantCost::Per::kRun});
  k.object = {9, 8, 7};
  return k;
}

TEST(StoredKernel, is_decoded_as_it_was_encoded) {
  const auto k = decode(encode(example()));
  ASSERT_TRUE(k);
  EXPECT_EQ(k->layout.blocks, 5u);
  EXPECT_EQ(k->layout.sites, 3u);
  EXPECT_EQ(k->frame_bytes, 1234u);
  EXPECT_EQ(k->object, (std::vector<uint8_t>{9, 8, 7}));
  ASSERT_EQ(k->constants.size(), 2u);
  EXPECT_EQ(k->constants[0].site, 2u);
  EXPECT_EQ(k->constants[0].block, 4u);
  EXPECT_EQ(k->constants[0].per, ConstantCost::Per::kFullRun);
  EXPECT_EQ(k->constants[0].cost, (events::SiteCounts{1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(k->constants[1].per, ConstantCost::Per::kRun);
}

TEST(StoredKernel, other_lengths_are_refused) {
  const auto bytes = encode(example());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode({bytes.data(), size})) << size;
  auto longer = bytes;
  longer.push_back(0);
  EXPECT_FALSE(decode(longer));
}

TEST(StoredKernel, indices_stay_inside_whatever_bit_flips) {
  const auto bytes = encode(example());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto damaged = bytes;
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    const auto k = decode(damaged);
    if (!k) continue;
    for (const ConstantCost& c : k->constants) {
      EXPECT_LT(c.site, k->layout.sites) << bit;
      EXPECT_LT(c.block, k->layout.blocks) << bit;
      EXPECT_LE(c.per, ConstantCost::Per::kRun) << bit;
    }
  }
}

}  // namespace
}  // namespace warplens::codegen
