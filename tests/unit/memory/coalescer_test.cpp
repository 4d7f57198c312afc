// SPDX-License-Identifier: Apache-2.0
// The counting rules against values measured on an H200 (tests/data) and against worked cases of the programming
// guides.
#include "memory/coalescer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/bits.h"

namespace warplens::memory {
namespace {

using events::Access;

LaneAddresses lanes(const std::function<uint64_t(uint64_t)>& f) {
  LaneAddresses a{};
  for (uint64_t l = 0; l < 32; ++l) a[l] = f(l);
  return a;
}

constexpr uint64_t kBase = uint64_t{1} << 40;

TEST(Coalescer, sectors_by_width_are_the_bytes_over_32) {
  for (const unsigned bytes : {1u, 2u, 4u, 8u, 16u}) {
    const auto a = lanes([&](uint64_t l) { return kBase + l * bytes; });
    EXPECT_EQ(count_sectors(kFullMask, a, bytes), bytes);
    EXPECT_EQ(count_lines(kFullMask, a, bytes), (bytes + 3) / 4);
  }
}

// Measured (access.cu, read_stride_*): sectors per request of a 4-byte read with a stride of s elements.
TEST(Coalescer, sectors_by_stride_are_as_measured) {
  const std::pair<uint64_t, unsigned> measured[] = {{1, 4},  {2, 8},  {3, 12},  {4, 16},  {5, 20}, {7, 28},
                                                    {8, 32}, {9, 32}, {16, 32}, {31, 32}, {32, 32}};
  for (const auto& [stride, sectors] : measured) {
    const auto a = lanes([&](uint64_t l) { return kBase + l * stride * 4; });
    EXPECT_EQ(count_sectors(kFullMask, a, 4), sectors) << stride;
  }
}

// Measured (read_offset_*).
TEST(Coalescer, sectors_by_offset_are_as_measured) {
  const std::pair<uint64_t, unsigned> measured[] = {{1, 5}, {2, 5}, {4, 5}, {7, 5}, {8, 4}, {16, 4}, {31, 5}};
  for (const auto& [offset, sectors] : measured) {
    const auto a = lanes([&](uint64_t l) { return kBase + (l + offset) * 4; });
    EXPECT_EQ(count_sectors(kFullMask, a, 4), sectors) << offset;
    EXPECT_EQ(ideal_of(sectors, kFullMask, 4, 32), 4u);
  }
  EXPECT_EQ(count_lines(kFullMask, lanes([](uint64_t l) { return kBase + l * 4 + 32; }), 4), 2u);
}

TEST(Coalescer, order_of_lanes_does_not_matter) {
  EXPECT_EQ(count_sectors(kFullMask, lanes([](uint64_t l) { return kBase + (31 - l) * 4; }), 4), 4u);
  EXPECT_EQ(count_sectors(kFullMask, lanes([](uint64_t l) { return kBase + ((l * 5 + 3) & 31) * 4; }), 4), 4u);
}

TEST(Coalescer, broadcast_is_one_sector_and_already_ideal) {
  const auto a = lanes([](uint64_t) { return kBase + 12; });
  EXPECT_EQ(count_sectors(kFullMask, a, 4), 1u);
  EXPECT_EQ(count_lines(kFullMask, a, 4), 1u);
  EXPECT_EQ(ideal_of(1, kFullMask, 4, 32), 1u);
}

// Measured: 16 even lanes of a unit-stride read touch 4 sectors, ideal 2; eight lanes in one sector 1; none of it
// counts idle lanes.
TEST(Coalescer, inactive_lanes_ask_for_nothing) {
  const auto a = lanes([](uint64_t l) { return kBase + l * 4; });
  EXPECT_EQ(count_sectors(0x55555555u, a, 4), 4u);
  EXPECT_EQ(ideal_of(4, 0x55555555u, 4, 32), 2u);
  EXPECT_EQ(count_sectors(0xffu, a, 4), 1u);
  EXPECT_EQ(count_sectors(0x80000000u, a, 4), 1u);
  EXPECT_EQ(count_sectors(0, a, 4), 0u);
}

// A struct of three doubles read as three 8-byte loads: 24 sectors each against 8 ideal.
TEST(Coalescer, struct_of_three_doubles) {
  const auto a = lanes([](uint64_t l) { return kBase + l * 24 + 8; });
  EXPECT_EQ(count_sectors(kFullMask, a, 8), 24u);
  EXPECT_EQ(ideal_of(24, kFullMask, 8, 32), 8u);
}

TEST(Coalescer, local_memory_lies_word_by_word_across_the_warp) {
  EXPECT_EQ(count_local_sectors(kFullMask, lanes([](uint64_t) { return 40; }), 4), 4u);
  EXPECT_EQ(count_local_lines(kFullMask, lanes([](uint64_t) { return 40; }), 4), 1u);
  EXPECT_EQ(count_local_sectors(kFullMask, lanes([](uint64_t) { return 0; }), 16), 16u);
  EXPECT_EQ(count_local_lines(kFullMask, lanes([](uint64_t) { return 0; }), 16), 4u);
  EXPECT_EQ(count_local_sectors(kFullMask, lanes([](uint64_t l) { return l * 4; }), 4),
            32u);  // each lane its own index
  EXPECT_EQ(count_local_sectors(1u, lanes([](uint64_t) { return 8; }), 4), 1u);
}

TEST(Coalescer, shared_passes_equal_every_measured_pattern) {
  std::ifstream file(std::string(WARPLENS_TEST_DATA) + "/h200_shared_patterns.csv");
  ASSERT_TRUE(file);
  std::string line;
  int patterns = 0;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#' || line.starts_with("pattern,")) continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream row(line);
    std::string name, access;
    uint64_t bytes = 0, group = 0, inner = 0, stride = 0;
    unsigned wavefronts = 0;
    ASSERT_TRUE(row >> name >> access >> bytes >> group >> inner >> stride >> wavefronts) << line;
    const auto a = lanes([&](uint64_t l) { return 1024 + (l / group * stride + l % group * inner) * bytes; });
    EXPECT_EQ(
        count_wavefronts(kFullMask, a, static_cast<unsigned>(bytes), access == "load" ? Access::kLoad : Access::kStore),
        wavefronts)
        << name;
    ++patterns;
  }
  EXPECT_EQ(patterns, 115);
}

TEST(Coalescer, shared_ideal_is_by_bytes_asked) {
  EXPECT_EQ(ideal_of(32, kFullMask, 4, 128), 1u);
  EXPECT_EQ(ideal_of(32, kFullMask, 16, 128), 4u);
  EXPECT_EQ(ideal_of(1, kFullMask, 8, 128), 1u);  // a broadcast that merged
  EXPECT_EQ(ideal_of(8, 0xffu, 16, 128), 1u);
}

TEST(Coalescer, idle_quarters_cost_no_pass) {
  const auto a = lanes([](uint64_t l) { return 1024 + l * 16; });
  EXPECT_EQ(count_wavefronts(0xffu, a, 16, Access::kStore), 1u);
  EXPECT_EQ(count_wavefronts(0xff00ffu, a, 16, Access::kStore), 2u);
  EXPECT_EQ(count_wavefronts(1u << 20, a, 4, Access::kLoad), 1u);
}

TEST(Coalescer, narrow_accesses_to_one_word_do_not_conflict) {
  EXPECT_EQ(count_wavefronts(kFullMask, lanes([](uint64_t l) { return 1024 + l; }), 1, Access::kLoad), 1u);
  EXPECT_EQ(count_wavefronts(kFullMask, lanes([](uint64_t l) { return 1024 + l * 128; }), 1, Access::kLoad), 32u);
}

}  // namespace
}  // namespace warplens::memory
