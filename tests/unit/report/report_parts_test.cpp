// SPDX-License-Identifier: Apache-2.0
// The small parts of the report: numbers, names, sums, files.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "example_runs.h"
#include "report/explain.h"
#include "report/fold.h"
#include "report/kernel_name.h"
#include "report/number_text.h"
#include "report/output_file.h"
#include "report/source_path.h"
#include "report/text_style.h"

namespace warplens::report {
namespace {

TEST(PathsFromRoot, follows_links_once_a_path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("paths_" + std::to_string(getpid()));
  fs::create_directories(folder / "real/sub");
  fs::create_directory_symlink(folder / "real", folder / "link");
  PathsFromRoot shown((folder / "real/").string());
  EXPECT_EQ(shown((folder / "real/sub/../a.cu").string()), "a.cu");
  EXPECT_EQ(shown((folder / "link/sub/a.cu").string()), "sub/a.cu");
  EXPECT_EQ(shown("/usr/x.cu"), "/usr/x.cu");
  fs::remove_all(folder);
  EXPECT_EQ(shown((folder / "link/sub/a.cu").string()), "sub/a.cu");  // as it was looked up
  PathsFromRoot none("");
  EXPECT_EQ(none("/usr/x.cu"), "/usr/x.cu");
  EXPECT_EQ(none(""), "");
}

TEST(NumberText, groups_and_units) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(18446744073709551615u), "18,446,744,073,709,551,615");
  EXPECT_EQ(counted(123456789), "123,456,789");
  EXPECT_EQ(counted(8862564352), "8.86 G");
  EXPECT_EQ(counted(999999, 5), "1.00 M");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(65536), "65.5 kB");
  EXPECT_EQ(bytes_text(999600), "1.00 MB");
  EXPECT_EQ(percent_text(0), "0 %");
  EXPECT_EQ(percent_text(0.004), "<1 %");
  EXPECT_EQ(percent_text(0.9999), "99 %");  // 100 % is said only of all
  EXPECT_EQ(percent_text(1), "100 %");
  EXPECT_EQ(ratio_text(16.515), "16.5");
  EXPECT_EQ(duration_text(999.94), "999.9 us");
  EXPECT_EQ(duration_text(15860), "15.86 ms");
  EXPECT_EQ(figure_text(999.4, "GB/s"), "999 GB/s");
  EXPECT_EQ(figure_text(8671, "GFLOP/s"), "8.67 TFLOP/s");
  EXPECT_EQ(figure_text(14.62, "ns/load"), "14.6 ns/load");
  EXPECT_EQ(figure_text(1200, "blocks"), "1200 blocks");
  EXPECT_EQ(plural(1, "launch"), "1 launch");
  EXPECT_EQ(plural(1200, "launch"), "1,200 launches");
}

TEST(TextStyle, texts_are_cut_by_columns_not_bytes) {
  EXPECT_EQ(columns("\u00e4\u00f6\u00fc"), 3u);
  EXPECT_EQ(fitted("\u00e4\u00f6\u00fc", 3), "\u00e4\u00f6\u00fc");
  EXPECT_EQ(fitted("abcdefgh", 6), "abc...");
  EXPECT_EQ(fitted_middle("abcdefghijkl", 9), "abc...jkl");
  EXPECT_EQ(wrapped("one two three", 9, 2), "  one two\n  three\n");
}

TEST(KernelName, is_short_and_readable) {
  EXPECT_EQ(short_name("_Z12matmul_naiveifPKfS0_fPf"), "matmul_naive");
  EXPECT_EQ(short_name("_Z4scanIfLi128EEvPT_i"), "scan<float, 128>");
  EXPECT_EQ(short_name("_ZN12_GLOBAL__N_14axpyEv"), "axpy");
  EXPECT_EQ(short_name("_ZN3lib5outerINS_5innerIiEEE3runEPFviE"), "lib::outer<lib::inner<int> >::run");
  EXPECT_EQ(short_name("triton_kernel"), "triton_kernel");
  EXPECT_EQ(demangled("_Z1fi"), "f(int)");
  for (const char* plain : {"e", "f", "Pi", "kernel", "_Zero"}) EXPECT_EQ(demangled(plain), plain);
}

TEST(KernelName, arguments_without_source_are_numbered) {
  events::KernelInfo kernel;
  kernel.name = "_Z1fPf";
  EXPECT_EQ(parameter_name(kernel, "_Z1fPf_param_0"), "argument 1");
  EXPECT_EQ(parameter_name(kernel, "x_ptr"), "x_ptr");
}

TEST(KernelName, arguments_are_named_by_the_signature_not_by_a_call) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("names_" + std::to_string(getpid()) + ".cu")).string();
  std::ofstream(path) << "void g() { __global__thing; f(a, b); }\n"
                         "template <int N>\n__global__ __launch_bounds__(256) void f(const float4* __restrict__ in,\n"
                         "   std::pair<int, int> shape, float (&)[2], int = 3, unsigned* out = nullptr) {\n";
  events::KernelInfo kernel;
  kernel.name = "_Z1fPf";
  kernel.files = {"", path};
  EXPECT_EQ(parameter_name(kernel, "_Z1fPf_param_0"), "in");
  EXPECT_EQ(parameter_name(kernel, "_Z1fPf_param_1"), "shape");
  EXPECT_EQ(parameter_name(kernel, "_Z1fPf_param_3"), "argument 4");
  EXPECT_EQ(parameter_name(kernel, "_Z1fPf_param_4"), "out");
  EXPECT_EQ(parameter_name(kernel, "_Z1fPf_param_9"), "argument 10");
  std::filesystem::remove(path);
}

// H200, 2048 x 2048, block 32 x 32: counted by the GPU for kernels with these access patterns (global loads and
// stores).
TEST(Totals, equal_what_an_h200_counted) {
  const RunRecord naive = example::matmul(example::Product::kNaive, 2048, "");
  const Totals a = totals_of(naive.kernels[0].info, *naive.launches[0].counts);
  EXPECT_EQ(a.at(Memory::kGlobal, Kind::kRead).requests, 537001984u);
  EXPECT_EQ(a.at(Memory::kGlobal, Kind::kRead).sectors, 8862564352u);
  EXPECT_EQ(a.at(Memory::kGlobal, Kind::kWrite).requests, 131072u);
  EXPECT_EQ(a.at(Memory::kGlobal, Kind::kWrite).sectors, 4194304u);
  EXPECT_EQ(a.all(Memory::kGlobal).ideal_sectors, 1343225856u);
  const RunRecord coalesced = example::matmul(example::Product::kCoalesced, 2048, "");
  const Totals b = totals_of(coalesced.kernels[0].info, *coalesced.launches[0].counts);
  EXPECT_EQ(b.at(Memory::kGlobal, Kind::kRead).sectors, 1342701568u);
  EXPECT_EQ(b.at(Memory::kGlobal, Kind::kWrite).sectors, 524288u);
}

TEST(Totals, generic_accesses_count_as_what_they_were) {
  events::KernelInfo kernel;
  for (const events::Space space : {events::Space::kGlobal, events::Space::kShared, events::Space::kLocal})
    kernel.sites.push_back({0, space, events::Access::kLoad, 4, "", true});
  events::LaunchCounts counts;
  counts.sites = {{1, 32, 4, 1, 4, 0, 0}, {2, 64, 0, 0, 0, 2, 2}, {3, 96, 12, 3, 12, 0, 0}};
  const Totals t = totals_of(kernel, counts);
  EXPECT_EQ(t.at(Memory::kGlobal, Kind::kRead).sectors, 4u);
  EXPECT_EQ(t.at(Memory::kShared, Kind::kRead).wavefronts, 2u);
  EXPECT_EQ(t.at(Memory::kLocal, Kind::kRead).sectors, 12u);
}

TEST(Fold, keeps_shapes_and_states_apart_and_spreads) {
  RunRecord run = example::matmul(example::Product::kNaive, 64, "");
  for (int i = 1; i < 5; ++i) run.launches.push_back(run.launches[0]);
  auto more = std::make_shared<events::LaunchCounts>(*run.launches[0].counts);
  more->sites[0].sectors += 5;
  run.launches[1].counts = more;
  run.launches[2].shape.dynamic_shared_bytes = 4;
  run.launches[3].complete = false;
  const auto groups = fold(run, Folding::kByShape);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].launches, 3u);  // 0, 1 and 4
  EXPECT_EQ(groups[0].sectors.max - groups[0].sectors.min, 5);
  EXPECT_EQ(groups[0].totals.all(Memory::kGlobal).sectors, static_cast<uint64_t>(groups[0].sectors.sum));
  EXPECT_EQ(fold(run, Folding::kNone).size(), 5u);
}

AccessRow access(uint64_t sectors, uint64_t ideal, unsigned bytes = 4) {
  AccessRow a;
  a.bytes = bytes;
  a.traffic = {10, 320, 320ull * bytes, 10 * sectors, 10 * ideal, 10 * ideal, 0, 0};
  return a;
}

TEST(Explain, says_what_the_counts_mean) {
  EXPECT_NE(explain(access(32, 4)).find("a sector of its own, so 32 bytes are moved for every 4 used"),
            std::string::npos);
  EXPECT_NE(explain(access(1, 1)).find("same sector"), std::string::npos);
  EXPECT_NE(explain(access(4, 4)).find("neighbouring"), std::string::npos);
  EXPECT_NE(explain(access(5, 4)).find("do not begin at a sector boundary: 5.0 sectors where 4.0"), std::string::npos);
  EXPECT_NE(explain(access(16, 4)).find("spread over 16.0 sectors; side by side they would fit 4.0"),
            std::string::npos);
}

class OutputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("output_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static std::string read(const std::filesystem::path& path) {
    std::ifstream in(path);
    std::ostringstream s;
    s << in.rdbuf();
    return s.str();
  }
  std::filesystem::path folder_;
};

TEST_F(OutputFileTest, replaces_a_file_whole) {
  const auto path = folder_ / "out.json";
  ASSERT_TRUE(write_output(path, "first"));
  ASSERT_TRUE(write_output(path, "second"));
  EXPECT_EQ(read(path), "second");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);  // no temporary file is left
}

TEST_F(OutputFileTest, failures_are_one_message_and_leave_nothing) {
  const auto gone = write_output(folder_ / "missing" / "out.json", "x");
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().at(0).message.find("No such file"), std::string::npos);
  const auto full = write_output("/dev/full", std::string(100000, 'x'));
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().at(0).message.find("No space left"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

}  // namespace
}  // namespace warplens::report
