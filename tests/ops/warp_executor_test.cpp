// SPDX-License-Identifier: Apache-2.0
// Instructions across lanes in generated code: equal to the interpreter (whose reference functions warp_test.cpp checks
// by hand) for random values, under full, partial, alternating and single-lane masks, and in a warp that is not full.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "support/ptx_launcher.h"

namespace warplens::ops_test {
namespace {

using test::Params;
using test::PtxLauncher;

/// d and p are results; a, b hold random words, s a small random number, w a random double word, q a random predicate,
/// m the mask of the lanes that execute, h that of a lane's half of the warp.
constexpr const char* kInstructions[] = {
    "shfl.sync.down.b32 d|p, a, 3, 31, m",
    "shfl.sync.up.b32 d|p, a, 5, 0, m",
    "shfl.sync.bfly.b32 d|p, a, 7, 31, m",
    "shfl.sync.idx.b32 d|p, a, s, 31, m",
    "shfl.sync.idx.b32 d|p, a, s, 0x1c03, m",
    "shfl.sync.down.b32 d|p, a, 2, 0x181f, m",
    "shfl.sync.up.b32 d|p, a, s, 0x1800, m",
    "shfl.sync.bfly.b32 d, a, s, b, m",
    "shfl.idx.b32 d|p, a, 9, 31",
    "vote.sync.all.pred p, q, m",
    "vote.sync.any.pred p, !q, m",
    "vote.sync.uni.pred p, q, m",
    "vote.sync.ballot.b32 d, q, m",
    "vote.ballot.sync.b32 d, !q, 0x00ff00ff",
    "vote.ballot.b32 d, q",
    "vote.all.pred p, q",
    "activemask.b32 d",
    "match.any.sync.b32 d, s, m",
    "match.any.sync.b64 d, w, m",
    "match.all.sync.b32 d|p, s, m",
    "match.all.sync.b32 d|p, 7, m",
    "redux.sync.add.u32 d, a, m",
    "redux.sync.add.s32 d, a, 0x0f0f0f0f",
    "redux.sync.min.u32 d, a, m",
    "redux.sync.min.s32 d, a, m",
    "redux.sync.max.u32 d, a, m",
    "redux.sync.max.s32 d, a, m",
    "redux.sync.and.b32 d, a, m",
    "redux.sync.or.b32 d, a, m",
    "redux.sync.xor.b32 d, a, m",
    "elect.sync d|p, m",
    "redux.sync.add.u32 d, a, h",
    "redux.sync.min.s32 d, a, h",
    "vote.sync.ballot.b32 d, q, h",
    "vote.sync.all.pred p, q, h",
    "match.any.sync.b32 d, s, h",
    "match.all.sync.b32 d|p, s, h",
    "elect.sync d|p, h",
};

std::string kernel_text() {
  std::string text = test::kPtxHead;
  int index = 0;
  for (const char* instruction : kInstructions)
    text += fmt::format(
        ".visible .entry k{}(.param .u64 pin, .param .u64 pout, .param .u32 pm) {{\n"
        ".reg .b32 t, d, a, b, s, m, h, r; .reg .b64 in, out, w; .reg .pred p, q, here;\n"
        "ld.param.u64 in, [pin]; ld.param.u64 out, [pout]; ld.param.u32 m, [pm]; mov.u32 t, %tid.x;\n"
        "mad.wide.u32 in, t, 16, in; mad.wide.u32 out, t, 8, out; ld.global.v2.u32 {{a, b}}, [in]; ld.global.u64 w, "
        "[in];\n"
        "ld.global.u32 s, [in+8]; and.b32 r, a, 1; setp.ne.u32 q, r, 0; mov.u32 d, 77; setp.ne.u32 p, t, t;\n"
        "setp.lt.u32 here, t, 16; selp.b32 h, 0xffff, 0xffff0000, here;\n"
        "and.b64 w, w, 0x100000001; shr.u32 r, m, t; and.b32 r, r, 1; setp.ne.u32 here, r, 0; @!here bra done;\n"
        "{};\ndone: st.global.u32 [out], d; selp.u32 r, 1, 0, p; st.global.u32 [out+4], r; ret; }}\n",
        index++, instruction);
  return text;
}

class WarpInstruction : public testing::Test {};

TEST_F(WarpInstruction, generated_code_equals_the_interpreter) {
  PtxLauncher launcher(kernel_text());
  const auto interpreter = exec::make_interpreter();
  const auto jit = exec::make_jit({});
  std::mt19937 random(7);
  std::vector<uint32_t> input(32 * 4);
  auto* in = launcher.zeros<uint32_t>(input.size());
  auto *expected = launcher.zeros<uint32_t>(64), *actual = launcher.zeros<uint32_t>(64);
  for (size_t k = 0; k < std::size(kInstructions); ++k) {
    for (const uint32_t mask : {0xffffffffu, 0x0000ffffu, 0xaaaaaaaau, 0x00000001u, 0x80000000u, 0x80f00101u}) {
      for (const uint32_t threads : {32u, 20u}) {
        for (size_t i = 0; i < input.size(); ++i) input[i] = i % 4 == 2 ? random() % 3 : random();
        std::copy(input.begin(), input.end(), in);
        const uint32_t live = threads == 32 ? mask : mask & ((1u << threads) - 1);
        const auto launch = [&](exec::Executor& executor, uint32_t* out) {
          const auto params =
              Params().add(reinterpret_cast<uint64_t>(in)).add(reinterpret_cast<uint64_t>(out)).add(live);
          return launcher.launch(fmt::format("k{}", k), {.block = {threads, 1, 1}}, params, &executor);
        };
        ASSERT_TRUE(launch(*interpreter, expected).complete()) << kInstructions[k];
        ASSERT_TRUE(launch(*jit, actual).complete()) << kInstructions[k];
        for (uint32_t i = 0; i < 2 * threads; ++i)
          ASSERT_EQ(actual[i], expected[i]) << kInstructions[k] << ", mask " << std::hex << live << std::dec
                                            << ", lane " << i / 2 << (i % 2 == 0 ? ": d" : ": p");
      }
    }
  }
}

}  // namespace
}  // namespace warplens::ops_test
