// SPDX-License-Identifier: Apache-2.0
// Limits end to end: .warplens.toml, options, exit codes.
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

class LimitsCliTest : public ToolTest {
 protected:
  /// Like run(), with a configuration of its own.
  ProcessResult run_with(const std::string& config, std::vector<std::string> options,
                         const std::vector<std::string>& words) const {
    options.insert(options.end(), {"--config", file("limits.toml", config)});
    return run(options, words);
  }
};

TEST_F(LimitsCliTest, a_broken_limit_is_code_1_with_one_line_even_when_quiet) {
  const auto r = run_with("[[limit]]\nexcessive_sectors = 0\n", {"-q"}, {"record"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_NE(r.errors.find("error: matmul_naive: 229,376 excessive sectors, the limit 0"), std::string::npos)
      << r.errors;
  EXPECT_NE(r.errors.find("limits: 0 kept, 1 broken"), std::string::npos) << r.errors;
  const auto kept = run_with("[[limit]]\nexcessive_sectors = 236544\n", {}, {"record"});
  EXPECT_EQ(kept.exit_code, 0);
  EXPECT_NE(kept.errors.find("limits: 1 kept, 0 broken"), std::string::npos) << kept.errors;
  EXPECT_EQ(run_with("[[limit]]\nexcessive_sectors = 236544\n", {"-q"}, {"record"}).errors, "");
}

TEST_F(LimitsCliTest, the_programs_own_failure_stands) {
  const std::string config = "[[limit]]\nexcessive_sectors = 0\n";
  EXPECT_EQ(run_with(config, {"-q"}, {"record", "exit", "7"}).exit_code, 7);
  EXPECT_EQ(run_with(config, {"-q", "--timeout", "0.5"}, {"record", "hang"}).exit_code, 124);
}

TEST_F(LimitsCliTest, options_override_the_file) {
  const std::string config = "[[limit]]\nkernel = \"naive\"\nexcessive_sectors = 0\n";
  EXPECT_EQ(run_with(config, {"-q", "--limit", "excessive_sectors=236544"}, {"record"}).exit_code, 0);
  EXPECT_EQ(run({"-q", "--limit", "max_sectors_per_request=4"}, {"record"}).exit_code, 1);
  EXPECT_EQ(run({"-q", "--limit=max_sectors_per_request=32"}, {"record"}).exit_code, 0);
  EXPECT_EQ(run_with(config, {"-q", "--no-config"}, {"record"}).exit_code, 2);  // --config and none: a contradiction
}

TEST_F(LimitsCliTest, what_checks_nothing_is_code_2) {
  const auto none = run_with("[[limit]]\nkernel = \"reduce\"\nexcessive_sectors = 0\n", {"-q"}, {"record"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.errors.find("limits.toml:3:21: error: excessive_sectors = 0 was not checked: no kernel that ran "
                             "matches 'reduce'"),
            std::string::npos)
      << none.errors;
  EXPECT_EQ(run({"-q", "--limit", "excessive_sectors=0"}, {"print"}).exit_code, 2);
  expect_refused(run_with("[[limit]]\nmax = { inst_exec = 3 }\n", {}, {"print", "x"}),
                 "there is no metric 'inst_exec'");
  expect_refused(run_with("[[limit]]\n", {}, {"print", "x"}), "limits nothing");
  expect_refused(run_with("limit = [", {}, {"print", "x"}), "limits.toml:1:");
  expect_refused(run({"--config", path("none.toml")}, {"print", "x"}), "none.toml");
  expect_refused(run({"--no-count", "--limit", "excessive_sectors=0"}, {"print", "x"}), "--no-count");
}

TEST_F(LimitsCliTest, the_nearest_file_is_used_and_can_be_shown) {
  std::filesystem::create_directories(path("a/b"));
  file("a/.warplens.toml", "timeout = 7\n[[limit]]\nexcessive_sectors = 3\n");
  file("a/b/x.cu", "not CUDA");
  const auto shown = tool({"run", "--dump-config", "--limit", "min_occupancy=0.5", path("a/b/x.cu")});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_NE(shown.output.find("a/.warplens.toml\ntimeout = 7\n\n[[limit]]\nexcessive_sectors = 3\n\n[[limit]]\n"
                              "min_occupancy = 0.5\n"),
            std::string::npos)
      << shown.output;
  EXPECT_EQ(tool({"run", "--dump-config", "--no-config"}).output, "");
  file("a/.warplens.toml", "gpu = \"h300\"\n");
  expect_refused(tool({"run", path("a/b/x.cu")}), "there is no GPU 'h300'");
}

}  // namespace
}  // namespace warplens::cli_tests
