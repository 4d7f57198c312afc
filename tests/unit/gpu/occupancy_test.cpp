// SPDX-License-Identifier: Apache-2.0
// Occupancy against values that the CUDA 13.0 occupancy calculation gave for compute capability 9.0, and those that
// cudaOccupancyMaxActiveBlocksPerMultiprocessor gave on an H200 (tests/programs/occupancy.expected).
#include "gpu/occupancy.h"

#include <gtest/gtest.h>

namespace warplens::gpu {
namespace {

uint32_t blocks(uint32_t threads, uint32_t registers, uint64_t shared) {
  return occupancy(default_gpu(), {threads, registers, shared}).blocks_per_sm;
}

TEST(Occupancy, equals_the_published_calculation) {
  EXPECT_EQ(blocks(256, 32, 0), 8u);
  EXPECT_EQ(blocks(224, 92, 0), 2u);
  EXPECT_EQ(blocks(128, 85, 0), 5u);
  EXPECT_EQ(blocks(1024, 72, 0), 0u);
  EXPECT_EQ(blocks(256, 40, 16384), 6u);
  EXPECT_EQ(blocks(64, 32, 1), 32u);
  EXPECT_EQ(blocks(128, 32, 25600), 8u);
}

TEST(Occupancy, equals_what_the_device_answered) {
  EXPECT_EQ(blocks(32, 32, 0), 32u);
  EXPECT_EQ(blocks(128, 32, 0), 16u);
  EXPECT_EQ(blocks(1024, 32, 0), 2u);
  EXPECT_EQ(blocks(64, 32, 1024), 32u);
  EXPECT_EQ(blocks(64, 32, 20000), 11u);
  EXPECT_EQ(blocks(64, 32, 49152), 4u);
  EXPECT_EQ(blocks(128, 32, 16384), 13u);
  EXPECT_EQ(blocks(2048, 32, 0), 0u);
}

TEST(Occupancy, names_each_limit) {
  const Occupancy o = occupancy(default_gpu(), {256, 64, 65536});
  EXPECT_EQ(o.by_threads, 8u);
  EXPECT_EQ(o.by_registers, 4u);
  EXPECT_EQ(o.by_shared, 3u);
  EXPECT_EQ(o.by_blocks, 32u);
  EXPECT_EQ(o.warps_per_sm, 24u);
}

}  // namespace
}  // namespace warplens::gpu
