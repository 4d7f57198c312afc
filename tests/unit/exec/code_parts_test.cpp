// SPDX-License-Identifier: Apache-2.0
// Code in parts: what is made and when, and that a launch whose warps run in different parts computes and counts as
// the interpreter does, also while the one function, or code that assumes less, takes over.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "support/ptx_launcher.h"

namespace warplens::exec {
namespace {

namespace fs = std::filesystem;
using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

constexpr uint32_t kBlocks = 40, kThreads = 96;

/// Threads whose number is below `parting` modulo 32 take another way, then all loop together. Vectors, uniform and
/// scaled addresses, a predicate and a lazy NaN are alive where they part.
const std::string kText = kPtxHead + R"(
.visible .entry k(.param .u64 out, .param .u32 parting, .param .u32 distance) {
  .reg .b32 t, l, g, n, v, w, i, pitch, limit, c; .reg .b64 o, p, q; .reg .pred one, other, more; .reg .f32 f, h;
  ld.param.u64 o, [out]; ld.param.u32 limit, [parting]; ld.param.u32 pitch, [distance];
  mov.u32 t, %tid.x; mov.u32 c, %ctaid.x; mov.u32 n, %ntid.x; mad.lo.u32 g, c, n, t; and.b32 l, t, 31;
  mul.wide.u32 p, g, 4; add.u64 p, o, p; mul.lo.u32 v, t, pitch; mul.wide.u32 q, v, 4; add.u64 q, o, q;
  cvt.rn.f32.u32 f, g; mov.f32 h, 0f00000000; div.rn.f32 h, h, h; add.f32 h, h, f;
  setp.lt.u32 other, g, 1000;
  setp.lt.u32 one, l, limit; @!one bra join;
  ld.global.u32 w, [q]; add.u32 g, g, w; add.f32 f, f, 0f3f800000;
join:
  mov.u32 i, 0;
next:
  ld.global.u32 w, [q]; mad.lo.u32 g, w, 0, g; add.f32 f, f, f;
  add.u32 i, i, 1; setp.lt.u32 more, i, 5; @more bra next;
  selp.u32 w, 7, 0, other; add.u32 g, g, w;
  cvt.rzi.u32.f32 v, f; add.u32 g, g, v; mov.b32 v, h; xor.b32 g, g, v;
  st.global.u32 [p], g; ret;
}
.visible .entry wraps(.param .u64 out, .param .u32 parting, .param .u32 distance) {
  .reg .b32 t, g, n, w, v, c, d, at; .reg .b64 o, p, q; .reg .pred inside, first;
  ld.param.u64 o, [out]; ld.param.u32 d, [distance];
  mov.u32 t, %tid.x; mov.u32 c, %ctaid.x; mov.u32 n, %ntid.x; mad.lo.u32 g, c, n, t;
  mul.wide.u32 p, g, 4; add.u64 p, o, p; mov.u32 w, 5; mov.u32 v, 0;
  shr.u32 at, t, 5; setp.eq.u32 first, at, 0;
  setp.ge.u32 inside, t, d; sub.u32 at, t, d; mul.wide.u32 q, at, 4; add.u64 q, o, q;
  @inside ld.global.u32 w, [q+1536000];
  @first bra join;
  ld.global.u32 v, [q+1535996];
join:
  xor.b32 g, g, w; add.u32 g, g, v; st.global.u32 [p], g; ret;
})";
/// Threads go round in strides of the block; where they stop, how often they went and where they are is one value, or
/// one for each thread next to the other, unless some go once more.
const std::string kStrided = R"(
.visible .entry strided(.param .u64 out, .param .u32 parting, .param .u32 distance) {
  .reg .b32 t, g, n, c, i, end, rounds, w; .reg .b64 o, p, q; .reg .pred more, odd; .reg .f32 f, h;
  ld.param.u64 o, [out]; ld.param.u32 end, [parting]; add.u32 end, end, 288;
  mov.u32 t, %tid.x; mov.u32 c, %ctaid.x; mov.u32 n, %ntid.x; mad.lo.u32 g, c, n, t;
  mul.wide.u32 p, g, 4; add.u64 p, o, p;
  mov.u32 i, t; mov.u32 rounds, 0; mov.f32 f, 0f00000000; div.rn.f32 h, f, f; setp.eq.u32 odd, 0, 1;
next:
  .pragma "nounroll";
  add.u32 rounds, rounds, 1; add.f32 f, f, 0f3fc00000; add.f32 h, h, f; not.pred odd, odd;
  add.u32 i, i, n; setp.lt.u32 more, i, end; @more bra next;
  mul.wide.u32 q, i, 4; add.u64 q, o, q; ld.global.u32 w, [q+15360];
  mad.lo.u32 g, rounds, 1000, w; cvt.rzi.u32.f32 w, f; add.u32 g, g, w; mov.b32 w, h; xor.b32 g, g, w;
  @odd add.u32 g, g, 7;
  st.global.u32 [p], g; ret;
})";
constexpr uint32_t kManyBlocks = 4000;  // those of `wraps`: 1'536'000 bytes

class CodeParts : public testing::Test {
 protected:
  CodeParts() {
    std::string name = (fs::temp_directory_path() / "code-parts-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~CodeParts() override { fs::remove_all(folder_); }

  std::unique_ptr<Executor> jit(uint64_t many_warps, size_t most_instructions = 1000) const {
    JitOptions options;
    options.most_instructions = most_instructions;
    options.cache = std::make_shared<FileCache>(folder_ + "/warplens", uint64_t{1} << 30);
    options.many_warps = many_warps;
    options.many_deoptimised = 1;
    return make_jit(options);
  }
  /// Compiled parts so far: each leaves one entry in the cache.
  size_t made() const {
    size_t n = 0;
    for (const auto& at : fs::recursive_directory_iterator(folder_)) n += at.is_regular_file();
    return n;
  }
  LaunchOutcome run(Executor& executor, uint32_t parting, std::vector<uint32_t>& values) {
    const size_t threads = size_t{blocks_} * kThreads;
    auto* out = gpu_.zeros<uint32_t>(threads * 3);
    for (size_t i = 0; i < 2 * threads; ++i) out[threads + i] = static_cast<uint32_t>(i * 0x10001);
    LaunchOutcome outcome = gpu_.launch(entry_, {.grid = {blocks_, 1, 1}, .block = {kThreads, 1, 1}},
                                        Params().add(out).add(parting).add(uint32_t{3}), &executor);
    EXPECT_TRUE(outcome.complete()) << (outcome.complete() ? "" : outcome.findings[0].message);
    values.assign(out, out + threads);
    return outcome;
  }
  void expect_as_interpreted(Executor& executor, uint32_t parting) {
    const auto interpreter = make_interpreter();
    std::vector<uint32_t> expected, values;
    const LaunchOutcome a = run(*interpreter, parting, expected), b = run(executor, parting, values);
    EXPECT_EQ(values, expected);
    EXPECT_EQ(b.counts.sites, a.counts.sites);
    ASSERT_EQ(b.counts.blocks.size(), a.counts.blocks.size());
    for (size_t i = 0; i < a.counts.blocks.size(); ++i) {
      EXPECT_EQ(b.counts.blocks[i].warps, a.counts.blocks[i].warps) << "block " << i;
      EXPECT_EQ(b.counts.blocks[i].lanes, a.counts.blocks[i].lanes) << "block " << i;
    }
  }

  PtxLauncher gpu_{kText + kStrided};
  std::string entry_ = "k";
  uint32_t blocks_ = kBlocks;
  std::string folder_;
};

TEST_F(CodeParts, warps_that_stay_whole_need_one) {
  const auto executor = jit(1);
  for (const uint32_t parting : {0U, 32U}) expect_as_interpreted(*executor, parting);
  EXPECT_EQ(made(), 1U);
}

TEST_F(CodeParts, the_masked_one_is_made_when_lanes_part) {
  const auto executor = jit(1'000'000);
  expect_as_interpreted(*executor, 0);
  expect_as_interpreted(*executor, 5);
  EXPECT_EQ(made(), 2U);
  std::vector<uint32_t> values;
  EXPECT_EQ(run(*executor, 5, values).preparation.source, CodeSource::kReady);
}

// What the full part holds as one value for all lanes, or as a pattern, the masked part takes as 32 values.
TEST_F(CodeParts, values_that_vary_only_behind_a_parting_are_handed_over) {
  entry_ = "strided";
  const auto executor = jit(1'000'000);
  expect_as_interpreted(*executor, 0);
  EXPECT_EQ(made(), 1U);
  for (const uint32_t parting : {1U, 31U, 32U, 40U, 96U}) expect_as_interpreted(*executor, parting);
  EXPECT_EQ(made(), 2U);
}

// The one function is made beside a launch, or left for the next one that asks when the launch is over before.
TEST_F(CodeParts, when_many_part_there_is_one_function) {
  const auto executor = jit(1);
  for (int i = 0; i < 1000 && made() < 3; ++i) expect_as_interpreted(*executor, 5);
  EXPECT_EQ(made(), 3U);
  for (const uint32_t parting : {0U, 5U, 31U}) expect_as_interpreted(*executor, parting);
  EXPECT_EQ(made(), 3U);
}

// The index wraps in the first three threads of a block, which do not use it: every block's first warp leaves code that
// says no lane wraps. What the other warps' second load costs is a constant there alone.
TEST_F(CodeParts, when_many_deoptimise_code_that_assumes_less_takes_over) {
  entry_ = "wraps";
  blocks_ = kManyBlocks;
  // With one launch for each executor, a second version is made beside that launch or not at all.
  for (int i = 0; i < 100 && made() < 2; ++i) expect_as_interpreted(*jit(1), 0);
  EXPECT_EQ(made(), 2U);
  for (int i = 0; i < 5; ++i) expect_as_interpreted(*jit(1), 0);  // both are in the cache: it comes early
  const auto executor = jit(1);
  for (int i = 0; i < 3; ++i) expect_as_interpreted(*executor, 0);
  EXPECT_EQ(made(), 2U);
}

TEST_F(CodeParts, a_kernel_beyond_the_limit_is_interpreted_and_says_so) {
  const auto executor = jit(1, 20);
  expect_as_interpreted(*executor, 5);
  EXPECT_EQ(made(), 0U);
  std::vector<uint32_t> values;
  const LaunchOutcome outcome = run(*executor, 5, values);
  EXPECT_EQ(outcome.preparation.source, CodeSource::kReady);
  const size_t instructions = gpu_.kernel("k")->function->body.size();
  EXPECT_EQ(outcome.preparation.slower, "kernel k runs in the interpreter, which is much slower: its " +
                                            std::to_string(instructions) +
                                            " PTX instructions are more than the 20 that are compiled");
}

TEST_F(CodeParts, time_for_parts_made_later_is_reported) {
  const auto executor = jit(1'000'000);
  std::vector<uint32_t> values;
  run(*executor, 0, values);
  const LaunchOutcome parted = run(*executor, 5, values);
  EXPECT_EQ(parted.preparation.source, CodeSource::kCompiled);
  EXPECT_GT(parted.preparation.seconds, 0);
}

}  // namespace
}  // namespace warplens::exec
