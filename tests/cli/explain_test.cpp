// SPDX-License-Identifier: Apache-2.0
// Every page's two programs are compiled, run and counted: the wrong one breaks the rule, at the line that it marks,
// and the right one does not.
#include "compile/process.h"
#include "gate/explain_pages.h"
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;

class ExplainTest : public ToolTest {
 protected:
  static std::vector<std::string> words(std::string_view text) {
    std::istringstream in{std::string(text)};
    std::vector<std::string> all;
    for (std::string word; in >> word;) all.push_back(word);
    return all;
  }
  /// The lines at which a run of the example says `rule`.
  std::vector<uint32_t> lines_that_break(const gate::Page& page, const char* which) const {
    const auto text = tool({"explain", std::string(page.rule), "--example", which});
    EXPECT_EQ(text.exit_code, 0);
    std::vector<std::string> run = {"run", "-q", "--no-config", "--sarif", path("out.sarif")};
    for (std::string& word : words(page.options)) run.push_back(word == "right.json" ? path(word) : word);
    run.push_back(file(std::string(which) + ".cu", text.output));
    const auto r = tool(run);
    // What cannot be run ends so; everything else must not.
    const bool runs = page.rule != "unsupported" || which == std::string("right");
    EXPECT_EQ(r.exit_code == 2, !runs) << page.rule << " " << which << ": " << r.errors;
    std::vector<uint32_t> lines;
    const json report = json::parse(read(path("out.sarif")));
    for (const json& result : report["runs"][0]["results"]) {
      if (result["ruleId"] != page.rule || result.contains("suppressions")) continue;
      const json& place = result["locations"][0];
      lines.push_back(
          place.contains("physicalLocation") ? place["physicalLocation"]["region"]["startLine"].get<uint32_t>() : 0);
    }
    return lines;
  }
  static uint32_t marked_line(std::string_view program) {
    std::istringstream in{std::string(program)};
    uint32_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (line.ends_with("// wrong")) return number;
    }
    return 0;
  }
};

std::vector<std::string> names_of_rules() {
  std::vector<std::string> names;
  for (const gate::Rule& rule : gate::rules()) names.emplace_back(rule.id);
  return names;
}

class ExplainPage : public ExplainTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(ExplainPage, programs_do_what_the_page_says) {
  const gate::Page& page = gate::page_of(*gate::find_rule(GetParam()));
  ASSERT_FALSE(page.wrong.empty() || page.right.empty());
  if (page.against_right) {
    const std::string source = file("baseline.cu", std::string(page.right));
    ASSERT_EQ(tool({"run", "-q", "--no-config", "--json", path("right.json"), source}).exit_code, 0);
  }
  const std::vector<uint32_t> lines = lines_that_break(page, "wrong");
  // What is said of a whole kernel stands somewhere in it.
  if (const uint32_t marked = marked_line(page.wrong); marked != 0)
    EXPECT_NE(std::find(lines.begin(), lines.end(), marked), lines.end());
  else
    EXPECT_FALSE(lines.empty());
  EXPECT_TRUE(lines_that_break(page, "right").empty());
}

INSTANTIATE_TEST_SUITE_P(Rules, ExplainPage, ::testing::ValuesIn(names_of_rules()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_F(ExplainTest, pages_fit_a_terminal) {
  for (const gate::Rule& rule : gate::rules()) {
    const auto r = tool({"explain", std::string(rule.id)});
    EXPECT_EQ(r.exit_code, 0);
    std::istringstream lines(r.output);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
    EXPECT_NE(tool({"explain"}).output.find(rule.id), std::string::npos);
  }
}

TEST_F(ExplainTest, unknown_rules_are_told_the_nearest) {
  expect_refused(tool({"explain", "excessive-sector"}), "did you mean excessive-sectors?");
  expect_refused(tool({"explain", "trap", "--example", "both"}), "--example wrong");
}

}  // namespace
}  // namespace warplens::cli_tests
