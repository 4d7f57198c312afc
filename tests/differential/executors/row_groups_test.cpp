// SPDX-License-Identifier: Apache-2.0
// Threads that walk along rows of their own: generated code reads neighbouring words of each lane together, where that
// cannot be told from reading them one by one. Values, counts and events equal the interpreter's; the sums equal plain
// C++.
#include <fmt/format.h>

#include "jit_variants.h"
#include "two_executors.h"

namespace warplens::test {
namespace {

struct Case {
  const char* name;
  uint32_t row;      ///< words from a thread's row to the next one's
  const char* body;  ///< %rd3: the thread's row in x; %r4: its first index; leaves its result in %r10
  uint32_t (*want)(const uint32_t* row);
};

std::string kernel_of(const char* body) {
  return kPtxHead + fmt::format(R"(
.visible .entry rows(.param .u64 x, .param .u64 out, .param .u32 row)
{{
  .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .pred %p<2>;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [row];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r5, %ntid.x;
  mad.lo.u32 %r3, %r3, %r5, %r2;
  mul.lo.u32 %r4, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd3, %rd1, %rd3;
{}
  mul.wide.u32 %rd4, %r3, 4;
  add.u64 %rd4, %rd2, %rd4;
  st.global.u32 [%rd4], %r10;
  ret;
}})",
                                body);
}

/// As nvcc unrolls a loop: each access has its own index.
constexpr const char* kIndices = R"(
  add.u32 %r20, %r4, 3;
  add.u32 %r21, %r20, -3;
  mul.wide.u32 %rd10, %r21, 4;
  add.s64 %rd11, %rd1, %rd10;
  ld.global.u32 %r30, [%rd11];
  add.u32 %r22, %r20, -2;
  mul.wide.u32 %rd12, %r22, 4;
  add.s64 %rd13, %rd1, %rd12;
  ld.global.u32 %r31, [%rd13];
  add.u32 %r23, %r20, -1;
  mul.wide.u32 %rd14, %r23, 4;
  add.s64 %rd15, %rd1, %rd14;
  ld.global.u32 %r32, [%rd15];
  mul.wide.u32 %rd16, %r20, 4;
  add.s64 %rd17, %rd1, %rd16;
  ld.global.u32 %r33, [%rd17];
  mad.lo.u32 %r10, %r31, 3, %r30;
  mad.lo.u32 %r10, %r32, 5, %r10;
  mad.lo.u32 %r10, %r33, 7, %r10;)";
uint32_t weighed_four(const uint32_t* row) { return row[0] + 3 * row[1] + 5 * row[2] + 7 * row[3]; }

/// Seven words, one of them twice, in no order: a group of four, one of two, and a word alone.
constexpr const char* kSeven = R"(
  ld.global.u32 %r30, [%rd3+20];
  ld.global.u32 %r31, [%rd3+4];
  ld.global.u32 %r32, [%rd3+12];
  ld.global.u32 %r33, [%rd3];
  ld.global.u32 %r34, [%rd3+8];
  ld.global.u32 %r35, [%rd3+16];
  ld.global.u32 %r36, [%rd3+24];
  ld.global.u32 %r37, [%rd3+8];
  mad.lo.u32 %r10, %r30, 3, %r31;
  mad.lo.u32 %r10, %r32, 5, %r10;
  mad.lo.u32 %r10, %r33, 7, %r10;
  mad.lo.u32 %r10, %r34, 11, %r10;
  mad.lo.u32 %r10, %r35, 13, %r10;
  mad.lo.u32 %r10, %r36, 17, %r10;
  mad.lo.u32 %r10, %r37, 19, %r10;)";
uint32_t weighed_seven(const uint32_t* row) {
  return 3 * row[5] + row[1] + 5 * row[3] + 7 * row[0] + 30 * row[2] + 13 * row[4] + 17 * row[6];
}

constexpr const char* kPairsOf64 = R"(
  ld.global.u64 %rd10, [%rd3+8];
  ld.global.u64 %rd11, [%rd3];
  xor.b64 %rd12, %rd10, %rd11;
  cvt.u32.u64 %r30, %rd12;
  shr.u64 %rd12, %rd12, 32;
  cvt.u32.u64 %r31, %rd12;
  mad.lo.u32 %r10, %r31, 3, %r30;)";
uint32_t weighed_pairs(const uint32_t* row) { return (row[0] ^ row[2]) + 3 * (row[1] ^ row[3]); }

/// The second word is overwritten between the loads, through another address.
constexpr const char* kStoreBetween = R"(
  ld.global.u32 %r30, [%rd3];
  add.u64 %rd10, %rd3, 64;
  st.global.u32 [%rd10+-60], %r30;
  ld.global.u32 %r31, [%rd3+4];
  mad.lo.u32 %r10, %r31, 3, %r30;)";
uint32_t first_four_times(const uint32_t* row) { return 4 * row[0]; }

constexpr const char* kSharedStoreBetween = R"(
  mov.u32 %r20, tile;
  mul.lo.u32 %r21, %r2, 4;
  add.u32 %r20, %r20, %r21;
  ld.global.u32 %r30, [%rd3];
  st.shared.u32 [%r20], %r30;
  ld.global.u32 %r31, [%rd3+4];
  ld.shared.u32 %r32, [%r20];
  mad.lo.u32 %r10, %r31, 3, %r32;)";
uint32_t weighed_two(const uint32_t* row) { return row[0] + 3 * row[1]; }

/// A loop, whose last round ends at the array's last word.
constexpr const char* kLoop = R"(
  mov.u32 %r10, 0;
  mov.u32 %r20, 0;
$again:
  ld.global.u32 %r30, [%rd3];
  ld.global.u32 %r31, [%rd3+4];
  ld.global.u32 %r32, [%rd3+8];
  ld.global.u32 %r33, [%rd3+12];
  add.u32 %r10, %r10, %r30;
  add.u32 %r10, %r10, %r31;
  add.u32 %r10, %r10, %r32;
  mad.lo.u32 %r10, %r33, 3, %r10;
  add.u64 %rd3, %rd3, 16;
  add.u32 %r20, %r20, 4;
  setp.lt.u32 %p1, %r20, 32;
  @%p1 bra $again;)";
uint32_t weighed_row(const uint32_t* row) {
  uint32_t sum = 0;
  for (int i = 0; i < 32; ++i) sum += row[i] * (i % 4 == 3 ? 3 : 1);
  return sum;
}

/// Of vectors, at places apart.
constexpr const char* kVectors = R"(
  ld.global.v4.u32 {%r30, %r31, %r32, %r33}, [%rd3];
  ld.global.v2.u32 {%r34, %r35}, [%rd3+8];
  mad.lo.u32 %r10, %r31, 3, %r30;
  mad.lo.u32 %r10, %r32, 5, %r10;
  mad.lo.u32 %r10, %r33, 7, %r10;
  xor.b32 %r34, %r34, %r32;
  xor.b32 %r35, %r35, %r33;
  add.u32 %r10, %r10, %r34;
  add.u32 %r10, %r10, %r35;)";

const Case kCases[] = {
    {"indices", 100, kIndices, weighed_four},
    {"indices_of_a_short_row", 5, kIndices, weighed_four},
    {"seven", 40, kSeven, weighed_seven},
    {"pairs_of_64_bits", 36, kPairsOf64, weighed_pairs},
    {"store_between", 36, kStoreBetween, first_four_times},
    {"shared_store_between", 36, kSharedStoreBetween, weighed_two},
    {"loop_to_the_end", 32, kLoop, weighed_row},
    {"vectors", 8, kVectors, weighed_four},
    {"vectors_far_apart", 64, kVectors, weighed_four},
};

class RowGroups : public testing::TestWithParam<Case> {};

TEST_P(RowGroups, read_what_single_loads_read) {
  const Case& c = GetParam();
  const auto interpreter = exec::make_interpreter();
  for (const unsigned threads : {64u, 45u})
    for (const auto& [name, how] : jit_variants()) {
      TwoExecutors two(kernel_of(c.body));
      std::vector<uint32_t> x(size_t{c.row} * threads * 2 + (c.row < 32 ? 32 - c.row : 0));
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint32_t>(i * 2654435761u + i / 7);
      std::vector<uint8_t> bytes(x.size() * 4);
      std::memcpy(bytes.data(), x.data(), bytes.size());
      const uint64_t in = two.array(bytes), out = two.array(std::vector<uint8_t>(size_t{threads} * 8));
      const Params params = Params().add(in).add(out).add(c.row);
      const PtxLauncher::Options options{.grid = {2, 1, 1}, .block = {threads, 1, 1}};
      const auto jit = exec::make_jit(how);
      for (const bool events : {false, true}) two.compare("rows", options, params, *interpreter, *jit, events);
      for (uint32_t t = 0; t < 2 * threads; ++t)
        ASSERT_EQ(reinterpret_cast<const uint32_t*>(out)[t], c.want(x.data() + size_t{t} * c.row)) << "thread " << t;
    }
}

INSTANTIATE_TEST_SUITE_P(All, RowGroups, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

/// A 32-bit byte offset that wraps around between two accesses: what looks like neighbours lies 4 GiB apart.
TEST(RowsThatWrap, are_read_where_they_are) {
  TwoExecutors two(kPtxHead + R"(
.visible .entry rows(.param .u64 x, .param .u64 out, .param .u32 index)
{
  .reg .b32 %r<20>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r1, [index];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 64;
  add.u64 %rd4, %rd1, %rd3;
  shl.b32 %r3, %r1, 2;
  cvt.u64.u32 %rd5, %r3;
  add.u64 %rd6, %rd4, %rd5;
  ld.global.u32 %r10, [%rd6];
  add.u32 %r4, %r1, 1;
  shl.b32 %r5, %r4, 2;
  cvt.u64.u32 %rd7, %r5;
  add.u64 %rd8, %rd4, %rd7;
  ld.global.u32 %r11, [%rd8];
  mad.lo.u32 %r12, %r11, 3, %r10;
  mul.wide.u32 %rd9, %r2, 4;
  add.u64 %rd9, %rd2, %rd9;
  st.global.u32 [%rd9], %r12;
  ret;
})");
  constexpr uint64_t kSpan = uint64_t{1} << 32;
  auto* x = two.launcher().zeros<uint32_t>(kSpan / 4 + 1024);
  for (uint32_t t = 0; t < 32; ++t) {
    x[t * 16] = 100 + t;
    x[t * 16 + 1] = 300 + t;
    x[t * 16 + kSpan / 4 - 1] = 5000 * t;
  }
  const uint64_t out = two.array(std::vector<uint8_t>(128));
  const auto interpreter = exec::make_interpreter(), jit = exec::make_jit({});
  for (const uint32_t index : {0u, 0x3fffffffu, 0u}) {
    const Params params = Params().add(reinterpret_cast<uint64_t>(x)).add(out).add(index);
    two.compare("rows", {.block = {32, 1, 1}}, params, *interpreter, *jit, false);
    for (uint32_t t = 0; t < 32; ++t)
      ASSERT_EQ(reinterpret_cast<const uint32_t*>(out)[t], index == 0 ? 1000 + 4 * t : 300 + 5003 * t) << t;
  }
}

/// The last lane's last word lies outside: the finding is the interpreter's.
TEST(RowsBeyondTheEnd, are_found) {
  TwoExecutors two(kernel_of(kSeven));
  const uint64_t in = two.array(std::vector<uint8_t>(32 * 40 * 4)), out = two.array(std::vector<uint8_t>(128));
  const auto interpreter = exec::make_interpreter(), jit = exec::make_jit({});
  for (const uint64_t begin : {in, in + 33 * 4 + 4, in + 512})
    two.compare("rows", {.block = {32, 1, 1}}, Params().add(begin).add(out).add(uint32_t{40}), *interpreter, *jit,
                false);
}

}  // namespace
}  // namespace warplens::test
