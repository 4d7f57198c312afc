// SPDX-License-Identifier: Apache-2.0
// The formats for other tools, all from one run in which every name is as hostile as a file system and a compiler
// allow: quotes, markup, a newline, control characters, bytes that are no UTF-8. Compared with files in
// tests/golden/report, which tests/golden/report/check_formats.py hands to public parsers. After a wanted change:
//   WARPLENS_BLESS=1 build/release/bin/unit_gate --gtest_filter='Formats.*'   and read the diff
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gate/allowances.h"
#include "gate/annotation_view.h"
#include "gate/escape.h"
#include "gate/junit_view.h"
#include "gate/markdown_view.h"
#include "gate/observations.h"
#include "gate/rules.h"
#include "gate/sarif_view.h"
#include "unit/report/example_runs.h"

namespace warplens::gate {
namespace {

using report::RunRecord;
namespace fs = std::filesystem;

constexpr const char* kFile = "we\"ird <b>|`%a\xff\x01,b:c\n[x](y).cu";
constexpr const char* kLine5 = "sum += A[i<3] * B[\"j\"] | `x` \xff & '</b>';";

RunRecord hostile_run() {
  RunRecord run = report::example::matmul(report::example::Product::kNaive, 64, kFile);
  run.program = "p<i>&\"'`|\xfe\n.cu";
  run.gpu = "GPU <\"&|*>";
  run.kernels[0].info.name = "kernel<\"a|b\">`\x02\xff\n]]>";
  run.launches[0].seconds = 0.25;
  // Passes of shared memory on the line of C, and a finding there.
  auto& kernel = run.kernels[0].info;
  auto counts = std::make_shared<events::LaunchCounts>(*run.launches[0].counts);
  kernel.sites.push_back({5, events::Space::kShared, events::Access::kLoad, 4, ""});
  counts->sites.push_back({10, 320, 0, 0, 0, 40, 10});
  run.launches[0].counts = counts;
  run.launches.push_back(run.launches[0]);
  run.launches[1].id = 1;
  run.launches[1].counts = nullptr;
  run.launches[1].complete = false;
  events::Finding finding;
  finding.kind = events::FindingKind::kOutOfBounds;
  finding.message = "reads 4 bytes at <0x1>, 100% \"outside\"\r\n::error::x";
  finding.file = kFile;
  finding.place = {1, 7, 21};
  run.launches[1].findings = {finding};
  run.notices = {{"unsupported_api", "cuda<Foo> is not supported"}};
  run.end.timed_out = true;
  run.end.exit_code = 124;
  return run;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class Formats : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    folder_ = (fs::temp_directory_path() / "formats-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    fs::current_path(folder_);
    std::ofstream(kFile, std::ios::binary) << "// 1\nk() {\n//\n//\n"
                                           << kLine5 << "\n//\n"
                                           << "C[i] += s;  // warplens: allow(excessive-wavefronts) <why> \"not\"\n}\n";
    run_ = hostile_run();
    for (const char* text : {"excessive_sectors=0", "min_occupancy=0.5", "max:launch__grid_size=4"})
      limits_.push_back(parse_limit(text).value());
    Allowances allowances(run_);
    verdict_.run = &run_;
    verdict_.limits = check_limits(run_, limits_, allowances);
    verdict_.issues = collect_issues(run_, allowances, verdict_.limits);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  static void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = WARPLENS_TEST_DATA "/../golden/report/" + name;
    if (::getenv("WARPLENS_BLESS") != nullptr) std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(read(path), text) << "of " << path;
  }

  fs::path before_;
  std::string folder_;
  RunRecord run_;
  std::vector<Limit> limits_;
  Verdict verdict_;
};

TEST_F(Formats, sarif) {
  // The rules' texts are checked elsewhere; here they would only make the file long.
  nlohmann::ordered_json j = nlohmann::ordered_json::parse(sarif_text(verdict_));
  EXPECT_EQ(j["runs"][0]["tool"]["driver"]["rules"].size(), rules().size());
  const auto& results = j["runs"][0]["results"];
  ASSERT_GE(results.size(), 4u);
  for (const auto& r : results) EXPECT_EQ(rules()[r["ruleIndex"].get<size_t>()].id, r["ruleId"].get<std::string>());
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "we%22ird%20%3Cb%3E%7C%60%25a%FF%01%2Cb%3Ac%0A%5Bx%5D%28y%29.cu");
  j["runs"][0]["tool"]["driver"]["version"] = "0";
  for (auto& rule : j["runs"][0]["tool"]["driver"]["rules"]) rule["help"]["text"] = "...";
  expect_golden("hostile.sarif", j.dump(1) + "\n");
}

TEST_F(Formats, junit) { expect_golden("hostile.junit.xml", junit_text(verdict_)); }

TEST_F(Formats, markdown) { expect_golden("hostile.md", markdown_report(verdict_)); }

TEST_F(Formats, annotations) {
  const std::string text = annotations_text(verdict_);
  expect_golden("hostile.annotations", text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_EQ(line.rfind("::", 0), 0u) << line;  // nothing broke out
}

TEST_F(Formats, fingerprints_do_not_know_line_numbers) {
  const auto prints = [](const Verdict& v) {
    std::vector<std::string> all;
    const nlohmann::json sarif = nlohmann::json::parse(sarif_text(v));
    for (const auto& r : sarif["runs"][0]["results"]) all.push_back(r["partialFingerprints"]["warplensLine/v1"]);
    return all;
  };
  Verdict moved = verdict_;
  for (Issue& i : moved.issues) i.line += 10;
  EXPECT_EQ(prints(moved), prints(verdict_));
  moved.issues[0].text += " changed";
  EXPECT_NE(prints(moved)[0], prints(verdict_)[0]);
  const auto all = prints(verdict_);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST_F(Formats, faults_are_in_every_format) {
  verdict_.faults = {make_error_at(folder_ + "/a.cu", {3, 7}, "not an allowance")};
  EXPECT_NE(annotations_text(verdict_).find("::error file=a.cu,line=3,col=7,title=warplens::not an allowance"),
            std::string::npos);
  for (const std::string& text : {sarif_text(verdict_), junit_text(verdict_)})
    EXPECT_NE(text.find("a.cu:3:7: not an allowance"), std::string::npos) << text;
  EXPECT_NE(markdown_report(verdict_).find("### Warplens: 1 finding, 1 limit broken, 1 fault"), std::string::npos);
}

TEST_F(Formats, places_are_the_repositorys) {
  fs::create_directories("top/.git");
  fs::create_directories("top/sub/deep");
  fs::current_path("top/sub");
  ::unsetenv("GITHUB_WORKSPACE");
  EXPECT_EQ(repository_path("dev.cu"), "sub/dev.cu");
  EXPECT_EQ(repository_path(folder_ + "/top/sub/deep/x.cu"), "sub/deep/x.cu");
  EXPECT_EQ(shown_path(folder_ + "/top/sub/deep/x.cu"), "deep/x.cu");
  EXPECT_EQ(repository_path("/usr/x.cu"), "/usr/x.cu");
  ::setenv("GITHUB_WORKSPACE", folder_.c_str(), 1);
  EXPECT_EQ(repository_path("dev.cu"), "top/sub/dev.cu");
  EXPECT_EQ(repository_path("dev.cu", folder_ + "/top/sub/"), "dev.cu");
  EXPECT_EQ(repository_path("dev.cu", folder_ + "/top/su"), "top/sub/dev.cu");  // not below it
  fs::create_directory_symlink(folder_ + "/top", folder_ + "/link");
  EXPECT_EQ(repository_path(folder_ + "/link/sub/x.cu", folder_ + "/top"), "sub/x.cu");
  EXPECT_EQ(repository_path(folder_ + "/top/sub/x.cu", folder_ + "/link"), "sub/x.cu");
  ::unsetenv("GITHUB_WORKSPACE");
}

TEST_F(Formats, sarif_of_a_whole_kernel_has_a_place) {
  Issue whole;
  whole.rule = "low-occupancy";
  whole.kernel = run_.kernels[0].info.name;
  Issue foreign = whole;
  foreign.kernel = "none";
  verdict_.issues = {whole, foreign};
  const nlohmann::json results = nlohmann::json::parse(sarif_text(verdict_))["runs"][0]["results"];
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["region"]["startLine"], 2);  // of its first instruction
  EXPECT_TRUE(results[1]["locations"][0]["physicalLocation"].contains("artifactLocation"));
}

TEST(Numbers, are_told_apart) {
  EXPECT_EQ(number_shown(41152250), "41,152,250");
  EXPECT_EQ(number_shown(41152249.25), "41,152,249.2");
  EXPECT_EQ(number_shown(0.123456), "0.1235");
  EXPECT_EQ(numbers_shown(4.0000001, 4), (std::pair<std::string, std::string>("4.0000001", "4")));
  EXPECT_EQ(numbers_shown(1234.56, 1234.57), (std::pair<std::string, std::string>("1,234.560", "1,234.570")));
  EXPECT_EQ(numbers_shown(1, 1).first, "1");
}

TEST(Escape, utf8) {
  EXPECT_EQ(valid_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(valid_utf8("\xff"), r);
  EXPECT_EQ(valid_utf8("\xc3"), r);          // cut short
  EXPECT_EQ(valid_utf8("\xc0\x80"), r + r);  // longer than need be
  EXPECT_EQ(valid_utf8("\xe0\x80\x80"), r + r + r);
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), r + r + r);  // a surrogate
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), r + r + r + r);
  EXPECT_EQ(valid_utf8("\x80z"), r + "z");
}

TEST(Escape, each_format) {
  EXPECT_EQ(xml_text("<a b=\"c\">&\n\t\x01\x7f"), "&lt;a b=&quot;c&quot;&gt;&amp;&#10;&#9;\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(workflow_message("50%: a,b\r\n::error::\x1b["), "50%25: a,b%0D%0A::error::?[");
  EXPECT_EQ(workflow_property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
  EXPECT_EQ(markdown_code("a|b"), "`a|b`");
  EXPECT_EQ(markdown_cell("a|b"), "`a\\|b`");
  EXPECT_EQ(markdown_code("a``b"), "```a``b```");
  EXPECT_EQ(markdown_code("`"), "`` ` ``");
  EXPECT_EQ(markdown_code(""), "");
  EXPECT_EQ(markdown_text("a*b\n<c>@d"), "a&#42;b &#60;c&#62;&#64;d");
  EXPECT_EQ(uri_path("a b/c%#?.cu"), "a%20b/c%25%23%3F.cu");
}

}  // namespace
}  // namespace warplens::gate
