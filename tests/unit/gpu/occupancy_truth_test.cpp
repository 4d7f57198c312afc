// SPDX-License-Identifier: Apache-2.0
// Occupancy of every probe launch that an H200's profiler measured (truth/h200/*.csv), from its block, registers and
// shared memory: limits by blocks, warps and registers, and the theoretical occupancy, must be equal. The limit by
// shared memory depends on the carve-out that the driver chose, which the table does not have: one of the SM's sizes
// must give the number, and what that size is must not change the answer.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include "gpu/occupancy.h"
#include "support/csv_cells.h"

namespace warplens::gpu {
namespace {

using test::cells_of;
using Row = std::map<std::string, std::string>;

std::vector<Row> rows_of(const std::string& table) {
  std::ifstream in(WARPLENS_TEST_DATA "/../../truth/h200/" + table + ".csv");
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = cells_of(line);
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = cells_of(line);
    Row row;
    for (size_t i = 0; i < names.size() && i < cells.size(); ++i) row[names[i]] = cells[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

uint32_t threads_of(const std::string& block) {
  unsigned x = 0, y = 0, z = 0;
  EXPECT_EQ(std::sscanf(block.c_str(), "(%u, %u, %u)", &x, &y, &z), 3);
  return x * y * z;
}

class MeasuredOccupancy : public ::testing::TestWithParam<const char*> {};

TEST_P(MeasuredOccupancy, is_equal) {
  const Gpu& gpu = default_gpu();
  const std::vector<Row> rows = rows_of(GetParam());
  ASSERT_GT(rows.size(), 10u);
  for (const Row& row : rows) {
    const auto number = [&](const char* name) { return static_cast<uint32_t>(std::stoul(row.at(name))); };
    OccupancyInput input = {threads_of(row.at("block")), number("regs"),
                            number("smem") - gpu.shared_reserved_per_block};
    const Occupancy o = occupancy(gpu, input);
    SCOPED_TRACE(row.at("probe"));
    EXPECT_EQ(o.by_blocks, number("occ_limit_blocks"));
    EXPECT_EQ(o.by_warps, number("occ_limit_warps"));
    EXPECT_EQ(o.by_registers, number("occ_limit_regs"));
    EXPECT_NEAR(100 * o.share, std::stod(row.at("occ_theoretical_pct")), 0.01);
    bool some_size_gives_it = false;
    for (const uint32_t kib : gpu.shared_carveouts_kib) {
      input.carveout_kib = kib;
      const Occupancy with = occupancy(gpu, input);
      if (with.by_shared != number("occ_limit_smem")) continue;
      some_size_gives_it = true;
      EXPECT_EQ(with.blocks_per_sm, o.blocks_per_sm);
    }
    EXPECT_TRUE(some_size_gives_it) << row.at("occ_limit_smem");
  }
}

INSTANTIATE_TEST_SUITE_P(OnAnH200, MeasuredOccupancy, ::testing::Values("access", "apps", "ladder"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace warplens::gpu
