// SPDX-License-Identifier: Apache-2.0
// Limits against the two matrix products, whose counts follow from the access pattern (unit/report/example_runs.h):
// n = 64, so 128 warps and 8192 steps of the loop; naive: A and C take 32 sectors a request of which 28 are excess.
#include "gate/limits.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "gate/limits_json.h"
#include "gate/observations.h"
#include "report/json_view.h"
#include "unit/report/example_runs.h"
#include "unit/report/json_schema.h"

namespace warplens::gate {
namespace {

using report::RunRecord;
using report::example::matmul;
using report::example::Product;

constexpr double kExcess = 8192 * 28 + 128 * 28 + 128 * 28;

Limit limit(const std::string& text, const std::string& kernel = "") {
  Limit l = parse_limit(text).value();
  l.kernel = kernel;
  return l;
}

LimitsReport check(const RunRecord& run, const std::vector<Limit>& limits) {
  Allowances allowances(run);
  return check_limits(run, limits, allowances);
}

Checked only(const RunRecord& run, const std::vector<Limit>& limits) {
  LimitsReport report = check(run, limits);
  EXPECT_TRUE(report.faults.empty());
  EXPECT_EQ(report.checked.size(), 1u);
  return report.checked.at(0);
}

class LimitsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "limits-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string source(const std::string& name, const std::string& line5, const std::string& line7) const {
    std::ofstream(folder_ + "/" + name) << "// 1\nkernel {\n// 3\n// 4\n" << line5 << "\n// 6\n" << line7 << "\n}\n";
    return folder_ + "/" + name;
  }
  std::string folder_;
};

TEST_F(LimitsTest, outcomes_are_in_json) {
  const RunRecord run = matmul(Product::kNaive, 64, "");
  const std::vector<Limit> limits = {limit("excessive_sectors=0"), limit("max_local_bytes=64", "naive"),
                                     limit("min_occupancy=0.5")};
  const nlohmann::json list = nlohmann::json::parse(limits_json(run, check(run, limits)));
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["outcome"], "broken");
  EXPECT_EQ(list[0]["value"], kExcess);
  EXPECT_EQ(list[0]["kernel"], run.kernels[0].info.name);
  EXPECT_EQ(list[1]["outcome"], "kept");
  EXPECT_EQ(list[1]["bound"], 64);
  EXPECT_EQ(list[1]["kernel_pattern"], "naive");
  EXPECT_EQ(list[2]["outcome"], "not_checked");  // the record has no occupancy
  EXPECT_EQ(list[2]["value"], nullptr);
  EXPECT_EQ(list[2]["minimum"], true);
  // The report that has them fits its schema.
  std::ifstream schema(WARPLENS_TEST_DATA "/../../docs/report-schema.json");
  const nlohmann::json rules = nlohmann::json::parse(schema);
  const std::string report = report::json_text(run, report::Folding::kByShape, {"", list.dump(), {"not an allowance"}});
  EXPECT_EQ(report::SchemaCheck(rules).fault(nlohmann::json::parse(report)), "");
  EXPECT_EQ(nlohmann::json::parse(report)["faults"][0], "not an allowance");
}

TEST_F(LimitsTest, excess_is_summed_and_the_worst_line_is_named) {
  const std::string file = source("a.cu", "sum += A[i] * B[j];", "C[i] += sum;");
  const RunRecord run = matmul(Product::kNaive, 64, file);
  const std::vector<Limit> limits = {limit("excessive_sectors=0")};
  const Checked c = only(run, limits);
  EXPECT_EQ(c.outcome, Outcome::kFailed);
  EXPECT_EQ(c.value, kExcess);
  ASSERT_EQ(c.issues.size(), 3u);
  EXPECT_EQ(c.issues[0].line, 5u);
  EXPECT_EQ(c.issues[0].column, 12u);
  EXPECT_EQ(c.issues[0].text, "sum += A[i] * B[j];");
  EXPECT_EQ(issue_line(c.issues[0]), file +
                                         ":5:12: error: matmul_naive: 229,376 excessive sectors, the limit 0: read "
                                         "argument 3: each thread of a warp reads from a sector of its own, so 32 "
                                         "bytes are moved for every 4 used [excessive-sectors]");
  const std::vector<Limit> bound = {limit("excessive_sectors=" + std::to_string(static_cast<int>(kExcess)))};
  EXPECT_EQ(only(run, bound).outcome, Outcome::kPassed);
  EXPECT_EQ(only(matmul(Product::kCoalesced, 64, file), limits).outcome, Outcome::kPassed);
}

TEST_F(LimitsTest, sectors_a_request_hold_for_each_access) {
  const RunRecord naive = matmul(Product::kNaive, 64, ""), coalesced = matmul(Product::kCoalesced, 64, "");
  EXPECT_EQ(only(coalesced, {limit("max_sectors_per_request=4")}).outcome, Outcome::kPassed);
  EXPECT_EQ(only(coalesced, {limit("max_sectors_per_request=3.9")}).outcome, Outcome::kFailed);
  const std::vector<Limit> limits = {limit("max_sectors_per_request=31.9")};
  const Checked c = only(naive, limits);
  EXPECT_EQ(c.value, 32);
  EXPECT_EQ(c.issues.size(), 3u);  // A, and both accesses to C
}

TEST_F(LimitsTest, any_metric_has_limits) {
  const RunRecord run = matmul(Product::kNaive, 64, "");
  EXPECT_EQ(only(run, {limit("max:l1tex__t_requests_pipe_lsu_mem_global_op_st.sum=128")}).outcome, Outcome::kPassed);
  EXPECT_EQ(only(run, {limit("max:gld_transactions=128")}).outcome, Outcome::kFailed);  // nvprof's name
  EXPECT_EQ(only(run, {limit("min:launch__grid_size=5")}).outcome, Outcome::kFailed);
  EXPECT_EQ(only(run, {limit("min:launch__grid_size=4")}).outcome, Outcome::kPassed);
}

TEST_F(LimitsTest, estimates_gate_only_when_asked) {
  RunRecord run = matmul(Product::kNaive, 64, "");
  run.kernels[0].info.sites[0].estimate = true;  // A
  std::vector<Limit> limits = {limit("excessive_sectors=7168")};
  Checked c = only(run, limits);
  EXPECT_EQ(c.outcome, Outcome::kNotChecked);  // the exact part (C) keeps to it; whether A does is not known
  EXPECT_NE(c.why.find("allow_estimates"), std::string::npos);
  limits[0].bound = 7167;
  EXPECT_EQ(only(run, limits).outcome, Outcome::kFailed);  // the exact part alone is too much
  limits[0].bound = kExcess;
  EXPECT_EQ(only(run, limits).outcome, Outcome::kPassed);  // even with the estimates
  limits[0].bound = 7168;
  limits[0].allow_estimates = true;
  EXPECT_EQ(only(run, limits).outcome, Outcome::kFailed);
  const RunRecord sampled = report::example::sampled(matmul(Product::kNaive, 64, ""));
  EXPECT_EQ(only(sampled, {limit("excessive_sectors=0")}).outcome, Outcome::kNotChecked);
  EXPECT_EQ(only(sampled, {limit("max:gld_transactions=1")}).outcome, Outcome::kNotChecked);
  EXPECT_EQ(only(run, {limit("max:smsp__inst_executed.sum=1")}).outcome, Outcome::kNotChecked);
}

TEST_F(LimitsTest, occupancy_is_as_exact_as_its_registers) {
  RunRecord run = matmul(Product::kNaive, 64, "");
  EXPECT_EQ(only(run, {limit("min_occupancy=0.5")}).outcome, Outcome::kNotChecked);  // not known
  run.launches[0].occupancy.emplace();
  run.launches[0].occupancy->of.share = 0.25;
  EXPECT_EQ(only(run, {limit("min_occupancy=0.5")}).outcome, Outcome::kNotChecked);
  run.launches[0].occupancy->estimated = false;
  const std::vector<Limit> limits = {limit("min_occupancy=0.5")};
  const Checked c = only(run, limits);
  EXPECT_EQ(c.outcome, Outcome::kFailed);
  EXPECT_EQ(issue_line(c.issues.at(0)),
            "error: matmul_naive (grid 2 x 2, block 32 x 32): occupancy is 0.25, the limit 0.5 [low-occupancy]");
  EXPECT_EQ(only(run, {limit("min_occupancy=0.25")}).outcome, Outcome::kPassed);
}

TEST_F(LimitsTest, the_worst_launch_counts) {
  RunRecord run = matmul(Product::kCoalesced, 64, "");
  run.launches.push_back(run.launches[0]);
  auto bad = std::make_shared<events::LaunchCounts>(*run.launches[0].counts);
  bad->sites[1].sectors += 5;
  run.launches[1].counts = bad;
  run.launches[1].shape.grid.x = 7;
  const std::vector<Limit> limits = {limit("excessive_sectors=4")};
  const Checked c = only(run, limits);
  EXPECT_EQ(c.value, 5);
  EXPECT_EQ(c.launch, "grid 7 x 2, block 32 x 32");
  run.launches[1].complete = false;  // not known to be all: not judged
  EXPECT_EQ(only(run, limits).outcome, Outcome::kPassed);
}

TEST_F(LimitsTest, a_limit_on_no_kernel_is_a_fault) {
  RunRecord run = matmul(Product::kNaive, 64, "");
  EXPECT_TRUE(check(run, {limit("excessive_sectors=1e9", "matmul")}).faults.empty());
  EXPECT_TRUE(check(run, {limit("excessive_sectors=1e9", "^matmul_naive\\(int")}).faults.empty());  // demangled
  std::vector<Limit> limits = {limit("excessive_sectors=0", "reduce")};
  limits[0].file = "x.toml";
  limits[0].pos = {3, 1};
  LimitsReport report = check(run, limits);
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(
      render(report.faults[0]),
      "x.toml:3:1: error: excessive_sectors = 0 was not checked: no kernel that ran matches 'reduce'\n  hint: there "
      "ran matmul_naive\n");
  run.launches[0].complete = false;
  EXPECT_NE(check(run, {limit("excessive_sectors=0")}).faults.at(0).message.find("ran to its end"), std::string::npos);
  run.launches[0].counts = nullptr;
  EXPECT_NE(check(run, {limit("excessive_sectors=0")}).faults.at(0).message.find("was counted"), std::string::npos);
  run.end.interrupted = true;  // Ctrl-C before the kernel: no fault of the limit
  EXPECT_TRUE(check(run, limits).faults.empty());
  EXPECT_NE(check(RunRecord{}, {limit("excessive_sectors=0")}).faults.at(0).message.find("launched no kernel"),
            std::string::npos);
}

TEST_F(LimitsTest, allowances_take_lines_out) {
  const std::string file =
      source("b.cu", "sum += A[i] * B[j];  // warplens: allow(excessive-sectors) by columns", "C[i] += sum;");
  const RunRecord run = matmul(Product::kNaive, 64, file);
  EXPECT_EQ(only(run, {limit("excessive_sectors=7168")}).outcome, Outcome::kPassed);  // C alone: 2 * 128 * 28
  EXPECT_EQ(only(run, {limit("excessive_sectors=7167")}).outcome, Outcome::kFailed);
  EXPECT_EQ(only(run, {limit("max_sectors_per_request=5")}).value, 32);  // another rule
}

TEST_F(LimitsTest, unused_allowances_are_told_and_used_ones_are_not) {
  const std::string file = source(
      "c.cu", "sum += A[i] * B[j];  // warplens: allow(excessive-sectors, excessive-wavefronts) x", "C[i] += sum;");
  const RunRecord run = matmul(Product::kNaive, 64, file);
  Allowances allowances(run);
  const std::vector<Issue> issues = collect_issues(run, allowances, {});
  ASSERT_EQ(issues.size(), 3u);  // A (allowed), C (read and write of one line), the allowance for wavefronts
  EXPECT_EQ(issues[0].rule, "excessive-sectors");
  EXPECT_EQ(issues[0].allowed, "x");
  EXPECT_EQ(issues[1].rule, "unused-allowance");
  EXPECT_EQ(issues[1].line, 5u);
  EXPECT_EQ(issues[2].line, 7u);
  EXPECT_EQ(issues[2].allowed, "");
}

TEST(FindAllowances, forms_and_faults) {
  Diagnostics faults;
  const auto found = find_allowances(
      "a;  // warplens: allow(excessive-sectors) why\n"
      "// warplens: allow(excessive-sectors, local-memory) above\n"
      "// and more\n"
      "\n"
      "b;\n"
      "/* warplens: allow(regression) block */ c;\n"
      "// warplens: is a tool\n"
      "d;  // warplens: allow(excessive-sectors)\n"
      "e;  // warplens: allow(exessive-sectors) typo\n"
      "f;  // warplens: allow excessive-sectors\n"
      "g;  // warplens: allow(trap) no\n"
      "const char* s = \"warplens: allow(x)\";\n",
      "f.cu", faults);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].line, 1u);
  EXPECT_EQ(found[0].reason, "why");
  EXPECT_EQ(found[1].line, 5u);
  EXPECT_EQ(found[1].rules, (std::vector<std::string_view>{"excessive-sectors", "local-memory"}));
  EXPECT_EQ(found[2].line, 6u);
  EXPECT_EQ(found[2].reason, "block");
  ASSERT_EQ(faults.size(), 4u);
  EXPECT_EQ(faults[0].pos.line, 8u);
  EXPECT_EQ(faults[1].hint, "did you mean excessive-sectors?");
  EXPECT_EQ(faults[2].pos, (SourcePos{10, 8}));
  EXPECT_NE(faults[3].message.find("cannot be allowed"), std::string::npos);
}

TEST(ParseLimit, refuses_what_it_cannot_mean) {
  EXPECT_EQ(parse_limit("max_sector_per_request=4").error()[0].hint, "did you mean max_sectors_per_request?");
  EXPECT_NE(parse_limit("max:launch__grid_siz=4").error()[0].hint.find("launch__grid_size"), std::string::npos);
  for (const char* bad : {"", "excessive_sectors", "excessive_sectors=", "excessive_sectors=many",
                          "excessive_sectors=1e", "excessive_sectors=inf", "excessive_sectors=-1", "min_occupancy=50",
                          "=4", "max:=4", "max:launch__grid_size,launch__block_size=4"})
    EXPECT_FALSE(parse_limit(bad).has_value()) << bad;
}

}  // namespace
}  // namespace warplens::gate
