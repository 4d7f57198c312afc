// SPDX-License-Identifier: Apache-2.0
// Occupancy of every probe launch that an H200's profiler measured (truth/h200/*.csv), from its block, registers and
// shared memory: all limits and the theoretical occupancy must be equal. The limit by shared memory follows from the
// carve-out that the driver chose. carveouts.csv has launches of every size for that choice, clusters.csv what
// cudaOccupancyMaxActiveClusters answered (truth/src/carveouts.cu).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include "gpu/carveout.h"
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
    const OccupancyInput input = {threads_of(row.at("block")), number("regs"),
                                  number("smem") - gpu.shared_reserved_per_block};
    const Occupancy o = occupancy(gpu, input);
    SCOPED_TRACE(row.at("probe"));
    EXPECT_EQ(o.by_blocks, number("occ_limit_blocks"));
    EXPECT_EQ(o.by_warps, number("occ_limit_warps"));
    EXPECT_EQ(o.by_registers, number("occ_limit_regs"));
    EXPECT_EQ(o.by_shared, number("occ_limit_smem"));
    EXPECT_NEAR(100 * o.share, std::stod(row.at("occ_theoretical_pct")), 0.01);
  }
}

INSTANTIATE_TEST_SUITE_P(OnAnH200, MeasuredOccupancy, ::testing::Values("access", "apps", "ladder"),
                         [](const auto& info) { return std::string(info.param); });

TEST(MeasuredCarveout, is_equal) {
  const Gpu& gpu = default_gpu();
  const std::vector<Row> rows = rows_of("carveouts");
  ASSERT_GT(rows.size(), 1500u);
  for (const Row& row : rows) {
    const auto number = [&](const char* name) { return static_cast<uint32_t>(std::stoul(row.at(name))); };
    const int preference = std::stoi(row.at("preference"));
    OccupancyInput input = {number("threads"), number("regs"), number("static") + number("dynamic")};
    input.carveout_kib = preferred_carveout_kib(gpu, preference, input.shared_bytes);
    const Occupancy o = occupancy(gpu, input);
    SCOPED_TRACE(fmt::format("{} threads, {} registers, {} bytes, preference {}", input.threads, input.registers,
                             input.shared_bytes, preference));
    EXPECT_EQ(o.carveout_kib, number("carveout_kib"));
    EXPECT_EQ(o.by_shared, number("occ_limit_smem"));
    if (preference >= 0) continue;
    EXPECT_EQ(o.blocks_per_sm, number("api_blocks"));
  }
}

TEST(MeasuredClusters, are_equal) {
  const Gpu& gpu = default_gpu();
  const std::vector<Row> rows = rows_of("clusters");
  ASSERT_GT(rows.size(), 300u);
  for (const Row& row : rows) {
    Occupancy o;
    o.blocks_per_sm = static_cast<uint32_t>(std::stoul(row.at("api_blocks")));
    for (uint32_t blocks = 1; blocks <= 16; ++blocks)
      EXPECT_EQ(clusters_at_most(gpu, o, blocks), std::stoul(row.at(fmt::format("of_{}", blocks))))
          << row.at("threads") << " threads, " << row.at("dynamic") << " bytes, clusters of " << blocks;
  }
}

}  // namespace
}  // namespace warplens::gpu
