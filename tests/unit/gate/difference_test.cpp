// SPDX-License-Identifier: Apache-2.0
// Comparing reports: made from the records of the two products (unit/report/example_runs.h) by the JSON view, so that
// what is written is what is read.
#include "gate/difference.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "gate/difference_view.h"
#include "gate/json_place.h"
#include "report/json_view.h"
#include "unit/report/example_runs.h"

namespace warplens::gate {
namespace {

using report::RunRecord;
using report::example::matmul;
using report::example::Product;

StoredReport stored(const RunRecord& run, const std::string& path = "r.json") {
  auto report = parse_report(report::json_text(run, report::Folding::kByShape), path);
  EXPECT_TRUE(report.has_value()) << render(report.error()[0]);
  return *report;
}

class DifferenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "difference-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  /// A run of the naive product under the name of the kernel "mm", its lines in a file of these texts.
  RunRecord run(const std::string& name, const std::string& line5, Product product = Product::kNaive,
                uint32_t shift = 0) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream out(path);
    for (uint32_t i = 0; i < shift; ++i) out << "\n";
    out << "\n\n\n\n" << line5 << "\n\nC[i] += sum;\n";
    RunRecord run = matmul(product, 64, path);
    run.kernels[0].info.name = "mm";
    for (events::PcInfo& pc : run.kernels[0].info.pcs) {
      if (pc.user_place.line != 0) pc.user_place.line += shift;
      pc.place = pc.user_place;
    }
    run.kernels[0].ptx = {"0123456789abcdef", "clang 19"};
    return run;
  }
  std::string folder_;
};

const NumberChange* number(const KernelChange& k, const std::string& what) {
  for (const NumberChange& n : k.numbers)
    if (n.what == what) return &n;
  return nullptr;
}

TEST_F(DifferenceTest, code_that_only_moved_is_no_difference) {
  const Difference d = compare(stored(run("a.cu", "sum += A * B;")),
                               stored(run("b.cu", "  sum  += A*B;  // as before", Product::kNaive, 7)), Growth{});
  ASSERT_EQ(d.kernels.size(), 1u);
  EXPECT_FALSE(d.kernels[0].changed());
  EXPECT_FALSE(d.worse());
  EXPECT_EQ(difference_text(d, issues_of(d), {}), "1 kernel shape compared: 0 worse, 0 better, 1 the same\n");
}

TEST_F(DifferenceTest, what_grew_is_worse_and_its_line_is_named) {
  const RunRecord before = run("a.cu", "sum += A * B;", Product::kCoalesced);
  const RunRecord after = run("b.cu", "sum += A * B;", Product::kNaive, 3);
  const Difference d = compare(stored(before), stored(after), Growth{});
  EXPECT_TRUE(d.worse());
  // Reads: naive 8192 x (32 + 1) + 128 x 32; coalesced 8192 x (1 + 4) + 128 x 4.
  const NumberChange* n = number(d.kernels[0], "global read sectors");
  ASSERT_NE(n, nullptr);
  EXPECT_EQ(n->before, 8192 * 5 + 128 * 4);
  EXPECT_EQ(n->after, 8192 * 33 + 128 * 32);
  EXPECT_EQ(n->change, Change::kWorse);
  EXPECT_EQ(number(d.kernels[0], "global read requests"), nullptr);  // as many
  const std::vector<Issue> issues = issues_of(d);
  ASSERT_EQ(issues.size(), 3u);
  EXPECT_EQ(issue_line(issues[0]), folder_ +
                                       "/b.cu:8:12: error: mm: read argument 3: excessive sectors 0 -> 229,376 "
                                       "[regression]");
  const Difference back = compare(stored(after), stored(before), Growth{});
  EXPECT_FALSE(back.worse());
  EXPECT_EQ(number(back.kernels[0], "global read sectors")->change, Change::kBetter);
}

TEST_F(DifferenceTest, an_edited_line_is_named_when_the_kernel_is_worse) {
  const Difference d = compare(stored(run("a.cu", "sum += A[k] * B[k];", Product::kCoalesced)),
                               stored(run("b.cu", "sum += A[row] * B[k];", Product::kNaive)), Growth{});
  EXPECT_TRUE(d.worse());
  EXPECT_EQ(issues_of(d)[0].line, 5u);
  EXPECT_EQ(issues_of(d)[0].text, "sum += A[row] * B[k];");
  EXPECT_TRUE(d.kernels[0].source_changed);
}

TEST_F(DifferenceTest, growth_within_what_is_allowed_is_not_worse) {
  RunRecord before = run("a.cu", "x;"), after = run("a.cu", "x;");
  auto counts = std::make_shared<events::LaunchCounts>(*after.launches[0].counts);
  counts->sites[3].sectors += 40;  // the store to C: 4096 sectors, of which 128 x 28 are excess
  after.launches[0].counts = counts;
  const auto worse = [&](const char* growth) {
    Growth g;
    EXPECT_TRUE(set_growth(g, growth).has_value());
    return compare(stored(before), stored(after), g).worse();
  };
  EXPECT_TRUE(compare(stored(before), stored(after), Growth{}).worse());
  EXPECT_TRUE(worse("39"));
  EXPECT_FALSE(worse("40"));
  EXPECT_TRUE(worse("1.1%"));  // 40 / 3584 of the excess is 1.116 %
  EXPECT_FALSE(worse("1.2%"));
  Growth g;
  for (const char* bad : {"", "%", "-1", "five", "5%%", "inf", "nan"})
    EXPECT_FALSE(set_growth(g, bad).has_value()) << bad;
}

TEST_F(DifferenceTest, another_compiler_is_said_to_be_one) {
  const RunRecord before = run("a.cu", "sum += A * B;", Product::kCoalesced);
  RunRecord after = run("a.cu", "sum += A * B;", Product::kNaive);
  after.kernels[0].ptx = {"fedcba9876543210", "clang 20"};
  const Difference d = compare(stored(before), stored(after), Growth{});
  EXPECT_FALSE(d.worse());
  EXPECT_EQ(number(d.kernels[0], "global read sectors")->change, Change::kCompiler);
  ASSERT_EQ(issues_of(d).size(), 1u);
  EXPECT_EQ(issues_of(d)[0].level, Level::kNote);
  EXPECT_NE(issues_of(d)[0].message.find("its source files are the same, the compiler is not: clang 19 -> clang 20"),
            std::string::npos);
  // The same instructions: no compiler can be to blame.
  after.kernels[0].ptx.hash = before.kernels[0].ptx.hash;
  EXPECT_TRUE(compare(stored(before), stored(after), Growth{}).worse());
  // No line of the kernel was replaced, but another in its file was: a #define, an argument of a launch.
  RunRecord defined = run("c.cu", "sum += A * B;\n#define N 1", Product::kNaive);
  defined.kernels[0].ptx = {"fedcba9876543210", "clang 20"};
  const Difference other = compare(stored(before), stored(defined), Growth{});
  EXPECT_FALSE(other.kernels[0].source_changed);
  EXPECT_FALSE(other.kernels[0].same_source);
  EXPECT_TRUE(other.worse());
  // With an edited source it could be either: it counts.
  RunRecord edited = run("b.cu", "sum += A[row] * B;", Product::kNaive);
  edited.kernels[0].ptx = {"fedcba9876543210", "clang 20"};
  const Difference both = compare(stored(before), stored(edited), Growth{});
  EXPECT_TRUE(both.kernels[0].source_changed);
  EXPECT_TRUE(both.worse());
  EXPECT_NE(issues_of(both)[0].message.find("the compiler changed too"), std::string::npos);
}

/// Two lines of one text, 5 and 7, which waste so many sectors each.
RunRecord of_equal_lines(RunRecord run, uint64_t at5, uint64_t at7) {
  auto counts = std::make_shared<events::LaunchCounts>(*run.launches[0].counts);
  counts->sites[0].sectors = counts->sites[0].ideal_sectors + at5;
  counts->sites[2].sectors = counts->sites[2].ideal_sectors + at7;
  run.launches[0].counts = counts;
  return run;
}

TEST_F(DifferenceTest, equal_lines_may_change_places) {
  RunRecord same = run("a.cu", "C[i] += sum;");
  for (events::AccessSite& s : same.kernels[0].info.sites) s.parameter.clear();
  const StoredReport a = stored(of_equal_lines(same, 0, 100)), b = stored(of_equal_lines(same, 100, 0));
  EXPECT_FALSE(compare(a, b, Growth{}).worse());
  EXPECT_FALSE(compare(a, b, Growth{}).kernels[0].changed());
  EXPECT_TRUE(compare(a, stored(of_equal_lines(same, 100, 1)), Growth{}).worse());
}

TEST_F(DifferenceTest, what_no_line_explains_is_the_kernels) {
  const RunRecord before = run("a.cu", "sum += A * B;", Product::kCoalesced);
  const RunRecord after = run("b.cu", "sum += A * B;", Product::kNaive);
  StoredReport worse = stored(after);
  worse.kernels[0].groups[0].occupancy = 0.5;
  worse.kernels[0].groups[0].occupancy_exact = true;
  StoredReport base = stored(before);
  base.kernels[0].groups[0].occupancy = 1;
  base.kernels[0].groups[0].occupancy_exact = true;
  const std::vector<Issue> issues = issues_of(compare(base, worse, Growth{}));
  ASSERT_EQ(issues.size(), 4u);
  EXPECT_EQ(issues[3].line, 0u);  // an allowance at the lines does not silence it
  EXPECT_EQ(issues[3].message, "mm: occupancy 1 -> 0.5");
}

TEST_F(DifferenceTest, the_first_use_of_a_memory_is_judged_by_its_waste) {
  StoredReport before = stored(run("a.cu", "x;")), after = before;
  StoredTraffic shared;
  shared.memory = "shared";
  shared.kind = "read";
  shared.exact = true;
  shared.requests = shared.wavefronts = shared.ideal_wavefronts = 10;
  after.kernels[0].groups[0].totals.push_back(shared);
  const Difference d = compare(before, after, Growth{});
  EXPECT_FALSE(d.worse());
  EXPECT_EQ(number(d.kernels[0], "shared read wavefronts")->change, Change::kNew);
  after.kernels[0].groups[0].totals.back().ideal_wavefronts = 9;
  EXPECT_TRUE(compare(before, after, Growth{}).worse());
  after.kernels[0].groups[0].totals.back() = shared;
  after.kernels[0].groups[0].totals.back().memory = "local";  // registers that no longer suffice
  EXPECT_TRUE(compare(before, after, Growth{}).worse());
}

TEST_F(DifferenceTest, launches_told_one_by_one_are_one_group) {
  RunRecord twice = run("a.cu", "x;", Product::kNaive);
  twice.launches.push_back(run("a.cu", "x;", Product::kCoalesced).launches[0]);
  twice.launches[1].id = 1;
  const std::string folded = report::json_text(twice, report::Folding::kByShape);
  const std::string all = report::json_text(twice, report::Folding::kNone);
  const auto a = parse_report(folded, "a.json"), b = parse_report(all, "b.json");
  ASSERT_TRUE(a && b);
  ASSERT_EQ(b->kernels[0].groups.size(), 1u);
  EXPECT_EQ(b->kernels[0].groups[0].launches, 2u);
  for (const auto& [x, y] : {std::pair{*a, *b}, {*b, *a}, {*b, *b}}) {
    const Difference d = compare(x, y, Growth{});
    EXPECT_EQ(d.compared, 1u);
    EXPECT_FALSE(d.kernels[0].changed());
  }
}

TEST_F(DifferenceTest, only_exact_numbers_count) {
  RunRecord before = run("a.cu", "x;", Product::kCoalesced), after = run("a.cu", "x;", Product::kNaive);
  for (events::AccessSite& s : after.kernels[0].info.sites) s.estimate = true;
  const Difference d = compare(stored(before), stored(after), Growth{});
  EXPECT_FALSE(d.worse());
  EXPECT_EQ(number(d.kernels[0], "global read sectors")->change, Change::kEstimate);
  EXPECT_FALSE(compare(stored(before), stored(report::example::sampled(run("a.cu", "x;"))), Growth{}).worse());
}

TEST_F(DifferenceTest, launches_are_compared_one_to_one) {
  RunRecord before = run("a.cu", "x;"), after = run("a.cu", "x;");
  after.launches.push_back(after.launches[0]);  // twice as often: the same kernel
  after.launches[1].id = 1;
  EXPECT_FALSE(compare(stored(before), stored(after), Growth{}).worse());
  for (report::LaunchRecord& l : after.launches) l.shape.grid = {4, 1, 1};  // as many threads: compared
  EXPECT_EQ(compare(stored(before), stored(after), Growth{}).compared, 1u);
  for (report::LaunchRecord& l : after.launches) l.shape.grid = {5, 1, 1};
  const Difference d = compare(stored(before), stored(after), Growth{});
  EXPECT_EQ(d.compared, 0u);
  EXPECT_NE(d.kernels[0].note.find("shape"), std::string::npos);
}

TEST_F(DifferenceTest, kernels_come_and_go) {
  RunRecord before = run("a.cu", "x;"), after = run("a.cu", "x;");
  after.kernels[0].info.name = "other";
  const Difference d = compare(stored(before), stored(after), Growth{});
  ASSERT_EQ(d.kernels.size(), 2u);
  EXPECT_EQ(d.kernels[0].note, "only in the later report");
  EXPECT_EQ(d.kernels[1].note, "only in the earlier report");
  EXPECT_FALSE(d.worse());
  after.gpu = "Another";
  after.end.timed_out = true;
  EXPECT_EQ(compare(stored(before), stored(after), Growth{}).notes.size(), 2u);
}

void expect_fault(const std::string& text, SourcePos pos, const std::string& message) {
  const auto report = parse_report(text, "r.json");
  ASSERT_FALSE(report.has_value()) << text;
  EXPECT_EQ(report.error()[0].pos, pos) << report.error()[0].message << "\n" << text.substr(0, 200);
  EXPECT_NE(report.error()[0].message.find(message), std::string::npos) << report.error()[0].message;
}

TEST_F(DifferenceTest, reports_that_are_none_are_told_where) {
  expect_fault("", {1, 1}, "cut short");
  expect_fault("{\n  \"a\": ", {2, 8}, "cut short");
  expect_fault("{\n  \"a\": x\n}", {2, 8}, "not valid JSON");
  expect_fault("[1]", {1, 1}, "no report");
  expect_fault("{\"a\": 1}", {1, 1}, "no report");
  expect_fault("{\n \"schema_version\": 0,\n \"kernels\": []}", {2, 20}, "schema version 0");
  expect_fault("{\"schema_version\": 99, \"kernels\": []}", {1, 20}, "schema version 99");
  expect_fault("{\"a\": \"1e999\",\n \"schema_version\": 1e999, \"kernels\": []}", {2, 20}, "too large");
  expect_fault("{\"schema_version\": 1, \"kernels\": [],\n \"generator\": {\"version\": 5}}", {2, 27}, "wrong type");
  const std::string good = report::json_text(run("a.cu", "x;"), report::Folding::kByShape);
  ASSERT_TRUE(parse_report(good, "r.json").has_value());
  for (size_t cut = 1; cut + 2 < good.size(); cut += 97) {
    const auto cut_short = parse_report(good.substr(0, cut), "r.json");
    ASSERT_FALSE(cut_short.has_value()) << cut;
    EXPECT_NE(cut_short.error()[0].message.find("cut short"), std::string::npos) << cut_short.error()[0].message;
  }
  std::string wrong = good;
  const size_t at = wrong.find("\"sectors\": ") + 11;
  wrong.insert(at, "-");
  expect_fault(wrong, byte_place(wrong, at), "'sectors' has the wrong type");
  std::string deep = good;
  const size_t grid = deep.find("\"grid\": ") + 8;
  deep.replace(grid, deep.find(']', grid) + 1 - grid, std::string(400000, '[') + std::string(400000, ']'));
  expect_fault(deep, byte_place(deep, grid), "must have 3 numbers");
  std::string kind = good;
  const size_t memory = kind.find("\"memory\": \"global\"") + 10;
  kind.replace(memory, 8, "\"\\u001b[2J\"");
  expect_fault(kind, byte_place(kind, memory), "'memory' is global, ");
  std::string missing = good;
  missing.replace(missing.find("\"requests\""), 10, "\"requestz\"");
  const auto report = parse_report(missing, "r.json");
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error()[0].message, "'requests' is missing");
  EXPECT_EQ(report.error()[0].pos.line, byte_place(missing, missing.find("\"memory\": \"global\"")).line - 1);
}

TEST(JsonPlace, walks_what_is_in_between) {
  const std::string text = "{ \"a\" : [1, {\"x\\\"]\": [[]] }, \"}\"],\n  \"b\\u0041\": {\"c\": true}}";
  EXPECT_EQ(json_place(text, {}), (SourcePos{1, 1}));
  EXPECT_EQ(json_place(text, {"a", size_t{0}}), (SourcePos{1, 10}));
  EXPECT_EQ(json_place(text, {"a", size_t{2}}), (SourcePos{1, 30}));
  EXPECT_EQ(json_place(text, {"bA", "c"}), (SourcePos{2, 20}));
  EXPECT_EQ(json_place(text, {"bA", "none"}), (SourcePos{2, 14}));
}

}  // namespace
}  // namespace warplens::gate
