// SPDX-License-Identifier: Apache-2.0
// Occupancy against values that CUDA 13.0's occupancy calculation gave for nine compute capabilities, examples of
// NVIDIA's guides, and what cudaOccupancyMaxActiveBlocksPerMultiprocessor gave on an H200
// (tests/programs/occupancy.expected). tests/truth compares with an H200's profiler; occupancy_header_test.cpp with the
// calculation itself where a toolkit is installed.
#include "gpu/occupancy.h"

#include <gtest/gtest.h>

#include "gpu/catalogue.h"

namespace warplens::gpu {
namespace {

uint32_t blocks(uint32_t threads, uint32_t registers, uint64_t shared) {
  return occupancy(default_gpu(), {threads, registers, shared}).blocks_per_sm;
}

TEST(Occupancy, equals_the_published_calculation_on_each_capability) {
  struct Row {
    uint32_t threads, registers;
    uint64_t shared;
    std::array<uint32_t, 7> expected;  // 7.0 7.5 8.0 8.6 8.9 9.0 12.0
  };
  constexpr Row kRows[] = {
      {256, 32, 0, {8, 4, 8, 6, 6, 8, 6}},     {224, 92, 0, {2, 2, 2, 2, 2, 2, 2}},
      {128, 85, 0, {5, 5, 5, 5, 5, 5, 5}},     {1024, 72, 0, {0, 0, 0, 0, 0, 0, 0}},
      {256, 40, 16384, {6, 4, 6, 5, 5, 6, 5}}, {64, 32, 1, {32, 16, 32, 16, 24, 32, 24}},
      {128, 32, 25600, {3, 2, 6, 3, 3, 8, 3}},
  };
  const char* const gpus[] = {"v100", "t4", "a100", "rtx3090", "l4", "h100", "rtx5090"};
  for (const Row& row : kRows)
    for (size_t i = 0; i < std::size(gpus); ++i)
      EXPECT_EQ(occupancy(*find_gpu(gpus[i]), {row.threads, row.registers, row.shared}).blocks_per_sm, row.expected[i])
          << gpus[i] << ": " << row.threads << " threads, " << row.registers << " registers, " << row.shared
          << " bytes";
  EXPECT_EQ(occupancy(*find_gpu("b200"), {128, 32, 25600}).blocks_per_sm, 8u);  // 10.0, as 9.0
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

TEST(Occupancy, of_the_guides_examples) {
  const Occupancy wide = occupancy(default_gpu(), {768, 32, 0});
  EXPECT_EQ(wide.blocks_per_sm, 2u);
  EXPECT_DOUBLE_EQ(wide.share, 0.75);
  const Occupancy narrow = occupancy(default_gpu(), {32, 32, 0});
  EXPECT_EQ(narrow.blocks_per_sm, 32u);
  EXPECT_DOUBLE_EQ(narrow.share, 0.5);
  EXPECT_EQ(limiters(narrow), "blocks");
  EXPECT_EQ(narrow.by_shared, 32u);  // of the 32 KiB that the driver sets aside for so many blocks
  const Occupancy shared = occupancy(default_gpu(), {256, 16, 100 * 1024});
  EXPECT_EQ(shared.blocks_per_sm, 2u);
  EXPECT_EQ(limiters(shared), "shared memory");
}

TEST(Occupancy, names_each_limit) {
  const Occupancy o = occupancy(default_gpu(), {256, 64, 65536});
  EXPECT_EQ(o.by_warps, 8u);
  EXPECT_EQ(o.by_registers, 4u);
  EXPECT_EQ(o.by_shared, 3u);
  EXPECT_EQ(o.by_blocks, 32u);
  EXPECT_EQ(o.by_barriers, 64u);
  EXPECT_EQ(o.warps_per_sm, 24u);
  EXPECT_EQ(o.registers_per_block, 64u * 256);
  EXPECT_EQ(o.shared_per_block, 65536u + 1024);
  EXPECT_EQ(limiters(o), "shared memory");
  EXPECT_EQ(limiters(occupancy(default_gpu(), {256, 32, 0})), "warps and registers");
  EXPECT_EQ(limiters(occupancy(default_gpu(), {2048, 32, 0})), "the size of the block");
  EXPECT_EQ(limiters(occupancy(default_gpu(), {1024, 72, 0})), "registers");
}

TEST(Occupancy, without_shared_memory_nothing_limits_it_where_nothing_is_reserved) {
  const Occupancy o = occupancy(*find_gpu("t4"), {64, 32, 0});
  EXPECT_EQ(o.by_shared, kNoLimit);
  EXPECT_EQ(o.by_barriers, kNoLimit);  // counted from compute capability 9.0
  EXPECT_EQ(o.blocks_per_sm, 16u);
}

TEST(Occupancy, barriers_limit_from_capability_9) {
  OccupancyInput input = {32, 16, 0};
  input.barriers = 16;
  EXPECT_EQ(occupancy(default_gpu(), input).blocks_per_sm, 4u);
  EXPECT_EQ(limiters(occupancy(default_gpu(), input)), "barriers");
  EXPECT_EQ(occupancy(*find_gpu("a100"), input).blocks_per_sm, 32u);
}

TEST(Occupancy, carveout_is_rounded_up_and_holds_a_block) {
  OccupancyInput input = {256, 16, 4096};
  input.carveout_kib = 30;  // 32: six blocks of 5120 bytes
  EXPECT_EQ(occupancy(default_gpu(), input).by_shared, 6u);
  EXPECT_EQ(occupancy(default_gpu(), input).carveout_kib, 32u);
  input.carveout_kib = 0;  // 8 is the smallest that holds one
  EXPECT_EQ(occupancy(default_gpu(), input).by_shared, 1u);
  input.carveout_kib = 1000;
  EXPECT_EQ(occupancy(default_gpu(), input).carveout_kib, 228u);
  input.carveout_kib.reset();  // the driver's choice: room for twice the 8 blocks that fit
  EXPECT_EQ(occupancy(default_gpu(), input).carveout_kib, 100u);
  EXPECT_EQ(occupancy(default_gpu(), input).by_shared, 20u);
  EXPECT_FALSE(occupancy(default_gpu(), input).carveout_estimated);
  EXPECT_TRUE(occupancy(*find_gpu("a100"), input).carveout_estimated);
}

TEST(Occupancy, the_drivers_carveout_never_costs_a_block) {
  for (const KnownGpu& known : known_gpus()) {
    const Gpu& gpu = *known.gpu;
    for (uint32_t threads = 32; threads <= 1024; threads += 32)
      for (const uint32_t registers : {16u, 40u, 64u, 100u, 255u})
        for (uint64_t shared = 0; shared <= gpu.shared_per_block_optin; shared += 1 + shared / 3) {
          OccupancyInput input = {threads, registers, shared};
          const Occupancy chosen = occupancy(gpu, input);
          input.carveout_kib = gpu.shared_carveouts_kib.back();
          ASSERT_EQ(chosen.blocks_per_sm, occupancy(gpu, input).blocks_per_sm)
              << known.id << ": " << threads << " threads, " << registers << " registers, " << shared << " bytes";
        }
  }
}

TEST(Occupancy, waves_are_full_gpus) {
  const Occupancy o = occupancy(default_gpu(), {320, 16, 10886});
  EXPECT_DOUBLE_EQ(waves(default_gpu(), o, 1000), 1000 / (132.0 * 6));
  EXPECT_DOUBLE_EQ(waves(default_gpu(), Occupancy{}, 1000), 0);
}

TEST(Occupancy, shared_memory_left_for_dynamic_use) {
  EXPECT_EQ(dynamic_shared_for(default_gpu(), 1, 0), 232448u);
  EXPECT_EQ(dynamic_shared_for(default_gpu(), 2, 0), 233472u / 2 - 1024);
  EXPECT_EQ(dynamic_shared_for(default_gpu(), 32, 4096), 7296u - 5120);
  EXPECT_EQ(dynamic_shared_for(default_gpu(), 33, 0), 0u);
  for (const uint32_t count : {1u, 2u, 3u, 7u, 16u, 32u}) {
    const uint64_t bytes = dynamic_shared_for(default_gpu(), count, 512);
    EXPECT_GE(occupancy(default_gpu(), {32, 16, bytes + 512}).by_shared, count);
    EXPECT_LT(occupancy(default_gpu(), {32, 16, bytes + 512 + 128}).by_shared, count);
  }
}

TEST(Occupancy, registers_may_be_too_many_for_a_block) {
  EXPECT_EQ(too_many_registers(default_gpu(), 1024, 64), "");
  const std::string why = too_many_registers(default_gpu(), 1024, 65);
  EXPECT_NE(why.find("65536 registers that NVIDIA H200 has"), std::string::npos) << why;
  EXPECT_EQ(too_many_registers(default_gpu(), 896, 72), "");    // 28 warps x 2304 = 64512
  EXPECT_NE(too_many_registers(default_gpu(), 928, 72), "");    // 29 warps, given to 32 places
  EXPECT_EQ(too_many_registers(default_gpu(), 4096, 255), "");  // refused for its threads
}

TEST(Occupancy, clusters_are_bounded) {
  const Occupancy o = occupancy(default_gpu(), {256, 32, 0});
  EXPECT_EQ(clusters_at_most(default_gpu(), o, 8), 124u);
  EXPECT_EQ(clusters_at_most(default_gpu(), o, 17), 0u);
  EXPECT_EQ(clusters_at_most(*find_gpu("h100"), o, 8), 132u);  // how its SMs are grouped is not known
  EXPECT_EQ(clusters_at_most(*find_gpu("a100"), o, 2), 0u);
}

}  // namespace
}  // namespace warplens::gpu
