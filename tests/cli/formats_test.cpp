// SPDX-License-Identifier: Apache-2.0
// All formats from one run, and what happens when one of them cannot be written.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool_runner.h"

extern char** environ;

namespace warplens::cli_tests {
namespace {

using nlohmann::json;

class FormatsCliTest : public ToolTest {
 protected:
  std::vector<std::string> all_formats() const {
    return {"-q",      "--json",      path("a.json"), "--csv",      path("a.csv"),   "--sarif",    path("a.sarif"),
            "--junit", path("a.xml"), "--markdown",   path("a.md"), "--annotations", path("a.txt")};
  }
};

TEST_F(FormatsCliTest, all_formats_come_from_one_run) {
  const auto r =
      run({"-q", "--json", path("a.json"), "--csv", path("a.csv"), "--sarif", path("a.sarif"), "--junit", path("a.xml"),
           "--markdown", path("a.md"), "--annotations", path("a.txt"), "--limit", "excessive_sectors=0"},
          {"record"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(json::parse(read(path("a.json")))["schema_version"], 1);
  EXPECT_EQ(json::parse(read(path("a.json")))["limits"][0]["outcome"], "broken");
  EXPECT_EQ(json::parse(read(path("a.sarif")))["runs"][0]["results"][0]["ruleId"], "excessive-sectors");
  EXPECT_NE(read(path("a.xml")).find("name=\"excessive_sectors = 0\""), std::string::npos);
  EXPECT_NE(read(path("a.md")).find("### Warplens: 1 limit broken"), std::string::npos) << read(path("a.md"));
  // The path is that within the repository around the test's folder, if there is one.
  const std::string annotations = read(path("a.txt"));
  EXPECT_EQ(annotations.rfind("::error file=", 0), 0u) << annotations;
  EXPECT_NE(annotations.find("k.ptx,line=30,title=warplens excessive-sectors::matmul_naive"), std::string::npos);
  EXPECT_NE(read(path("a.csv")).find("matmul_naive"), std::string::npos);
}

TEST_F(FormatsCliTest, a_source_root_makes_paths_relative_in_every_format) {
  std::filesystem::create_directories(path("root/src"));
  const std::string source = file("root/src/a.cu", R"(__global__ void strided(const float* in, float* out) {
  out[threadIdx.x] = in[8 * threadIdx.x];
}
int main() {
  float *in, *out;
  cudaMalloc(&in, 1024);
  cudaMalloc(&out, 128);
  strided<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize();
}
)");
  const auto r = tool({"run", "-q", "--source-root", path("root/"), "--json", path("a.json"), "--sarif",
                       path("a.sarif"), "--markdown", path("a.md"), "--annotations", path("a.txt"), source});
  EXPECT_EQ(r.exit_code, 0) << r.errors;
  EXPECT_EQ(json::parse(read(path("a.json")))["kernels"][0]["launch_groups"][0]["lines"][0]["file"], "src/a.cu");
  const json sarif = json::parse(read(path("a.sarif")))["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(sarif["artifactLocation"]["uri"], "src/a.cu");
  EXPECT_NE(read(path("a.md")).find("`src/a.cu:2`"), std::string::npos) << read(path("a.md"));
  EXPECT_NE(read(path("a.txt")).find("file=src/a.cu,line=2"), std::string::npos) << read(path("a.txt"));
  // A baseline that was made so is compared with a run that was not.
  EXPECT_EQ(tool({"run", "-q", "--baseline", path("a.json"), source}).exit_code, 0);
  expect_refused(tool({"run", "--source-root", source, source}), "--source-root needs a folder");
}

TEST_F(FormatsCliTest, each_can_be_standard_output_but_only_one) {
  for (const char* option : {"--json", "--csv", "--sarif", "--junit", "--markdown", "--annotations"})
    EXPECT_NE(run({"-q", option, "-"}, {"record"}).output.find("matmul_naive"), std::string::npos) << option;
  expect_refused(run({"--sarif", "-", "--junit=-"}, {"print", "x"}), "only one of --sarif, --junit");
  expect_refused(run({"--sarif="}, {"print", "x"}), "--sarif needs a file name");
}

TEST_F(FormatsCliTest, one_that_cannot_be_written_is_code_3_and_the_others_are_whole) {
  const auto r = run({"-q", "--sarif", path("none/a.sarif"), "--junit", path("a.xml")}, {"record"});
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_NE(r.errors.find("cannot write"), std::string::npos);
  EXPECT_NE(read(path("a.xml")).find("</testsuites>"), std::string::npos);
  for (const char* option : {"--sarif", "--junit", "--markdown", "--annotations"})
    EXPECT_EQ(run({"-q", option, "/dev/full"}, {"record"}).exit_code, 3) << option;
}

/// Every format is whole, has what was counted until the end, and says `why` the run ended.
void expect_all_say(const std::string& folder, const std::string& why) {
  const auto read = [&](const std::string& name) {
    std::ifstream in(folder + "/" + name);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  const json report = json::parse(read("a.json"));
  EXPECT_EQ(report["end"][why == "time limit" ? "timed_out" : "interrupted"], true);
  EXPECT_EQ(report["kernels"][0]["launch_groups"].size(), 2u);  // one counted, one not finished
  EXPECT_EQ(json::parse(read("a.sarif"))["runs"][0]["invocations"][0]["executionSuccessful"], false);
  for (const char* name : {"a.csv", "a.sarif", "a.xml", "a.md", "a.txt"}) {
    EXPECT_NE(read(name).find(why), std::string::npos) << name;
    EXPECT_NE(read(name).find("matmul_naive"), std::string::npos) << name;  // what was counted until then
  }
  const std::string csv = read("a.csv"), junit = read("a.xml");
  EXPECT_NE(csv.find(",\"all\"\n"), std::string::npos);
  EXPECT_NE(csv.find(",\"none\"\n==WARNING== "), std::string::npos);
  EXPECT_TRUE(junit.ends_with("</testsuites>\n"));
}

TEST_F(FormatsCliTest, a_run_that_meets_its_time_limit_says_so_in_every_format) {
  std::vector<std::string> options = all_formats();
  options.insert(options.end(), {"--timeout", "0.5"});
  EXPECT_EQ(run(options, {"record", "begin", "hang"}).exit_code, 124);
  expect_all_say(path(""), "time limit");
}

TEST_F(FormatsCliTest, a_run_that_ctrl_c_ends_says_so_in_every_format) {
  std::vector<std::string> words = {WARPLENS_TOOL, "run"};
  for (const std::string& word : all_formats()) words.push_back(word);
  words.insert(words.end(), {WARPLENS_CLI_PROGRAM, "record", "begin", "said", "hang"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string said = path("said");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, said.c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t tool = 0;
  ASSERT_EQ(posix_spawn(&tool, argv[0], &files, nullptr, argv.data(), environ), 0);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  for (bool sent = false; waitpid(tool, &status, WNOHANG) == 0; usleep(20000)) {
    if (sent || read(said) != "so far\n") continue;
    kill(tool, SIGINT);
    sent = true;
  }
  EXPECT_EQ(WEXITSTATUS(status), 130);
  expect_all_say(path(""), "was interrupted");
}

}  // namespace
}  // namespace warplens::cli_tests
