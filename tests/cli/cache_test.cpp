// SPDX-License-Identifier: Apache-2.0
// Compiled kernels on disk, as users see them: a second run finds all of them and reports the same, whatever happened
// to the folder between, and any number of runs share it.
#include <cstring>
#include <optional>
#include <thread>

#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class CacheTest : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    for (const char* name : {"WARPLENS_CACHE", "WARPLENS_CACHE_SIZE", "XDG_CACHE_HOME"}) {
      const char* value = ::getenv(name);
      before_.emplace_back(name, value == nullptr ? std::optional<std::string>() : value);
      ::unsetenv(name);
    }
    ::setenv("XDG_CACHE_HOME", path("home").c_str(), 1);
    file("k.ptx", R"(.version 8.5
.target sm_90
.address_size 64
.global .align 4 .f32 factor[2] = {0f40000000, 0f40400000};
.visible .entry twice(.param .u64 p) { .reg .b64 a; .reg .b32 t; .reg .f32 v, w;
  ld.param.u64 a, [p]; mov.u32 t, %tid.x; mad.wide.u32 a, t, 4, a; ld.global.f32 v, [a]; ld.global.f32 w, [factor];
  mul.f32 v, v, w; st.global.f32 [a], v; ret; }
)");
  }
  void TearDown() override {
    for (const auto& [name, value] : before_) value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
    ToolTest::TearDown();
  }

  std::string folder() const { return path("home") + "/warplens"; }
  /// The report of one launch; the doubled array is compared, too.
  json launch(const std::vector<std::string>& options = {}, const std::string& report = "report.json") const {
    std::vector<std::string> words = {"run", "-q", "--json", path(report)};
    words.insert(words.end(), options.begin(), options.end());
    for (const char* w : {"--grid", "1", "--block", "64", "--arg", "out:f32[64]=1.5"}) words.emplace_back(w);
    words.insert(words.end(), {"--out", path(report + ".npy"), path("k.ptx")});
    const ProcessResult result = tool(words);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    const std::string doubled = read(path(report + ".npy"));
    float last = 0;
    EXPECT_GE(doubled.size(), 4u);
    if (doubled.size() >= 4) std::memcpy(&last, doubled.data() + doubled.size() - 4, 4);
    EXPECT_EQ(last, 3.0f);
    return json::parse(read(path(report)));
  }
  static void expect_code(const json& report, int compiled, int from_cache) {
    EXPECT_EQ(report["code"]["compiled"], compiled);
    EXPECT_EQ(report["code"]["from_cache"], from_cache);
  }
  /// All that must not depend on the cache.
  static json counts(const json& report) {
    json all = json::array();
    for (const json& kernel : report["kernels"])
      for (const json& group : kernel["launch_groups"])
        all.push_back({kernel["name"], group["totals"], group["lines"], group["per_launch"]});
    return all;
  }

  std::vector<std::pair<const char*, std::optional<std::string>>> before_;
};

TEST_F(CacheTest, a_second_run_compiles_nothing_and_counts_the_same) {
  const json cold = launch(), warm = launch();
  expect_code(cold, 1, 0);
  expect_code(warm, 0, 1);
  EXPECT_EQ(counts(warm), counts(cold));
  EXPECT_FALSE(counts(cold).empty());
}

TEST_F(CacheTest, kernels_of_a_program_are_found_too) {
  const std::string source = WARPLENS_SOURCE_DIR "/examples/vector_add.cu";
  for (const int warm : {0, 1}) {
    const auto result = tool({"run", "-q", "--json", path("r.json"), source, "10000"});
    ASSERT_EQ(result.exit_code, 0) << result.errors;
    expect_code(json::parse(read(path("r.json"))), 1 - warm, warm);
  }
}

TEST_F(CacheTest, damaged_entries_are_replaced) {
  const json cold = launch();
  for (const auto& e : fs::directory_iterator(folder())) fs::resize_file(e.path(), fs::file_size(e.path()) / 2);
  const json damaged = launch();
  expect_code(damaged, 1, 0);
  EXPECT_EQ(counts(damaged), counts(cold));
  expect_code(launch(), 0, 1);
}

TEST_F(CacheTest, runs_at_once_share_the_folder) {
  std::vector<std::thread> runs;
  std::vector<json> reports(4);
  for (size_t i = 0; i < reports.size(); ++i)
    runs.emplace_back([this, &reports, i] { reports[i] = launch({}, "report" + std::to_string(i)); });
  for (auto& r : runs) r.join();
  for (const json& r : reports) EXPECT_EQ(counts(r), counts(reports[0]));
  expect_code(launch(), 0, 1);
}

TEST_F(CacheTest, it_can_be_switched_off) {
  expect_code(launch({"--no-cache"}), 1, 0);
  ::setenv("WARPLENS_CACHE", "off", 1);
  expect_code(launch(), 1, 0);
  EXPECT_NE(tool({"cache"}).output.find("no cache"), std::string::npos);
  EXPECT_FALSE(fs::exists(path("home")));
}

TEST_F(CacheTest, a_folder_that_cannot_be_used_is_one_notice) {
  file("home", "a file");
  const json report = launch();
  expect_code(report, 1, 0);
  ASSERT_EQ(report["notices"].size(), 1u);
  EXPECT_EQ(report["notices"][0]["kind"], "code_cache");
}

TEST_F(CacheTest, the_tool_shows_and_clears_it) {
  launch();
  const std::string shown = tool({"cache"}).output;
  EXPECT_NE(shown.find("folder   " + folder() + "\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("entries  1\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("bound    1073741824\n"), std::string::npos) << shown;
  const auto cleared = tool({"cache", "clear"});
  EXPECT_EQ(cleared.exit_code, 0);
  EXPECT_NE(tool({"cache"}).output.find("entries  0\n"), std::string::npos);
  expect_code(launch(), 1, 0);
  expect_refused(tool({"cache", "empty"}), "does not know 'empty'");
}

}  // namespace
}  // namespace warplens::cli_tests
