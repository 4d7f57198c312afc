// SPDX-License-Identifier: Apache-2.0
// The text views. Numbers are those of the access pattern, by hand: n = 512 has 8,192 warps and 4,194,304 steps of the
// loop.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "example_runs.h"
#include "report/comparison_view.h"
#include "report/finding_view.h"
#include "report/kernel_view.h"
#include "report/run_report.h"

namespace warplens::report {
namespace {

class TextViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("text_view_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    source_ = (folder_ / "matmul.cu").string();
    std::ofstream(source_)
        << "__global__ void\n"
           "matmul_naive(int n, float alpha, const float* A, const float *__restrict__ B, float beta,\n"
           "             float* C) {\n"
           "  for (...)\n"
           "\t  sum += A[row * n + k] * B[k * n + col];\n"
           "\n"
           "  C[row * n + col] = alpha * sum + beta * C[row * n + col];\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string text(const RunRecord& run, TextOptions options = {}) { return run_text(run, options); }
  static void expect_fits(const std::string& text, size_t width) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), width) << line;
  }

  std::filesystem::path folder_;
  std::string source_;
};

TEST_F(TextViewTest, worst_lines_come_first_with_their_source_and_arguments) {
  EXPECT_EQ(text(example::matmul(example::Product::kNaive, 512, source_)),
            R"(warplens: matmul_naive.cu on a virtual Test GPU: 1 launch

matmul_naive  grid 16 x 16, block 32 x 32, 1 launch
  memory         requests      sectors  per request  ideal    moved  wasted
  global read   8,396,800  138,674,176         16.5    2.5  4.44 GB    85 %
  global write      8,192      262,144         32.0    4.0  8.39 MB    88 %
  16,801,792 PTX instructions by warps, on average 32.0 of 32 threads active.

  source line   requests      sectors  per request  ideal    moved  wasted
  matmul.cu:5  sum += A[row * n + k] * B[k * n + col];
    read A     4,194,304  134,217,728         32.0    4.0  4.29 GB    88 %
    read B     4,194,304    4,194,304          1.0    1.0   134 MB     0 %
  matmul.cu:7  C[row * n + col] = alpha * sum + beta * C[row * n + col];
    read C         8,192      262,144         32.0    4.0  8.39 MB    88 %
    write C        8,192      262,144         32.0    4.0  8.39 MB    88 %
  -> A: each thread of a warp reads from a sector of its own, so 32 bytes are
  moved for every 4 used.
  most instructions  PTX instructions  active threads of 32
  matmul.cu:5              16,777,216                  32.0
  matmul.cu:7                  16,384                  32.0
  matmul.cu:2                   8,192                  32.0

A request is one memory instruction of a warp (32 threads). A sector is 32
bytes, the unit in which memory is moved. Ideal is what a request would need if
its addresses lay side by side; wasted is the share above that. Moved is counted
where warps ask (at the L1 cache); caches may spare memory a part of it.
)");
}

TEST_F(TextViewTest, a_sample_says_so_and_shows_its_errors) {
  RunRecord run = example::sampled(example::matmul(example::Product::kNaive, 512, source_));
  const std::string shown = text(run);
  EXPECT_NE(shown.find("1 launch, 1 by a sample of its\nblocks\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("  Estimates: 13 of 256 blocks were counted (5.08 %), and stand for the others.\n"),
            std::string::npos);
  EXPECT_NE(shown.find("Errors of so few\n  blocks are rough.\n"), std::string::npos) << shown;
  // 1 % of the 134,217,728 sectors of A, of all 138,674,176; 1 % of 8,192 + 4 x 4,194,304 instructions, of 16,801,792.
  EXPECT_NE(shown.find("  memory            sectors   error  per request  ideal    moved  wasted\n"
                       "  global read   138,674,176  0.97 %         16.5    2.5  4.44 GB    85 %\n"
                       "  global write      262,144     0 %         32.0    4.0  8.39 MB    88 %\n"
                       "  16,801,792 PTX instructions by warps (error 1.00 %), on average 32.0 of 32\n"),
            std::string::npos);
  EXPECT_NE(shown.find("    read A     134,217,728    1 %         32.0    4.0  4.29 GB    88 %\n"
                       "    read B       4,194,304    0 %          1.0    1.0   134 MB     0 %\n"),
            std::string::npos);
  EXPECT_NE(shown.find("moved for every 4 used (in the counted blocks)."), std::string::npos);
  EXPECT_EQ(shown.find("are exact"), std::string::npos);
  expect_fits(shown, 80);

  auto cut_short = std::make_shared<events::LaunchSample>(*run.launches[0].sample);
  cut_short->scaled = false;
  run.launches[0].sample = cut_short;
  run.launches[0].complete = false;
  const std::string some = text(run);
  EXPECT_NE(some.find("numbers are those of the 13 of 256 blocks that were counted"), std::string::npos) << some;
  EXPECT_EQ(some.find("error  per request"), std::string::npos);
}

TEST_F(TextViewTest, comparison_names_the_line_and_the_reason) {
  const RunRecord a = example::matmul(example::Product::kNaive, 512, source_);
  const RunRecord b = example::matmul(example::Product::kCoalesced, 512, source_);
  Side left, right;
  ASSERT_TRUE(pick_side(a, left));
  ASSERT_TRUE(pick_side(b, right));
  EXPECT_EQ(comparison_text(left, right, {}),
            R"(global memory        matmul_naive  matmul_coalesced
requests                8,404,992         8,404,992  the same
sectors               138,936,320        21,037,056     6.6 x
ideal sectors          21,037,056        21,037,056  the same
sectors per request          16.5               2.5     6.6 x
bytes asked               1.08 GB           1.08 GB  the same
bytes moved               4.45 GB            673 MB     6.6 x
wasted                       85 %               0 %
Why: matmul.cu:5, reading A. In matmul_naive, each thread of a warp reads from a
sector of its own, so 32 bytes are moved for every 4 used. That alone is
117,440,512 needless sectors of the 117,899,264 more.
)");
  EXPECT_FALSE(pick_side(RunRecord{}, left));
}

TEST_F(TextViewTest, without_line_information_lines_are_those_of_the_ptx) {
  const std::string report = text(example::matmul(example::Product::kNaive, 512, ""));
  EXPECT_NE(report.find("PTX line 30  ld.global.f32 %f1, [%rd1];"), std::string::npos);
  EXPECT_NE(report.find("read argument 3"), std::string::npos);
  const size_t hint = report.find("-lineinfo");
  EXPECT_NE(hint, std::string::npos);
  EXPECT_EQ(report.find("-lineinfo", hint + 1), std::string::npos);  // one hint
}

TEST_F(TextViewTest, every_width_is_kept) {
  RunRecord run = example::matmul(example::Product::kNaive, 512, source_);
  run.launches.push_back(run.launches[0]);
  run.launches[1].shape.grid.x = 8;
  run.notices = {{"unsupported_api", "cudaGraphLaunch is not supported yet; the call returned cudaErrorNotSupported"}};
  for (unsigned width : {60u, 72u, 80u, 100u, 160u}) {
    TextOptions options;
    options.style.width = width;
    expect_fits(text(run, options), width);
  }
}

TEST_F(TextViewTest, colour_only_when_asked_for) {
  const RunRecord run = example::matmul(example::Product::kNaive, 64, source_);
  EXPECT_EQ(text(run).find('\033'), std::string::npos);
  TextOptions options;
  options.style.colour = true;
  EXPECT_NE(text(run, options).find("\033[31m"), std::string::npos);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(style_of(1).colour);
  ::unsetenv("NO_COLOR");
  ::setenv("COLUMNS", "123", 1);
  EXPECT_EQ(style_of(1).width, 123u);
  ::setenv("COLUMNS", "nonsense", 1);
  EXPECT_EQ(style_of(1).width, 80u);
  ::unsetenv("COLUMNS");
}

TEST_F(TextViewTest, alike_launches_are_one_row_with_their_number) {
  RunRecord run = example::matmul(example::Product::kNaive, 64, source_);
  for (uint64_t id = 1; id < 300; ++id) {
    run.launches.push_back(run.launches[0]);
    run.launches.back().id = id;
  }
  const std::string report = text(run);
  EXPECT_NE(report.find("300 launches of 1 kernel shape"), std::string::npos);
  EXPECT_NE(report.find("Numbers are sums over 300 launches, each alike."), std::string::npos);
  auto more = std::make_shared<events::LaunchCounts>(*run.launches[0].counts);
  more->sites[0].sectors += 1000;
  run.launches[7].counts = more;
  EXPECT_NE(text(run).find("one launch has"), std::string::npos);
}

TEST_F(TextViewTest, uncounted_launches_stay_apart) {
  RunRecord run = example::matmul(example::Product::kNaive, 64, source_);
  run.launches.push_back(run.launches[0]);
  run.launches[1].counts = nullptr;
  const std::string report = text(run);
  EXPECT_NE(report.find("2 launches, 1 counted"), std::string::npos);
  EXPECT_NE(report.find("not counted"), std::string::npos);
  EXPECT_EQ(report.find("Numbers are sums"), std::string::npos);
}

TEST_F(TextViewTest, inlined_code_shows_both_places) {
  RunRecord run = example::matmul(example::Product::kNaive, 64, source_);
  auto& kernel = run.kernels[0].info;
  kernel.files.push_back("include/tile.h");
  kernel.pcs[1].place = {2, 17, 3};
  kernel.pcs[1].inlined_function = "_Z4loadPKfi";
  const std::string report = text(run);
  EXPECT_NE(report.find("matmul.cu:5  sum +="), std::string::npos);
  EXPECT_NE(report.find("in load() at tile.h:17"), std::string::npos);
}

TEST_F(TextViewTest, bank_conflicts_are_shown_in_passes) {
  RunRecord run = example::matmul(example::Product::kCoalesced, 64, source_);
  run.kernels[0].info.sites.push_back({1, events::Space::kShared, events::Access::kLoad, 4, ""});
  auto counts = std::make_shared<events::LaunchCounts>(*run.launches[0].counts);
  counts->sites.push_back({1000, 32000, 0, 0, 0, 32000, 1000});
  run.launches[0].counts = counts;
  const std::string report = text(run);
  EXPECT_NE(report.find("shared read     1,000      32,000         32.0    1.0  128 kB    97 %"), std::string::npos)
      << report;
  EXPECT_NE(report.find("bank conflicts: a warp's access takes 32.0 passes where 1.0 would do"), std::string::npos);
}

TEST_F(TextViewTest, estimates_are_marked) {
  RunRecord run = example::matmul(example::Product::kCoalesced, 64, source_);
  EXPECT_EQ(text(run).find('~'), std::string::npos);
  run.kernels[0].info.sites[3].estimate = true;
  const std::string report = text(run);
  EXPECT_NE(report.find("global write ~"), std::string::npos);
  EXPECT_NE(report.find("marked ~"), std::string::npos);
}

TEST_F(TextViewTest, findings_read_like_compiler_errors) {
  events::Finding f;
  f.kind = events::FindingKind::kOutOfBounds;
  f.kernel = "_Z12matmul_naiveifPKfS0_fPf";
  f.place = {1, 5, 10};
  f.file = source_;
  f.block_index = {1, 0, 0};
  f.thread_index = {31, 2, 0};
  f.message = "reads 4 bytes, 16 bytes past the end of a 1024-byte allocation";
  EXPECT_EQ(finding_text(f, {}), source_ + ":5:10: error: " + f.message +
                                     "\n  kernel matmul_naive, block (1, 0, 0), thread (31, 2, 0)\n"
                                     "  | sum += A[row * n + k] * B[k * n + col];\n");
}

/// A hundred launches that go on have it a hundred times; what ends a launch is told each time.
TEST_F(TextViewTest, a_finding_that_launches_go_on_with_is_shown_once) {
  RunRecord run = example::matmul(example::Product::kNaive, 64, source_);
  events::Finding f;
  f.kind = events::FindingKind::kDivergentBarrier;
  f.pc = 3;
  f.message = "comes apart";
  run.launches[0].findings = {f};
  run.launches.push_back(run.launches[0]);
  const auto times = [&] {
    size_t n = 0;
    const std::string report = text(run);
    for (size_t at = report.find("comes apart"); at != std::string::npos; at = report.find("comes apart", at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(times(), 1u);
  EXPECT_EQ(fold(run, Folding::kByShape)[0].findings.size(), 1u);
  run.launches[1].findings[0].pc = 4;
  EXPECT_EQ(times(), 2u);
  EXPECT_EQ(fold(run, Folding::kByShape)[0].findings.size(), 2u);
  for (LaunchRecord& l : run.launches) l.findings[0].kind = events::FindingKind::kTrap;
  run.launches[1].findings[0].pc = 3;
  EXPECT_EQ(times(), 2u);
}

TEST_F(TextViewTest, findings_name_parameters_as_the_source_does) {
  events::Finding f;
  f.message = "writes 4 bytes through a null pointer (address from parameter _Z12matmul_naiveifPKfS0_fPf_param_5)";
  const RunRecord run = example::matmul(example::Product::kNaive, 64, source_);
  EXPECT_EQ(message_text(f, &run.kernels[0].info), "writes 4 bytes through a null pointer (address from parameter C)");
  EXPECT_EQ(message_text(f, nullptr), f.message);
}

TEST_F(TextViewTest, an_interrupted_kernel_is_a_note) {
  events::Finding f;
  f.kind = events::FindingKind::kInterrupted;
  f.kernel = "_Z4spinPi";
  EXPECT_EQ(finding_text(f, {}), "note: kernel spin was interrupted\n");
}

TEST_F(TextViewTest, a_program_without_kernels_says_so) {
  RunRecord run;
  run.program = "app";
  EXPECT_NE(text(run).find("launched no kernel"), std::string::npos);
}

}  // namespace
}  // namespace warplens::report
