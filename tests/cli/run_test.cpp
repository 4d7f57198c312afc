// SPDX-License-Identifier: Apache-2.0
// Options, exit codes and outputs of `warplens run`, with a program that records by hand.
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;

class RunTest : public ToolTest {};

TEST_F(RunTest, report_goes_to_stderr_and_the_programs_output_is_untouched) {
  const auto r = run({}, {"record", "print", "hello"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.output, "hello\n");
  EXPECT_NE(r.errors.find("matmul_naive  grid 2 x 2, block 32 x 32, 1 launch"), std::string::npos) << r.errors;
  EXPECT_EQ(r.errors.find('\033'), std::string::npos);  // no terminal, no colour
}

TEST_F(RunTest, everything_after_the_program_belongs_to_it) {
  EXPECT_EQ(run({"-q"}, {"print", "--json", "x", "-q", "--", "a b", ""}).output, "--json\nx\n-q\n--\na b\n\n");
  EXPECT_EQ(tool({"run", "-q", WARPLENS_CLI_PROGRAM, "--", "print", "--", "x"}).output, "--\nx\n");
  EXPECT_EQ(tool({"run", "-q", "--", WARPLENS_CLI_PROGRAM, "print", "x"}).output, "x\n");
}

TEST_F(RunTest, exit_code_is_the_programs) {
  EXPECT_EQ(run({"-q"}, {"exit", "0"}).exit_code, 0);
  EXPECT_EQ(run({"-q"}, {"record", "exit", "7"}).exit_code, 7);
  const auto aborted = run({}, {"record", "signal", std::to_string(SIGABRT)});
  EXPECT_EQ(aborted.exit_code, 134);
  EXPECT_NE(aborted.errors.find("ended by signal 6"), std::string::npos);
  EXPECT_NE(aborted.errors.find("matmul_naive"), std::string::npos);  // the report so far
  EXPECT_EQ(run({"-q"}, {"signal", std::to_string(SIGKILL)}).exit_code, 137);
}

TEST_F(RunTest, json_to_a_file_and_to_stdout) {
  const std::string out = path("report.json");
  ASSERT_EQ(run({"-q", "--json", out}, {"record", "record"}).exit_code, 0);
  const json report = json::parse(read(out));
  EXPECT_EQ(report["schema_version"], 1);
  EXPECT_EQ(report["gpu"], "Test GPU");
  ASSERT_EQ(report["kernels"].size(), 1u);
  EXPECT_EQ(report["kernels"][0]["launch_groups"][0]["launches"], 2);
  EXPECT_EQ(report["command"][1], "record");
  const auto to_stdout = run({"-q", "--json=-"}, {"record"});
  EXPECT_EQ(json::parse(to_stdout.output)["kernels"][0]["short_name"], "matmul_naive");
}

TEST_F(RunTest, launches_all_unfolds) {
  const auto r = run({"-q", "--launches", "all", "--json", "-"}, {"record", "record", "record"});
  EXPECT_EQ(json::parse(r.output)["kernels"][0]["launch_groups"].size(), 3u);
}

TEST_F(RunTest, unwritable_output_is_code_3_and_leaves_nothing) {
  expect_refused(run({"-q", "--json", path("none/report.json")}, {"record"}), "cannot write", 3);
  expect_refused(run({"-q", "--json", "/dev/full"}, {"record"}), "No space left", 3);
  const std::string kept = file("old.json", "old");
  std::filesystem::permissions(path(""), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto r = run({"-q", "--json", kept}, {"record"});
  std::filesystem::permissions(path(""), std::filesystem::perms::owner_all);
  if (r.exit_code == 0) GTEST_SKIP() << "this user may write everywhere";
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_EQ(read(kept), "old");
}

TEST_F(RunTest, a_damaged_record_does_not_pass_for_a_good_run) {
  const auto r = run({}, {"record", "damage"});
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_NE(r.errors.find("the report may be incomplete"), std::string::npos);
}

TEST_F(RunTest, timeout_ends_the_program_with_the_report_so_far) {
  const auto r = run({"--timeout", "0.5"}, {"record", "hang"});
  EXPECT_EQ(r.exit_code, 124);
  EXPECT_NE(r.errors.find("time limit"), std::string::npos);
  EXPECT_NE(r.errors.find("matmul_naive  grid"), std::string::npos);
  EXPECT_EQ(run({"-q", "--timeout", "60"}, {"exit", "5"}).exit_code, 5);
}

TEST_F(RunTest, timeout_kills_what_does_not_stop) {
  const auto r = run({"--timeout", "0.2"}, {"stubborn", "record", "begin", "hang"});
  EXPECT_EQ(r.exit_code, 124);
  EXPECT_NE(r.errors.find("not finished"), std::string::npos) << r.errors;
}

TEST_F(RunTest, ctrl_c_ends_with_the_report_so_far) {
  // `timeout` signals the tool alone, as `kill` would; the tool passes it on.
  const auto result = run_process({"timeout", "--foreground", "--preserve-status", "-s", "INT", "2", WARPLENS_TOOL,
                                   "run", WARPLENS_CLI_PROGRAM, "record", "hang"});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->exit_code, 130);
  EXPECT_NE(result->errors.find("interrupted"), std::string::npos) << result->errors;
  EXPECT_NE(result->errors.find("matmul_naive  grid"), std::string::npos);
}

TEST_F(RunTest, notices_are_shown) {
  EXPECT_NE(run({}, {"notice"}).errors.find("note: cudaGraphLaunch is not supported"), std::string::npos);
}

TEST_F(RunTest, choices_reach_the_program) {
  EXPECT_EQ(
      run({"-q", "--executor", "interpreter", "--kernel", "mat.*", "--workers=3", "--launch-skip", "4"}, {"session"})
          .output,
      "interpreter mat.* 3 4\n");
  EXPECT_NE(run({"--no-count"}, {"record"}).errors.find("not counted"), std::string::npos);
}

TEST_F(RunTest, text_fits_the_width_that_columns_asks_for) {
  ::setenv("COLUMNS", "60", 1);
  std::istringstream lines(run({}, {"record"}).errors);
  ::unsetenv("COLUMNS");
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60u) << line;
}

TEST_F(RunTest, all_wrong_options_are_reported_at_once) {
  const auto r =
      tool({"run", "--timeout", "soon", "--kernel", "(", "--launches", "some", "--launch-count", "-1", "x.cu"});
  for (const char* text : {"--timeout needs", "--kernel: '('", "--launches is", "--launch-count needs"})
    expect_refused(r, text);
}

TEST_F(RunTest, unknown_words_get_a_suggestion) {
  expect_refused(tool({"run", "--jsno", "x", "app"}), "did you mean --json?");
  expect_refused(tool({"rnu"}), "did you mean 'warplens run'?");
  expect_refused(tool({"app.cu"}), "did you mean 'warplens run app.cu'?");
  expect_refused(tool({"frobnicate"}), "warplens --help");
  expect_refused(tool({"run"}), "nothing to run");
  expect_refused(tool({"run", "--json"}), "--json needs a value");
  expect_refused(tool({"run", "--keep=yes", "x.cu"}), "--keep takes no value");
  expect_refused(tool({"run", "-o", "x", "x.cu"}), "-o and -c");
}

TEST_F(RunTest, help_and_version) {
  EXPECT_EQ(tool({"--version"}).output.rfind("warplens ", 0), 0u);
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"--help"}, {"help", "run"}, {"run", "--help"}, {"demo", "--help"}}) {
    const auto r = tool(words);
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_NE(r.output.find("warplens"), std::string::npos);
    std::istringstream lines(r.output);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
  }
  EXPECT_EQ(tool({}).exit_code, 2);
}

}  // namespace
}  // namespace warplens::cli_tests
