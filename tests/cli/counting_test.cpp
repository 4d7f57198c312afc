// SPDX-License-Identifier: Apache-2.0
// Closed forms in generated code against counting lane by lane, one core against three, whole programs: the reports
// agree in every number but times. All programs of examples/ and tests/programs; the gallery's are compared by
// tests/gallery/counts_test.py, the probes of truth/ by tests/truth.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;

/// Without what differs from run to run.
json comparable(json report) {
  if (report.is_object()) {
    for (const char* key : {"host_seconds", "seconds", "code", "command", "started"}) report.erase(key);
    for (auto& [key, value] : report.items()) value = comparable(value);
  } else if (report.is_array()) {
    for (json& value : report) value = comparable(value);
  }
  return report;
}

/// Without the lines that wait for other blocks or launches, whose rounds differ from run to run, and the sums that
/// they are in.
json without_waiting(json kernels) {
  for (json& kernel : kernels)
    for (json& group : kernel["launch_groups"]) {
      json& lines = group["lines"];
      const size_t all = lines.size();
      lines.erase(std::remove_if(lines.begin(), lines.end(),
                                 [](const json& line) {
                                   const std::string text = line["text"];
                                   return text.find("grid.sync()") != std::string::npos ||
                                          text.find("while (*flag == 0)") != std::string::npos;
                                 }),
                  lines.end());
      if (lines.size() == all) continue;
      // By number of instructions before.
      std::sort(lines.begin(), lines.end(), [](const json& a, const json& b) { return a["line"] < b["line"]; });
      group.erase("totals");
      group.erase("per_launch");
    }
  return kernels;
}

/// Programs that launch nothing that could be compared, and why.
bool is_left_out(const std::string& program) {
  static const std::map<std::string, const char*> kLeftOut = {
      {"tests/programs/device.cu", "launches no kernel"},
      {"tests/programs/occupancy.cu", "launches no kernel"},
      {"tests/programs/managed.cu", "clang has no __managed__"},
      {"tests/programs/fault.cu", "its launches end inside a warp, whose counts in closed form are short of a block"}};
  return kLeftOut.contains(program);
}

/// What a program is given; lane by lane the matrix products at their usual size take a while. Odd, so that warps have
/// lanes without work.
std::vector<std::string> words_of(const std::string& program) {
  return program.find("matmul_") != std::string::npos ? std::vector<std::string>{"129"} : std::vector<std::string>{};
}

std::set<std::string> programs() {
  std::set<std::string> found;
  for (const char* folder : {"examples", "tests/programs"})
    for (const auto& file : std::filesystem::directory_iterator(std::string(WARPLENS_SOURCE_DIR) + "/" + folder)) {
      const std::string program = std::string(folder) + "/" + file.path().filename().string();
      if (file.path().extension() == ".cu" && !is_left_out(program)) found.insert(program);
    }
  return found;
}

class CountingTest : public ToolTest, public testing::WithParamInterface<std::string> {
 protected:
  json report_of(const std::vector<std::string>& options, const std::vector<std::string>& words) const {
    std::vector<std::string> command = {"run", "-q", "--json", path("report.json")};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), words.begin(), words.end());
    const ProcessResult result = tool(command);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return without_waiting(comparable(json::parse(read(path("report.json")))["kernels"]));
  }
};

TEST_P(CountingTest, oracle_and_closed_forms_agree) {
  const std::string source = std::string(WARPLENS_SOURCE_DIR) + "/" + GetParam();
  std::vector<std::string> program = words_of(GetParam());
  program.insert(program.begin(), path("program"));
  const ProcessResult built = tool({"cc", "-O3", "-std=c++17", source, "-o", path("program")});
  ASSERT_EQ(built.exit_code, 0) << built.errors;
  const json fast = report_of({"--workers", "1"}, program);
  EXPECT_FALSE(fast.empty());
  EXPECT_EQ(report_of({"--workers", "3"}, program), fast);
  EXPECT_EQ(report_of({"--counting", "oracle"}, program), fast);
}

INSTANTIATE_TEST_SUITE_P(Programs, CountingTest, testing::ValuesIn(programs()), [](const auto& info) {
  const std::string path = info.param;
  return path.substr(path.rfind('/') + 1, path.rfind('.') - path.rfind('/') - 1);
});

}  // namespace
}  // namespace warplens::cli_tests
