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
#include "memory/address_space.h"

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

// Rows of the warp costs table (truth/h200/warps_*.csv), by hand.
TEST(Coalescer, a_sector_is_asked_for_as_often_as_lanes_share_a_place_in_it) {
  EXPECT_EQ(count_atomic_sectors(kFullMask, lanes([](uint64_t l) { return kBase + 4 * l; }), 4), 4u);
  EXPECT_EQ(count_atomic_sectors(kFullMask, lanes([](uint64_t) { return kBase; }), 4), 32u);
  EXPECT_EQ(count_atomic_sectors(kFullMask, lanes([](uint64_t l) { return kBase + 4 * (l / 4); }), 4), 4u);
  EXPECT_EQ(
      count_atomic_sectors(kFullMask, lanes([](uint64_t l) { return kBase + 4 * (l < 8    ? 0
                                                                                 : l < 16 ? 8
                                                                                          : l); }), 4),
      18u);  // 8 lanes on one place, 8 on another, two full sectors
  EXPECT_EQ(count_atomic_sectors(0xaaaaaaaa, lanes([](uint64_t) { return kBase; }), 8), 16u);
}

TEST(Coalescer, repeated_sectors_are_no_part_of_the_ideal) {
  events::AccessSite site;
  site.access = Access::kReduction;
  const auto same = lanes([](uint64_t) { return kBase; });
  events::SiteCounts counts;
  count_access(counts, {0, kFullMask, 0, 0, events::Space::kGlobal, &same}, site);
  EXPECT_EQ(counts, (events::SiteCounts{1, 32, 32, 1, 1, 0, 0, 31}));
  site.combined = events::Combined::kAlways;
  counts = {};
  count_access(counts, {0, 0xfffffff0, 0, 0, events::Space::kGlobal, &same}, site);
  EXPECT_EQ(counts, (events::SiteCounts{1, 1, 1, 1, 1, 0, 0, 0}));
}

TEST(Coalescer, shared_atomics_take_a_pass_for_each_lane_on_a_bank) {
  EXPECT_EQ(count_atomic_wavefronts(kFullMask, lanes([](uint64_t l) { return 1024 + 4 * l; }), 4), 1u);
  EXPECT_EQ(count_atomic_wavefronts(kFullMask, lanes([](uint64_t) { return 1024; }), 4), 32u);
  EXPECT_EQ(count_atomic_wavefronts(kFullMask, lanes([](uint64_t l) { return 1024 + 4 * (l / 2); }), 4), 2u);
  EXPECT_EQ(count_atomic_wavefronts(kFullMask, lanes([](uint64_t) { return 1024; }), 8), 32u);
  EXPECT_EQ(count_atomic_wavefronts(0xffff, lanes([](uint64_t l) { return 1024 + 8 * l; }), 8), 1u);
}

TEST(Coalescer, loops_of_compare_and_swap_take_a_round_for_each_lane_on_a_bank) {
  RetryCounts one_word = count_retries(kFullMask, lanes([](uint64_t) { return 1024; }), 4);
  EXPECT_EQ(one_word.rounds, 32u);
  EXPECT_EQ(one_word.swaps, 64u);
  EXPECT_EQ(one_word.loads, 32u);  // all lanes that are left load one word
  RetryCounts one_bank = count_retries(kFullMask, lanes([](uint64_t l) { return 1024 + 128 * l; }), 4);
  EXPECT_EQ(one_bank.swaps, 64u);
  EXPECT_EQ(one_bank.loads, 528u);  // 32 + 31 + ... + 1
  // 64 bits: half warps. The first half's winner changes the value that the second half's expects.
  RetryCounts wide = count_retries(kFullMask, lanes([](uint64_t) { return 1024; }), 8);
  EXPECT_EQ(wide.rounds, 32u);
  EXPECT_EQ(wide.swaps, 96u);
  EXPECT_EQ(wide.loads, 32u);
}

TEST(Coalescer, matrix_rows_never_share_a_pass) {
  const auto same = lanes([](uint64_t) { return 1024; });
  EXPECT_EQ(count_matrix_wavefronts(kFullMask, same), 4u);
  EXPECT_EQ(count_wavefronts(kFullMask, same, 16, Access::kLoad), 2u);
  EXPECT_EQ(count_matrix_wavefronts(0xff, lanes([](uint64_t l) { return 1024 + 128 * l; })), 8u);
}

TEST(Coalescer, the_constant_cache_gets_a_request_for_each_address) {
  EXPECT_EQ(count_constant_requests(kFullMask, lanes([](uint64_t) { return kBase; }), 4), 1u);
  EXPECT_EQ(count_constant_requests(kFullMask, lanes([](uint64_t l) { return kBase + l / 2 * 8; }), 8), 16u);
  EXPECT_EQ(count_constant_requests(kFullMask, lanes([](uint64_t l) { return kBase + l * 16; }), 16), 128u);
}

// Rows of truth/h200/warps_tags.csv, warps_high_tags.csv: addresses that differ in these bits wait for each other.
TEST(Coalescer, lines_of_one_slot_are_looked_up_one_after_another) {
  const auto bit = [](unsigned b) { return uint64_t{1} << b; };
  for (const unsigned b : {9u, 12u, 16u, 18u, 20u, 21u, 23u, 25u}) EXPECT_EQ(l1_slot(bit(7) | bit(b)), 0u) << b;
  for (const unsigned b : {10u, 13u, 15u, 17u, 22u, 27u, 28u}) EXPECT_EQ(l1_slot(bit(8) | bit(b)), 0u) << b;
  for (const unsigned b : {14u, 19u, 24u, 26u}) EXPECT_EQ(l1_slot(bit(11) | bit(b)), 0u) << b;
  EXPECT_NE(l1_slot(bit(7)), l1_slot(bit(8)));
  EXPECT_EQ(l1_slot(bit(7) | bit(8)), l1_slot(bit(11)));
}

// Rows of truth/h200/warps_async.csv (cp4_s4 to cp16ca_s128), copies and less.
TEST(Coalescer, copies_take_turns_by_both_places) {
  const auto unit = lanes([](uint64_t l) { return 4 * l; }), apart = lanes([](uint64_t l) { return 128 * l; });
  const auto spread = lanes([](uint64_t l) { return 16 * l; }), pairs = lanes([](uint64_t l) { return l / 2 * 4; });
  const auto copied = [](const LaneAddresses& to, const LaneAddresses& from) {
    return count_copy_wavefronts(kFullMask, to, kFullMask, from, 4);
  };
  EXPECT_EQ(copied(unit, unit), 1u);
  EXPECT_EQ(copied(spread, unit), 4u);
  EXPECT_EQ(copied(spread, pairs), 5u);
  EXPECT_EQ(copied(spread, lanes([](uint64_t l) { return l / 4 * 4; })), 7u);
  EXPECT_EQ(copied(spread, lanes([](uint64_t l) { return l / 16 * 4; })), 25u);
  EXPECT_EQ(copied(apart, unit), 32u);
  EXPECT_EQ(copied(unit, apart), 32u);
  EXPECT_EQ(count_copy_wavefronts(kFullMask, spread, kFullMask, spread, 16), 4u);
  EXPECT_EQ(count_copy_wavefronts(kFullMask, spread, 1, spread, 16), 5u);
  EXPECT_EQ(count_copy_wavefronts(kFullMask, spread, 0, spread, 16), 4u);
}

// Rows of truth/h200/warps_cluster_mixed.csv (y_add_u64, y_add_f32: lanes 0 to 15 in another block's memory).
TEST(Coalescer, a_clusters_atomics_pass_through_the_blocks_own_memory) {
  events::AccessSite site;
  site.space = events::Space::kSharedCluster;
  site.access = Access::kReduction;
  site.bytes = 8;
  const auto count = [&](const LaneAddresses& address) {
    events::SiteCounts counts;
    count_access(counts, {0, kFullMask, 0, 0, events::Space::kSharedCluster, &address}, site);
    return counts;
  };
  const auto place = [](uint64_t at) {
    return lanes([=](uint64_t l) { return l < 16 ? cluster_address(at, 1) : at; });
  };
  EXPECT_EQ(count(place(1024)), (events::SiteCounts{1, 32, 16, 1, 1, 17, 2, 15, 1}));
  site.bytes = 4;
  site.form = events::Form::kRetried;
  EXPECT_EQ(count(place(1024)), (events::SiteCounts{33, 32 + 2 * 136, 16, 1, 1, 65, 65, 15, 33}));
  site.form = events::Form::kRetryLoads;
  site.access = Access::kLoad;
  EXPECT_EQ(count(place(1024)), (events::SiteCounts{32, 2 * 136, 16, 16, 16, 16, 16}));
}

TEST(Coalescer, another_blocks_shared_memory_comes_in_sectors) {
  events::AccessSite site;
  site.space = events::Space::kSharedCluster;
  const auto address = lanes([](uint64_t l) { return l < 16 ? 1024 + 4 * l : cluster_address(1024 + 4 * l, 1); });
  events::SiteCounts counts;
  count_access(counts, {0, kFullMask, 0, 0, events::Space::kSharedCluster, &address}, site);
  EXPECT_EQ(counts, (events::SiteCounts{1, 32, 2, 1, 2, 1, 1, 0}));
}

}  // namespace
}  // namespace warplens::memory
