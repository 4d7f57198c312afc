// SPDX-License-Identifier: Apache-2.0
// examples/ci as its README tells it: built with find_package(Warplens), tested by ctest; then the changes of three
// pull requests: one that wastes, one that only moves code, and one that another compiler built.
#include "compile/process.h"
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

#ifdef WARPLENS_SANITIZER_RUNTIME
constexpr bool kSanitized = true;  // GoogleTest's main is not instrumented, the runtime in it is
#else
constexpr bool kSanitized = false;
#endif

class CiExample : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    fs::copy(WARPLENS_SOURCE_DIR "/examples/ci", path("ci"), fs::copy_options::recursive);
    prefix_ = fs::path(WARPLENS_TOOL).parent_path().parent_path().string();
  }
  ProcessResult build_and_test() const {
    const std::string script = "cd " + path("ci") + " && cmake -B build -DCMAKE_PREFIX_PATH=" + prefix_ +
                               " >log 2>&1 && cmake --build build >>log 2>&1 || { cat log; exit 99; }; "
                               "ctest --test-dir build --output-on-failure";
    return run_process({"/bin/sh", "-c", script}).value();
  }
  void edit(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read(path("ci/" + name));
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    file("ci/" + name, text.replace(at, from.size(), to));
  }
  std::string prefix_;
};

TEST_F(CiExample, three_pull_requests) {
  if (kSanitized) GTEST_SKIP() << "the project's own executable is not instrumented";
  const auto first = build_and_test();
  ASSERT_EQ(first.exit_code, 0) << first.output << first.errors;
  const std::string reports = path("ci/build/kernels_test.warplens");
  for (const char* kind : {".json", ".sarif", ".junit.xml", ".md"}) EXPECT_TRUE(fs::exists(reports + kind)) << kind;
  EXPECT_NE(read(reports + ".md").find("all 7 limits kept"), std::string::npos) << read(reports + ".md");

  // The padding goes: right numbers, 32 passes where one would do.
  edit("kernels.cu", "tile[32][33]", "tile[32][32]");
  const auto wasteful = build_and_test();
  EXPECT_NE(wasteful.exit_code, 0);
  EXPECT_NE(wasteful.output.find("[  PASSED  ] 2 tests."), std::string::npos) << wasteful.output;
  // 16 blocks x 32 warp-reads of a column x 31 passes too many.
  EXPECT_NE(wasteful.output.find("error: transpose: 15,872 excessive wavefronts, the limit 0: read: bank conflicts"),
            std::string::npos)
      << wasteful.output;
  EXPECT_NE(wasteful.output.find("kernels.cu:20:"), std::string::npos) << wasteful.output;
  edit("kernels.cu", "tile[32][32]", "tile[32][33]");

  // With a baseline, code that moves is no change.
  fs::copy(reports + ".json", path("ci/base.json"), fs::copy_options::overwrite_existing);
  ASSERT_EQ(build_and_test().exit_code, 0);
  fs::copy(reports + ".json", path("ci/base.json"), fs::copy_options::overwrite_existing);
  edit(".warplens.toml", "[[limit]]", "baseline = \"base.json\"\n\n[[limit]]");
  edit("kernels.cu", "#include <stdexcept>\n",
       "#include <stdexcept>\n\n// Some words about the kernels,\n// on two lines.\n");
  const auto moved = build_and_test();
  EXPECT_EQ(moved.exit_code, 0) << moved.output;

  // One more value is read: nothing is wasted, but there are more requests than before.
  edit("kernels.cu", "factor * in[row * columns + column]",
       "factor * in[row * columns + column] + 0 * in[row * columns]");
  const auto more = build_and_test();
  EXPECT_NE(more.exit_code, 0);
  EXPECT_NE(more.output.find("error: scale: global read"), std::string::npos) << more.output;
  edit("kernels.cu", " + 0 * in[row * columns]", "");

  // A baseline that another compiler made, with half the traffic.
  json base = json::parse(read(path("ci/base.json")));
  for (json& kernel : base["kernels"]) {
    kernel["ptx"] = {{"hash", "0"}, {"compiler", "clang version 18.1.8"}};
    for (json& t : kernel["launch_groups"][0]["totals"]["memory"]) t["requests"] = t["requests"].get<uint64_t>() / 2;
  }
  file("ci/base.json", base.dump());
  const auto upgrade = build_and_test();
  EXPECT_EQ(upgrade.exit_code, 0) << upgrade.output;
  EXPECT_NE(read(reports + ".md").find("its source files are the same"), std::string::npos) << read(reports + ".md");
}

TEST_F(CiExample, add_test_refuses_what_it_does_not_know) {
  edit("CMakeLists.txt", "warplens_add_test(kernels_test TIMEOUT 120)", "warplens_add_test(kernel_tests)");
  EXPECT_NE(build_and_test().output.find("there is no target 'kernel_tests'"), std::string::npos);
  edit("CMakeLists.txt", "warplens_add_test(kernel_tests)", "warplens_add_test(kernels_test --limit x)");
  EXPECT_NE(build_and_test().output.find("what is '--limit;x'"), std::string::npos);
}

}  // namespace
}  // namespace warplens::cli_tests
