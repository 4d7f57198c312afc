// SPDX-License-Identifier: Apache-2.0
// The JSON report: it fits its published schema, and its numbers are those of the access pattern.
#include "report/json_view.h"

#include <gtest/gtest.h>

#include <fstream>

#include "example_runs.h"
#include "json_schema.h"

namespace warplens::report {
namespace {

using nlohmann::json;

json schema() {
  std::ifstream file(WARPLENS_TEST_DATA "/../../docs/report-schema.json");
  return json::parse(file);
}

RunRecord run_with_everything() {
  RunRecord run = example::matmul(example::Product::kNaive, 64, "");
  auto& kernel = run.kernels[0].info;
  auto counts = std::make_shared<events::LaunchCounts>(*run.launches[0].counts);
  kernel.sites.push_back({2, events::Space::kShared, events::Access::kLoad, 4, ""});
  counts->sites.push_back({10, 320, 0, 0, 0, 40, 10});
  kernel.sites.push_back({2, events::Space::kGlobal, events::Access::kAtomic, 8, ""});
  counts->sites.push_back({10, 10, 10, 10, 10, 0, 0});
  kernel.sites.push_back({2, events::Space::kConst, events::Access::kLoad, 4, ""});
  counts->sites.push_back({10, 320, 0, 0, 0, 0, 0});
  run.launches[0].counts = counts;
  run.launches.push_back(run.launches[0]);
  run.launches[1].id = 1;
  run.launches[1].counts = nullptr;
  run.launches[1].complete = false;
  events::Finding finding;
  finding.kind = events::FindingKind::kNullPointer;
  finding.message = "reads 4 bytes at address 0 \xff";  // not UTF-8: must not break the output
  run.launches[1].findings = {finding};
  run.notices = {{"unsupported_api", "cudaFoo is not supported"}};
  return run;
}

TEST(JsonView, fits_the_published_schema) {
  const json rules = schema();
  const SchemaCheck check(rules);
  for (const RunRecord& run : {run_with_everything(), example::sampled(run_with_everything()),
                               example::matmul(example::Product::kCoalesced, 64, "x.cu"), RunRecord{}})
    for (Folding folding : {Folding::kByShape, Folding::kNone})
      EXPECT_EQ(check.fault(json::parse(json_text(run, folding))), "");
}

TEST(JsonView, a_sample_is_never_exact) {
  RunRecord run = example::sampled(run_with_everything());
  run.launches.pop_back();
  run.launches.push_back(run.launches[0]);
  run.launches[1].id = 1;
  const json group = json::parse(json_text(run, Folding::kByShape))["kernels"][0]["launch_groups"][0];
  EXPECT_EQ(group["sample"], json::parse(R"({"share":0.05,"seed":7,"counted_blocks":0,"blocks":8,"scaled":true})"));
  // Two launches of 64^3 / 32 reads of A, 32 sectors each, 1 % error; the other sites have none.
  const double sectors = 2 * 8192 * 32 / 100.0;
  for (const json& t : group["totals"]["memory"]) {
    EXPECT_EQ(t["exactness"], t["memory"] == "local" ? "estimate" : "sampled");
    const bool global_read = t["memory"] == "global" && t["kind"] == "read";
    if (t.contains("sectors")) {
      EXPECT_DOUBLE_EQ(t["standard_error"]["sectors"].get<double>(), global_read ? sectors : 0);
    }
    if (global_read) {
      EXPECT_DOUBLE_EQ(t["standard_error"]["bytes_moved"].get<double>(), 32 * sectors);
    }
  }
  double of_lines = 0;
  for (const json& line : group["lines"])
    for (const json& a : line["accesses"])
      of_lines += a["standard_error"].contains("sectors") ? a["standard_error"]["sectors"].get<double>() : 0;
  EXPECT_DOUBLE_EQ(of_lines, sectors);
  EXPECT_DOUBLE_EQ(group["totals"]["standard_error"]["ptx_instructions"].get<double>(), 2 * (128 + 4 * 8192) / 100.0);

  auto cut_short = std::make_shared<events::LaunchSample>(*run.launches[0].sample);
  cut_short->scaled = false;
  cut_short->site_errors.clear();
  cut_short->block_errors.clear();
  run.launches[0].sample = cut_short;
  run.launches[0].complete = false;
  run.launches.pop_back();
  const json report = json::parse(json_text(run, Folding::kByShape));
  EXPECT_EQ(SchemaCheck(schema()).fault(report), "");
  const json& traffic = report["kernels"][0]["launch_groups"][0]["totals"]["memory"][0];
  EXPECT_EQ(traffic["exactness"], "sampled");
  EXPECT_FALSE(traffic.contains("standard_error"));
}

/// Every count beside a standard_error must be in it.
void expect_errors_of_all_counts(const json& of) {
  for (const auto& [key, value] : of.items()) {
    const bool of_an_access = key == "column" || key == "bytes_per_lane" || key == "ptx_line" || key == "copies";
    if (value.is_number_unsigned() && !of_an_access && key != "line") {
      EXPECT_TRUE(of["standard_error"].contains(key)) << key << " of " << of.dump();
    }
  }
}

TEST(JsonView, every_count_of_a_sample_has_its_error) {
  RunRecord run = example::sampled(example::matmul(example::Product::kCoalesced, 64, "x.cu"));
  const events::Space spaces[] = {events::Space::kGlobal, events::Space::kShared, events::Space::kLocal,
                                  events::Space::kSharedCluster};
  auto counts = std::make_shared<events::LaunchCounts>(*run.launches[0].counts);
  auto sample = std::make_shared<events::LaunchSample>(*run.launches[0].sample);
  for (size_t i = 0; i < 4; ++i) {
    run.kernels[0].info.sites[i].space = spaces[i];
    run.kernels[0].info.sites[i].access = events::Access::kAtomic;
    counts->sites[i] = {10, 320, 320, 10, 40, 20, 10, 280};
    sample->site_errors[i] = {1, 2, 3, 4, 5, 6, 7, 8};
  }
  counts->sites[1].sectors = counts->sites[1].repeated_sectors = 0;  // of the block's own shared memory
  sample->site_errors[1][2] = sample->site_errors[1][7] = 0;
  run.launches[0].counts = counts;
  run.launches[0].sample = sample;
  const json report = json::parse(json_text(run, Folding::kNone));
  EXPECT_EQ(SchemaCheck(schema()).fault(report), "");
  const json& group = report["kernels"][0]["launch_groups"][0];
  expect_errors_of_all_counts(group["totals"]);
  for (const json& t : group["totals"]["memory"]) {
    expect_errors_of_all_counts(t);
    EXPECT_EQ(t["standard_error"]["repeated_sectors"], 8) << t["memory"];
  }
  for (const json& line : group["lines"]) {
    expect_errors_of_all_counts(line);
    for (const json& a : line["accesses"]) expect_errors_of_all_counts(a);
  }
}

TEST(JsonView, the_schema_test_notices_faults) {
  const json rules = schema();
  const SchemaCheck check(rules);
  json report = json::parse(json_text(run_with_everything(), Folding::kByShape));
  json extra = report, missing = report, negative = report, wrong = report;
  extra["kernels"][0]["colour"] = "blue";
  missing["kernels"][0].erase("name");
  negative["kernels"][0]["launch_groups"][0]["totals"]["memory"][0]["requests"] = -1;
  wrong["schema_version"] = 2;
  for (const json& bad : {extra, missing, negative, wrong}) EXPECT_NE(check.fault(bad), "");
}

TEST(JsonView, numbers_follow_from_the_access_pattern) {
  const json report = json::parse(json_text(example::matmul(example::Product::kNaive, 64, "x.cu"), Folding::kByShape));
  const json& group = report["kernels"][0]["launch_groups"][0];
  const json& read = group["totals"]["memory"][0];
  // 128 warps, 64 steps: A 32 sectors and B 1 a step; C is read once with 32.
  EXPECT_EQ(read["requests"], 128 * 64 * 2 + 128);
  EXPECT_EQ(read["sectors"], 128 * 64 * 33 + 128 * 32);
  EXPECT_EQ(read["ideal_sectors"], 128 * 64 * 5 + 128 * 4);
  EXPECT_EQ(read["bytes_moved"], 32 * (128 * 64 * 33 + 128 * 32));
  EXPECT_EQ(read["bytes_asked"], 128 * (64 * 2 + 1) * 128);
  const json& worst = group["lines"][0];
  EXPECT_EQ(worst["line"], 5);
  EXPECT_EQ(worst["ptx_instructions"], 128 * 64 * 4);  // the instruction without a line counts here
  EXPECT_EQ(worst["accesses"][0]["column"], 12);
  EXPECT_EQ(worst["accesses"][0]["sectors_per_request"], 32.0);
  EXPECT_EQ(worst["accesses"][1]["sectors_per_request"], 1.0);
}

TEST(JsonView, launches_unfold_on_request) {
  RunRecord run = example::matmul(example::Product::kNaive, 64, "x.cu");
  run.launches.push_back(run.launches[0]);
  run.launches[1].id = 1;
  const auto groups = [&](Folding f) { return json::parse(json_text(run, f))["kernels"][0]["launch_groups"]; };
  EXPECT_EQ(groups(Folding::kByShape).size(), 1u);
  EXPECT_EQ(groups(Folding::kByShape)[0]["launches"], 2);
  EXPECT_EQ(groups(Folding::kNone).size(), 2u);
  EXPECT_EQ(groups(Folding::kNone)[1]["first_launch"], 1);
}

}  // namespace
}  // namespace warplens::report
