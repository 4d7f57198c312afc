// SPDX-License-Identifier: Apache-2.0
// Every case through both executors: operands that differ by lane (in a full and in a partial warp), and operands that
// are the same in all lanes, which generated code computes once as scalars.
#include <gtest/gtest.h>

#include <algorithm>

#include "case_file.h"
#include "support/ptx_launcher.h"

namespace warplens::ops_test {
namespace {

using test::Params;
using test::PtxLauncher;

// Each case is compiled twice; under sanitizers that takes minutes, and a part of them shows as much.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WL_TEST_STRIDE 8
#endif
#endif
#ifndef WL_TEST_STRIDE
#define WL_TEST_STRIDE 1
#endif
constexpr size_t kStride = WL_TEST_STRIDE;

class Executors : public testing::TestWithParam<std::string> {
 protected:
  /// Launches the case's kernel and compares what thread `i` wrote with row `row_of(i)`.
  template <typename F>
  void run(exec::Executor& executor, const Case& c, PtxLauncher& launcher, uint64_t* in, unsigned threads, uint32_t n,
           F&& row_of) {
    auto* out = launcher.zeros<uint64_t>(threads * kCaseOutputs);
    const auto params = Params().add(reinterpret_cast<uint64_t>(in)).add(reinterpret_cast<uint64_t>(out)).add(n);
    const auto outcome = launcher.launch("k", {.block = {threads, 1, 1}}, params, &executor);
    ASSERT_TRUE(outcome.complete()) << c.opcode << " on " << executor.name() << ": " << outcome.findings[0].message;
    for (unsigned i = 0; i < threads && failures_ < 30; ++i) {
      const CaseRow& row = row_of(i);
      for (size_t k = 0; k < row.outputs.size(); ++k) {
        const uint64_t actual = out[i * kCaseOutputs + k];
        if (agrees(c, k, row.outputs[k], actual)) continue;
        ++failures_;
        ADD_FAILURE() << GetParam() << ".txt:" << row.line << ": " << c.opcode << " on " << executor.name() << " gives "
                      << std::hex << actual << ", expected " << row.outputs[k];
      }
    }
    launcher.arena().free(reinterpret_cast<uint64_t>(out));
  }

  void by_lane(exec::Executor& executor, const Case& c) {
    PtxLauncher launcher(kernel_text(c));
    // Rows repeat so that at least one warp is full and the last one is not.
    const auto threads = static_cast<unsigned>(std::max<size_t>(c.rows.size(), 32) + 5);
    std::vector<uint64_t> words(threads * kCaseInputs);
    const auto row_of = [&](unsigned i) -> const CaseRow& { return c.rows[i % c.rows.size()]; };
    for (unsigned i = 0; i < threads; ++i)
      std::copy(row_of(i).inputs.begin(), row_of(i).inputs.end(), words.begin() + i * kCaseInputs);
    run(executor, c, launcher, launcher.array(words), threads, threads, row_of);
  }
  void uniform(exec::Executor& executor, const Case& c) {
    PtxLauncher launcher(kernel_text(c, Operands::kUniform));
    std::vector<uint64_t> words(c.rows.size() * kCaseInputs);
    for (size_t i = 0; i < c.rows.size(); ++i)
      std::copy(c.rows[i].inputs.begin(), c.rows[i].inputs.end(),
                words.begin() + static_cast<ptrdiff_t>(i) * kCaseInputs);
    auto* in = launcher.array(words);
    const auto count = static_cast<uint32_t>(std::min<size_t>(c.rows.size(), 8));  // the lanes above had all of them
    for (uint32_t n = 0; n < count; ++n)
      run(executor, c, launcher, in, 3, n, [&](unsigned) -> const CaseRow& { return c.rows[n]; });
  }
  void all(exec::Executor& executor) {
    std::string error;
    const std::vector<Case> cases = read_cases(GetParam(), error);
    for (size_t i = 0; i < cases.size() && failures_ < 30; i += kStride) {
      by_lane(executor, cases[i]);
      uniform(executor, cases[i]);
    }
    EXPECT_EQ(error, "");
  }
  int failures_ = 0;
};

TEST_P(Executors, interpreter_gives_the_recorded_values) { all(*exec::make_interpreter()); }
TEST_P(Executors, generated_code_gives_the_recorded_values) { all(*exec::make_jit({})); }

INSTANTIATE_TEST_SUITE_P(Opcode, Executors, testing::ValuesIn(case_files()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace warplens::ops_test
