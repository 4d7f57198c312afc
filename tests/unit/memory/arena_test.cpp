// SPDX-License-Identifier: Apache-2.0
#include "memory/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace warplens::memory {
namespace {

uint8_t* host(uint64_t address) { return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address)); }

std::unique_ptr<Arena> make_arena(uint64_t capacity = uint64_t{1} << 30) {
  auto arena = Arena::create(capacity);
  EXPECT_TRUE(arena.has_value());
  return std::move(arena).value();
}

TEST(Arena, allocations_are_aligned_zero_and_apart) {
  const auto arena = make_arena();
  const uint64_t a = *arena->allocate(5), b = *arena->allocate(512), c = *arena->allocate(513);
  for (const uint64_t base : {a, b, c}) {
    EXPECT_EQ(base % kAllocationAlign, 0u);
    EXPECT_GE(base, arena->space().global_begin());
    EXPECT_EQ(*host(base), 0);
  }
  EXPECT_GE(b - (a + 5), kAllocationGap);
  EXPECT_GE(c - (b + 512), kAllocationGap);
}

TEST(Arena, finds_only_bytes_inside_an_allocation) {
  const auto arena = make_arena();
  const uint64_t a = *arena->allocate(100, "table");
  EXPECT_EQ(arena->find(a)->label, "table");
  EXPECT_EQ(arena->find(a + 99)->base, a);
  EXPECT_FALSE(arena->find(a + 100));
  EXPECT_FALSE(arena->find(a - 1));
  EXPECT_EQ(arena->nearest_below(a + 117)->base, a);
  EXPECT_FALSE(arena->find(0));
}

TEST(Arena, freed_memory_is_remembered_and_reused_as_zero) {
  const auto arena = make_arena();
  const uint64_t a = *arena->allocate(3 << 20);
  std::memset(host(a), 7, 3 << 20);
  const uint64_t version = arena->version();
  EXPECT_FALSE(arena->free(a + 512));
  EXPECT_TRUE(arena->free(a));
  EXPECT_FALSE(arena->free(a));
  EXPECT_NE(arena->version(), version);
  EXPECT_EQ(arena->freed_at(a + 10)->base, a);
  EXPECT_EQ(arena->used_bytes(), 0u);
  const uint64_t again = *arena->allocate(1000);
  EXPECT_EQ(again, a);
  EXPECT_FALSE(arena->freed_at(a + 10));
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(host(again)[i], 0);
}

TEST(Arena, small_neighbours_survive_a_free_in_their_page) {
  const auto arena = make_arena();
  const uint64_t a = *arena->allocate(512), b = *arena->allocate(512), c = *arena->allocate(512);
  for (const uint64_t base : {a, b, c}) std::memset(host(base), 0x5a, 512);
  EXPECT_TRUE(arena->free(b));
  EXPECT_EQ(host(a)[511], 0x5a);
  EXPECT_EQ(host(c)[0], 0x5a);
  EXPECT_EQ(host(b)[0], 0);
}

TEST(Arena, holes_join_so_that_a_large_allocation_fits_again) {
  const auto arena = make_arena();
  const uint64_t a = *arena->allocate(1000), b = *arena->allocate(1000), c = *arena->allocate(1000);
  (void)*arena->allocate(1000);
  EXPECT_TRUE(arena->free(a));
  EXPECT_TRUE(arena->free(c));
  EXPECT_TRUE(arena->free(b));
  EXPECT_EQ(*arena->allocate(3 * 1536 - 512), a);
}

TEST(Arena, capacity_is_the_limit_and_reset_gives_it_back) {
  const auto arena = make_arena(1 << 20);
  EXPECT_FALSE(arena->allocate((1 << 20) + 1));
  EXPECT_FALSE(arena->allocate(0));
  EXPECT_TRUE(arena->allocate(1 << 20));
  EXPECT_FALSE(arena->allocate(1));
  arena->reset();
  EXPECT_TRUE(arena->allocate(1 << 20));
}

TEST(Arena, far_larger_allocations_than_host_memory_are_lazy) {
  const auto arena = make_arena(uint64_t{100} << 30);
  const uint64_t a = *arena->allocate(uint64_t{90} << 30);
  *host(a + (uint64_t{89} << 30)) = 1;
  EXPECT_EQ(*host(a + (uint64_t{89} << 30)), 1);
}

TEST(Arena, adopts_memory_of_the_program_and_leaves_it_as_it_is) {
  const auto arena = make_arena();
  const uint64_t own = *arena->allocate(64);
  std::vector<char> bytes(100, 'x');
  const uint64_t base = reinterpret_cast<uintptr_t>(bytes.data());
  const uint64_t used = arena->used_bytes(), version = arena->version();
  ASSERT_TRUE(arena->adopt(base + 10, 50));
  EXPECT_NE(arena->version(), version);
  EXPECT_EQ(arena->used_bytes(), used);
  EXPECT_EQ(arena->find(base + 59)->base, base + 10);
  EXPECT_FALSE(arena->find(base + 60));
  EXPECT_FALSE(arena->adopt(base + 59, 1));  // known already
  EXPECT_FALSE(arena->adopt(base, 11));
  EXPECT_FALSE(arena->adopt(base, 0));
  EXPECT_FALSE(arena->adopt(own, 8));  // the arena's own
  EXPECT_TRUE(arena->adopt(base + 60, 1));
  EXPECT_TRUE(arena->free(base + 10));
  EXPECT_FALSE(arena->find(base + 20));
  arena->reset();
  EXPECT_FALSE(arena->find(base + 60));
  EXPECT_EQ(bytes, std::vector<char>(100, 'x'));
}

}  // namespace
}  // namespace warplens::memory
