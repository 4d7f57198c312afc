// SPDX-License-Identifier: Apache-2.0
// Loops that have a copy for warps whose lanes hold equal values: warps that enter it, warps that may not, and launches
// with both. Values, counts and events equal the interpreter's; the values also equal plain C++.
#include <fmt/format.h>

#include "jit_variants.h"
#include "two_executors.h"

namespace warplens::test {
namespace {

constexpr uint32_t kThreads = 128, kBlocks = 2;

struct Case {
  const char* name;
  const char* body;  ///< %r4: the thread's own value; %r3: its number; leaves its result in %r10
  uint32_t (*want)(uint32_t value, uint32_t thread);
};

std::string kernel_of(const char* body) {
  return kPtxHead + fmt::format(R"(
.visible .entry steered(.param .u64 x, .param .u64 out, .param .u64 words)
{{
  .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .pred %p<8>; .reg .f32 %f<8>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [out];
  ld.param.u64 %rd3, [words];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r5, %ntid.x;
  mad.lo.u32 %r3, %r3, %r5, %r2;
  mul.wide.u32 %rd4, %r3, 4;
  add.u64 %rd5, %rd1, %rd4;
  add.u64 %rd6, %rd2, %rd4;
  add.u64 %rd7, %rd3, %rd4;
  ld.global.u32 %r4, [%rd5];
  mov.u32 %r10, 0;
{}
END:
  st.global.u32 [%rd6], %r10;
  ret;
}})",
                                body);
}

/// A value that the loop changes, and a count.
constexpr const char* kCollatz = R"(
  setp.eq.u32 %p1, %r4, 1;
  @%p1 bra END;
LOOP:
  and.b32 %r11, %r4, 1;
  setp.eq.u32 %p2, %r11, 0;
  @%p2 bra EVEN;
  mad.lo.u32 %r4, %r4, 3, 1;
  bra JOIN;
EVEN:
  shr.u32 %r4, %r4, 1;
JOIN:
  add.u32 %r10, %r10, 1;
  setp.ne.u32 %p3, %r4, 1;
  @%p3 bra LOOP;)";
uint32_t collatz(uint32_t v, uint32_t) {
  uint32_t n = 0;
  for (; v != 1; ++n) v = v % 2 == 0 ? v / 2 : 3 * v + 1;
  return n;
}

/// What steers is equal, what is summed is not: loads at each thread's place and at a place of the value, stores and
/// reductions of both kinds, a scaled address.
constexpr const char* kMemory = R"(
  and.b32 %r4, %r4, 15;
LOOP:
  ld.global.u32 %r12, [%rd7];
  mul.wide.u32 %rd10, %r4, 4;
  add.u64 %rd11, %rd3, %rd10;
  ld.global.u32 %r13, [%rd11];
  ld.global.v2.u32 {%r14, %r15}, [%rd3+256];
  mad.lo.u32 %r10, %r12, 3, %r10;
  add.u32 %r10, %r10, %r13;
  add.u32 %r10, %r10, %r15;
  and.b32 %r16, %r4, 2;
  setp.ne.u32 %p1, %r16, 0;
  @%p1 st.global.u32 [%rd6], %r10;
  @%p1 bra OTHER;
  red.global.add.u32 [%rd3+1040], %r4;
  mad.lo.u32 %r17, %r2, %r4, %r4;
  xor.b32 %r10, %r10, %r17;
OTHER:
  sub.u32 %r4, %r4, 1;
  setp.lt.s32 %p2, %r4, 0;
  @%p2 bra END;
  bra LOOP;)";
uint32_t word(uint32_t i) { return i * 2654435761u >> 7; }
uint32_t memory(uint32_t value, uint32_t thread) {
  uint32_t sum = 0;
  for (auto v = static_cast<int32_t>(value & 15); v >= 0; --v) {
    const auto u = static_cast<uint32_t>(v);
    sum += word(thread) * 3 + word(u) + word(65);
    if ((u & 2) == 0) sum ^= thread % kThreads * u + u;
  }
  return sum;
}

/// An inner loop with its own steering value, lanes that end inside, a float that is a NaN half of the time.
constexpr const char* kNested = R"(
  and.b32 %r4, %r4, 63;
  mov.f32 %f1, 0f00000000;
OUTER:
  and.b32 %r12, %r4, 3;
  add.u32 %r12, %r12, 1;
INNER:
  mad.lo.u32 %r10, %r10, 5, %r12;
  cvt.rn.f32.u32 %f2, %r12;
  sub.f32 %f3, %f2, 0f40000000;
  div.rn.f32 %f1, %f3, %f1;
  sub.u32 %r12, %r12, 1;
  setp.ne.u32 %p1, %r12, 0;
  @%p1 bra INNER;
  setp.eq.u32 %p2, %r4, 33;
  @%p2 exit;
  setp.gt.f32 %p3, %f1, 0f3F800000;
  selp.b32 %r13, 7, 3, %p3;
  add.u32 %r10, %r10, %r13;
  sub.u32 %r4, %r4, %r13;
  setp.gt.s32 %p4, %r4, 0;
  @%p4 bra OUTER;
  mov.b32 %r14, %f1;
  xor.b32 %r10, %r10, %r14;)";
uint32_t nested(uint32_t value, uint32_t) {
  uint32_t sum = 0;
  float f = 0;
  for (auto v = static_cast<int32_t>(value & 63);;) {
    for (uint32_t k = (static_cast<uint32_t>(v) & 3) + 1; k != 0; --k) {
      sum = sum * 5 + k;
      f = (static_cast<float>(k) - 2.0f) / f;
    }
    if (v == 33) return 0;  // ends without storing
    const int step = f > 1.0f ? 7 : 3;
    sum += static_cast<uint32_t>(step);
    v -= step;
    if (v <= 0) break;
  }
  uint32_t bits = 0;
  std::memcpy(&bits, &f, 4);
  return sum ^ (f != f ? 0x7fffffffu : bits);
}

/// A 32-bit index of the value and the thread, widened in the loop: where it wraps inside a warp the copy is left for
/// the interpreter, between accesses whose costs are known beforehand.
constexpr const char* kWraps = R"(
  and.b32 %r4, %r4, 7;
LOOP:
  ld.global.u32 %r14, [%rd7];
  shl.b32 %r11, %r4, 29;
  sub.u32 %r11, %r11, 20;
  add.u32 %r12, %r11, %r2;
  cvt.u64.u32 %rd10, %r12;
  shr.u64 %rd11, %rd10, 4;
  cvt.u32.u64 %r13, %rd11;
  add.u32 %r10, %r10, %r13;
  ld.global.u32 %r15, [%rd7];
  ld.global.u32 %r16, [%rd3+256];
  add.u32 %r14, %r14, %r15;
  xor.b32 %r14, %r14, %r16;
  st.global.u32 [%rd6], %r14;
  add.u32 %r10, %r10, %r14;
  sub.u32 %r4, %r4, 1;
  setp.ge.s32 %p1, %r4, 0;
  @%p1 bra LOOP;)";
uint32_t wraps(uint32_t value, uint32_t thread) {
  uint32_t sum = 0;
  for (auto v = static_cast<int32_t>(value & 7); v >= 0; --v)
    sum += (((static_cast<uint32_t>(v) << 29) - 20 + thread % kThreads) >> 4) + (2 * word(thread) ^ word(64));
  return sum;
}

using Values = uint32_t (*)(uint32_t thread);
struct Data {
  const char* name;
  Values of;
};
constexpr Data kData[] = {
    {"equal_in_all", [](uint32_t) { return 27u; }},
    {"equal_in_each_warp", [](uint32_t t) { return 6 + t / 32 * 5; }},
    {"different", [](uint32_t t) { return 1 + t * 7 % 61; }},
    {"one_other_lane", [](uint32_t t) { return t % 32 == 31 && t / 32 % 2 == 1 ? 9u : 31u; }},
};

class EqualLoops : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(EqualLoops, compute_and_count_the_same) {
  static constexpr Case kCases[] = {{"collatz", kCollatz, collatz},
                                    {"memory", kMemory, memory},
                                    {"nested", kNested, nested},
                                    {"wraps", kWraps, wraps}};
  const Case& c = kCases[std::get<0>(GetParam())];
  const auto jit = exec::make_jit(jit_variants()[static_cast<size_t>(std::get<1>(GetParam()))].options);
  const auto interpreter = exec::make_interpreter();
  for (const Data& data : kData)
    for (const bool events : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {} {}", c.name, data.name, events));
      TwoExecutors two(kernel_of(c.body));
      std::vector<uint8_t> x(kThreads * kBlocks * 4), words(1056);
      for (uint32_t t = 0; t < kThreads * kBlocks; ++t) {
        const uint32_t value = data.of(t), w = word(t);
        std::memcpy(&x[t * 4], &value, 4);
        std::memcpy(&words[t * 4], &w, 4);
      }
      Params params;
      params.add(two.array(x));
      const uint64_t out = two.array(std::vector<uint8_t>(x.size()));
      params.add(out);
      params.add(two.array(words));
      const PtxLauncher::Options options{.grid = {kBlocks, 1, 1}, .block = {kThreads, 1, 1}};
      for (int launch = 0; launch < 2; ++launch) two.compare("steered", options, params, *interpreter, *jit, events);
      for (uint32_t t = 0; t < kThreads * kBlocks; ++t) {
        uint32_t got = 0;
        std::memcpy(&got, reinterpret_cast<const void*>(out + t * 4), 4);
        EXPECT_EQ(got, c.want(data.of(t), t)) << "thread " << t;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, EqualLoops, testing::Combine(testing::Range(0, 4), testing::Range(0, 5)));

}  // namespace
}  // namespace warplens::test
