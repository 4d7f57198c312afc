// SPDX-License-Identifier: Apache-2.0
// Metrics of a hand-made launch (two matrix products whose counts follow from their addresses) and the table as other
// programs read it.
#include "report/metrics.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "example_runs.h"
#include "report/csv_view.h"

namespace warplens::report {
namespace {

double value(const RunRecord& run, const char* name) {
  const Metric* metric = find_metric(name);
  EXPECT_NE(metric, nullptr) << name;
  const auto v = metric->value(metric_input(run.kernels[0], run.launches[0]));
  EXPECT_TRUE(v.has_value()) << name;
  return v.value_or(-1);
}

RunRecord with_occupancy() {
  RunRecord run = example::matmul(example::Product::kNaive, 64, "");
  LaunchOccupancy occupancy;
  occupancy.registers = 40;
  occupancy.of = gpu::occupancy(gpu::default_gpu(), {1024, 40, 0});
  occupancy.waves = gpu::waves(gpu::default_gpu(), occupancy.of, 4);
  run.launches[0].occupancy = occupancy;
  return run;
}

TEST(Metrics, of_the_naive_product) {
  // 64 x 64: 128 warps; a step reads A (32 sectors) and B (1 sector), 64 steps; then C is read and written (32 each).
  const RunRecord run = with_occupancy();
  const double loop = 128 * 64;
  EXPECT_EQ(value(run, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 2 * loop + 128);
  EXPECT_EQ(value(run, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 33 * loop + 32 * 128);
  EXPECT_EQ(value(run, "l1tex__t_sectors_pipe_lsu_mem_global_op_st"), 32 * 128);
  EXPECT_EQ(value(run, "gst_transactions_per_request"), 32);
  EXPECT_EQ(value(run, "gst_efficiency"), 12.5);
  EXPECT_EQ(value(run, "memory_l2_theoretical_sectors_global"), 33 * loop + 64 * 128);
  EXPECT_EQ(value(run, "memory_l2_sectors_global_ideal"), 5 * loop + 8 * 128);
  EXPECT_EQ(value(run, "derived__memory_l2_theoretical_sectors_global_excessive"), 28 * loop + 56 * 128);
  EXPECT_EQ(value(run, "memory_l1_wavefronts_shared"), 0);
  EXPECT_EQ(value(run, "launch__block_size"), 1024);
  EXPECT_EQ(value(run, "launch__registers_per_thread"), 40);
  EXPECT_EQ(value(run, "launch__occupancy_limit_registers"), 1);
  EXPECT_EQ(value(run, "launch__occupancy_limit_warps"), 2);
  EXPECT_EQ(value(run, "launch__occupancy_limit_shared_mem"), 8);
  EXPECT_EQ(value(run, "launch__shared_mem_config_size"), 8192);
  EXPECT_EQ(value(run, "launch__waves_per_multiprocessor"), 4 / 132.0);
  EXPECT_EQ(value(run, "sm__maximum_warps_per_active_cycle_pct"), 50);
}

// 32 lanes add to one place, once: a sector each by the L1 counters, one sector for L2's theoretical ones.
TEST(Metrics, of_atomics_on_one_place) {
  RunRecord run = example::matmul(example::Product::kNaive, 64, "");
  for (events::AccessSite& site : run.kernels[0].info.sites) site.access = events::Access::kReduction;
  auto counts = std::make_shared<events::LaunchCounts>();
  counts->sites.resize(run.kernels[0].info.sites.size());
  counts->sites[0] = {1, 32, 32, 1, 1, 0, 0, 31};
  run.launches[0].counts = counts;
  EXPECT_EQ(value(run, "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"), 1);
  EXPECT_EQ(value(run, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"), 32);
  EXPECT_EQ(value(run, "memory_l2_theoretical_sectors_global"), 1);
  EXPECT_EQ(value(run, "derived__memory_l2_theoretical_sectors_global_excessive"), 0);
}

// By generic address: 16 lanes in 16 banks of shared memory; a compare and swap of 32 lanes in global memory; loads of
// two constants. (docs/memory-model.md)
TEST(Metrics, passes_that_serve_nobody_are_left_out_by_line) {
  RunRecord run = example::matmul(example::Product::kNaive, 64, "");
  auto& sites = run.kernels[0].info.sites;
  sites[0].space = events::Space::kShared;
  sites[0].access = events::Access::kReduction;
  sites[1].access = events::Access::kAtomic;
  sites[2].space = events::Space::kConst;
  auto counts = std::make_shared<events::LaunchCounts>();
  counts->sites.resize(sites.size());
  counts->sites[0] = {2, 32, 0, 0, 0, 3, 3, 0, 1};
  counts->sites[1] = {1, 32, 4, 1, 4, 2, 2, 0, 2};
  counts->sites[2] = {1, 32, 0, 0, 0, 2, 1};
  run.launches[0].counts = counts;
  EXPECT_EQ(value(run, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"), 5);
  EXPECT_EQ(value(run, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"), 5);
  EXPECT_EQ(value(run, "memory_l1_wavefronts_shared"), 2);
  EXPECT_EQ(value(run, "memory_l1_wavefronts_shared_ideal"), 2);
  EXPECT_EQ(value(run, "derived__memory_l1_wavefronts_shared_excessive"), 0);
  EXPECT_EQ(value(run, "idc__requests.sum"), 2);
}

TEST(Metrics, names_are_unique_and_explained) {
  std::set<std::string_view> names;
  for (const Metric& m : metrics()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name;
    for (const std::string_view alias : m.aliases) EXPECT_TRUE(names.insert(alias).second) << alias;
    EXPECT_GT(m.definition.size(), 5u) << m.name;
    EXPECT_NE(m.value, nullptr);
  }
  EXPECT_GT(metrics().size(), 45u);
}

TEST(Metrics, lists_are_checked) {
  const auto list = metric_list("gld_transactions,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,gst_efficiency");
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->size(), 2u);  // the first two are one
  const auto wrong = metric_list("gld_transaction,launch__grid_size");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().size(), 1u);
  EXPECT_NE(render(wrong.error()[0]).find("did you mean gld_transactions?"), std::string::npos);
  EXPECT_FALSE(metric_list("").has_value());
}

TEST(CsvView, is_laid_out_as_the_profilers_raw_page) {
  RunRecord run = with_occupancy();
  run.gpu = "NVIDIA H200";
  const auto columns = metric_list(
      "launch__grid_size,gst_efficiency,l1tex__average_t_sectors_per_request_pipe_lsu_mem_"
      "global_op_ld.ratio,memory_l1_conflicts_shared_nway");
  EXPECT_FALSE(columns.has_value());  // the last is not a name
  std::istringstream text(
      csv_text(run, *metric_list("launch__grid_size,gst_efficiency,derived__memory_l1_conflicts_shared_nway")));
  std::string line;
  std::getline(text, line);
  EXPECT_EQ(
      line,
      "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\","
      "\"Grid Size\",\"Device\",\"CC\",\"launch__grid_size\","
      "\"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct\","
      "\"derived__memory_l1_conflicts_shared_nway\",\"warplens__counts\"");
  std::getline(text, line);
  EXPECT_EQ(line, "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"%\",\"\",\"\"");
  std::getline(text, line);
  EXPECT_EQ(line,
            "\"0\",\"" + std::to_string(run.launches[0].process) +
                "\",\"matmul_naive.cu\",\"127.0.0.1\",\"matmul_naive(int, float, float const*, float const*, float, "
                "float*)\",\"1\",\"7\",\"(32, 32, 1)\",\"(2, 2, 1)\",\"0\",\"9.0\",\"4\",\"12.5\",\"\",\"all\"");
  EXPECT_FALSE(std::getline(text, line));
}

// Whatever columns were chosen, a row says what its counts stand for.
TEST(CsvView, marks_counts_that_are_not_of_all_blocks) {
  const auto last_cell = [](const RunRecord& run) {
    const std::string text = csv_text(run, *metric_list("gld_transactions"));
    return text.substr(text.rfind(',') + 1);
  };
  RunRecord run = example::sampled(example::matmul(example::Product::kNaive, 64, ""));
  EXPECT_EQ(last_cell(run), "\"scaled\"\n");
  auto cut_short = std::make_shared<events::LaunchSample>(*run.launches[0].sample);
  cut_short->scaled = false;
  run.launches[0].sample = cut_short;
  run.launches[0].complete = false;
  EXPECT_EQ(last_cell(run), "\"partial\"\n");
  run.launches[0].sample = nullptr;
  EXPECT_EQ(last_cell(run), "\"partial\"\n");
  run.launches[0].complete = true;
  EXPECT_EQ(last_cell(run), "\"all\"\n");
}

TEST(CsvView, says_that_a_run_was_ended_and_what_was_not_finished) {
  RunRecord run = example::matmul(example::Product::kNaive, 64, "");
  LaunchRecord unfinished = run.launches[0];
  unfinished.counts = nullptr;
  unfinished.complete = false;
  LaunchRecord not_counted = unfinished;
  not_counted.complete = true;
  run.launches.push_back(not_counted);
  run.launches.push_back(unfinished);
  const auto end_of = [&] {
    const std::string text = csv_text(run, *metric_list("gld_transactions"));
    EXPECT_EQ(text.find("\"2\",\""), std::string::npos);  // two rows: 0 and 1
    return text.substr(text.rfind(",\"\",\"none\"\n"));
  };
  EXPECT_EQ(end_of(), ",\"\",\"none\"\n");
  run.end.timed_out = true;
  EXPECT_EQ(end_of(),
            ",\"\",\"none\"\n==WARNING== The time limit ended the program: rows are what was counted until then.\n");
  run.end = {};
  run.end.interrupted = true;
  EXPECT_EQ(end_of(),
            ",\"\",\"none\"\n==WARNING== The program was interrupted: rows are what was counted until then.\n");
  run.end = {};
  run.end.signal = 9;
  EXPECT_EQ(end_of(),
            ",\"\",\"none\"\n==WARNING== Signal 9 ended the program: rows are what was counted until then.\n");
}

TEST(Record, keeps_the_occupancy_of_a_launch) {
  const RunRecord run = with_occupancy();
  const std::string member = record_text(*run.launches[0].occupancy);
  const std::string line = "{\"x\":1" + member + "}";
  const auto json = nlohmann::json::parse(line);
  const LaunchOccupancy back = read_occupancy(json.at("occupancy"));
  EXPECT_EQ(record_text(back), member);
  EXPECT_EQ(back.of.by_warps, 2u);
  EXPECT_EQ(sentence(back, {1024, 1, 1}),
            "Occupancy 50 %: 1 block of 1,024 threads an SM, limited by registers; 0.03 waves. 40 registers a "
            "thread (estimate).");
}

}  // namespace
}  // namespace warplens::report
