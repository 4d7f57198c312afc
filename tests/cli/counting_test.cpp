// SPDX-License-Identifier: Apache-2.0
// Closed forms in generated code against counting lane by lane, one core against two, whole programs: the reports agree
// in every number but times.
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

class CountingTest : public ToolTest, public testing::WithParamInterface<const char*> {
 protected:
  json report_of(const std::vector<std::string>& options, const std::vector<std::string>& words) const {
    std::vector<std::string> command = {"run", "-q", "--json", path("report.json")};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), words.begin(), words.end());
    const ProcessResult result = tool(command);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return comparable(json::parse(read(path("report.json")))["kernels"]);
  }
};

TEST_P(CountingTest, oracle_and_closed_forms_agree) {
  const std::string source = std::string(WARPLENS_SOURCE_DIR) + "/" + GetParam();
  const ProcessResult built = tool({"cc", "-O3", "-std=c++17", source, "-o", path("program")});
  ASSERT_EQ(built.exit_code, 0) << built.errors;
  const json fast = report_of({"--workers", "1"}, {path("program")});
  EXPECT_FALSE(fast.empty());
  EXPECT_EQ(report_of({"--workers", "3"}, {path("program")}), fast);
  EXPECT_EQ(report_of({"--counting", "oracle"}, {path("program")}), fast);
}

INSTANTIATE_TEST_SUITE_P(Programs, CountingTest,
                         testing::Values("examples/vector_add.cu", "examples/strided_read.cu",
                                         "tests/programs/launch.cu", "tests/programs/memory.cu",
                                         "tests/programs/symbol.cu", "tests/programs/groups.cu",
                                         "tests/programs/barriers.cu"),
                         [](const auto& info) {
                           const std::string path = info.param;
                           return path.substr(path.rfind('/') + 1, path.rfind('.') - path.rfind('/') - 1);
                         });

}  // namespace
}  // namespace warplens::cli_tests
