// SPDX-License-Identifier: Apache-2.0
// The record of a run: what the library writes is what the tool reads, whatever line the file was cut in.
#include "report/run_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace warplens::report {
namespace {

class RunRecordTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / ("record_" + std::to_string(getpid()))).string();
    kernel_.name = "_Z4axpyfPfS_i";
    kernel_.files = {"", "axpy.cu", "inc/load.h"};
    kernel_.pcs = {
        {3, {1, 10, 5}, {1, 10, 5}, ""}, {5, {2, 7, 1}, {1, 11, 9}, "load"}, {6, {1, 12, 1}, {1, 12, 1}, ""}};
    kernel_.sites = {{1, events::Space::kGlobal, events::Access::kLoad, 4, "x"},
                     {2, events::Space::kGlobal, events::Access::kStore, 4, "y"}};
    kernel_.blocks = {{0, 1}, {1, 2}};
    counts_.sites = {{8, 256, 32, 8, 32, 0, 0}, {}};
    counts_.blocks = {{8, 256}, {8, 250}};
  }
  void TearDown() override { std::filesystem::remove(path_); }

  LaunchEvent event(uint64_t id) {
    LaunchEvent e;
    e.kernel = &kernel_;
    e.ptx = "line one\n two\n\nfour\n\tld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd2], %f1;\n";
    e.id = id;
    e.shape = {{4, 1, 1}, {64, 1, 1}, {1, 1, 1}, 128, 256};
    e.param_bytes = 28;
    e.seconds = 0.25;
    e.code = "cache";
    e.code_seconds = 0.125;
    e.counts = &counts_;
    return e;
  }
  std::string text() const {
    std::ifstream in(path_);
    std::ostringstream s;
    s << in.rdbuf();
    return s.str();
  }

  std::string path_;
  events::KernelInfo kernel_;
  events::LaunchCounts counts_;
};

TEST_F(RunRecordTest, reads_back_what_was_written) {
  auto writer = RecordWriter::open(path_).value();
  writer->begin_process("./axpy \"quoted\" \xff", "Test GPU");
  events::Finding finding;
  finding.kind = events::FindingKind::kOutOfBounds;
  finding.kernel = kernel_.name;
  finding.place = {1, 11, 9};
  finding.file = "axpy.cu";
  finding.thread_index = {5, 0, 0};
  finding.address = 0x7f0012345678;
  finding.message = "reads 4 bytes past the end";
  LaunchEvent e = event(7);
  e.findings = {&finding, 1};
  e.complete = false;
  writer->begin_launch(e);
  writer->end_launch(e);
  writer->notice("unsupported_api", "cudaFoo is not supported");
  writer->notice("unsupported_api", "cudaFoo is not supported");

  const RunRecord run = read_record(path_).value();
  EXPECT_EQ(run.damaged_lines, 0u);
  EXPECT_EQ(run.gpu, "Test GPU");
  ASSERT_EQ(run.kernels.size(), 1u);
  const events::KernelInfo& k = run.kernels[0].info;
  EXPECT_EQ(k.name, kernel_.name);
  EXPECT_EQ(k.files, kernel_.files);
  EXPECT_EQ(k.pcs[1].user_place, (events::Place{1, 11, 9}));
  EXPECT_EQ(k.pcs[1].inlined_function, "load");
  EXPECT_EQ(k.sites[1].access, events::Access::kStore);
  EXPECT_EQ(k.sites[1].parameter, "y");
  EXPECT_EQ(k.blocks, kernel_.blocks);
  EXPECT_EQ(run.kernels[0].ptx_text.at(5), "ld.global.f32 %f1, [%rd1];");
  EXPECT_EQ(run.kernels[0].ptx_text.at(6), "st.global.f32 [%rd2], %f1;");
  ASSERT_EQ(run.launches.size(), 1u);
  const LaunchRecord& l = run.launches[0];
  EXPECT_EQ(l.id, 7u);
  EXPECT_EQ(l.shape, e.shape);
  EXPECT_EQ(l.param_bytes, 28u);
  EXPECT_DOUBLE_EQ(l.seconds, 0.25);
  EXPECT_EQ(l.code, "cache");
  EXPECT_DOUBLE_EQ(l.code_seconds, 0.125);
  EXPECT_FALSE(l.complete);
  EXPECT_EQ(*l.counts, counts_);
  ASSERT_EQ(l.findings.size(), 1u);
  EXPECT_EQ(l.findings[0].address, 0x7f0012345678u);
  EXPECT_EQ(l.findings[0].message, finding.message);
  EXPECT_EQ(run.notices, (std::vector<Notice>{{"unsupported_api", "cudaFoo is not supported"}}));
}

TEST_F(RunRecordTest, a_sample_and_its_errors) {
  auto writer = RecordWriter::open(path_).value();
  writer->begin_process("./axpy", "Test GPU");
  events::LaunchSample sample{{0.05, 9}, 12, 240, true, {{0.5, 1.0 / 3, 2, 3, 4, 5, 1e17}, {}}, {{1, 2}, {0, 0}}};
  const events::LaunchSample cut_short{{0.05, 9}, 7, 240, false, {}, {}};
  LaunchEvent e = event(0);
  e.sample = &sample;
  writer->end_launch(e);
  e.id = 1;
  writer->end_launch(e);  // the same
  e.id = 2;
  e.sample = &cut_short;
  writer->end_launch(e);
  e.id = 3;
  e.sample = nullptr;
  writer->end_launch(e);
  EXPECT_EQ(text().find("\"id\":1,"), text().rfind("\"id\":1,"));
  EXPECT_NE(text().find("\"same\":0"), std::string::npos);
  const RunRecord run = read_record(path_).value();
  ASSERT_EQ(run.launches.size(), 4u);
  for (const LaunchRecord& l : run.launches) EXPECT_EQ(*l.counts, counts_);
  EXPECT_EQ(*run.launches[0].sample, sample);
  EXPECT_EQ(*run.launches[1].sample, sample);
  EXPECT_EQ(*run.launches[2].sample, cut_short);
  EXPECT_EQ(run.launches[3].sample, nullptr);
  EXPECT_EQ(run.damaged_lines, 0u);
}

TEST_F(RunRecordTest, equal_counts_are_written_once) {
  auto writer = RecordWriter::open(path_).value();
  writer->begin_process("a", "g");
  for (uint64_t id = 0; id < 3; ++id) writer->end_launch(event(id));
  counts_.sites[1].requests = 1;
  writer->end_launch(event(3));
  const std::string written = text();
  size_t full = 0;
  for (size_t at = 0; (at = written.find("\"sites\":[[8", at)) != std::string::npos; ++at) ++full;
  EXPECT_EQ(full, 2u);
  const RunRecord run = parse_record(written);
  ASSERT_EQ(run.launches.size(), 4u);
  EXPECT_EQ(run.launches[2].counts, run.launches[0].counts);  // one object
  EXPECT_EQ(run.launches[3].counts->sites[1].requests, 1u);
  EXPECT_EQ(run.kernels.size(), 1u);
}

TEST_F(RunRecordTest, a_launch_that_never_ended_is_kept_as_incomplete) {
  auto writer = RecordWriter::open(path_).value();
  writer->begin_process("a", "g");
  writer->end_launch(event(0));
  writer->begin_launch(event(1));
  const RunRecord run = parse_record(text());
  ASSERT_EQ(run.launches.size(), 2u);
  EXPECT_TRUE(run.launches[0].complete);
  EXPECT_FALSE(run.launches[1].complete);
  EXPECT_EQ(run.launches[1].counts, nullptr);
}

TEST_F(RunRecordTest, a_file_cut_anywhere_reads_as_far_as_it_goes) {
  auto writer = RecordWriter::open(path_).value();
  writer->begin_process("a", "g");
  for (uint64_t id = 0; id < 3; ++id) writer->end_launch(event(id));
  const std::string whole = text();
  for (size_t length = 0; length <= whole.size(); ++length) {
    const RunRecord run = parse_record(std::string_view(whole).substr(0, length));
    EXPECT_LE(run.damaged_lines, 1u);
    EXPECT_LE(run.launches.size(), 3u);
    for (const auto& l : run.launches) EXPECT_EQ(*l.counts, counts_);
  }
}

TEST_F(RunRecordTest, lines_that_lie_about_indices_are_refused) {
  const RunRecord run = parse_record(
      R"({"t":"kernel","p":1,"k":0,"name":"k","files":[""],"ptx_file":"","pcs":[[1,[0,0,0],[0,0,0],""]],)"
      R"("sites":[[9,0,0,4,""]],"blocks":[[0,1]],"ptx_text":[]})"
      "\n"
      R"({"t":"launch","p":1,"id":0,"k":0,"grid":[1,1,1],"block":[1,1,1],"cluster":[1,1,1],"static":0,"dynamic":0,)"
      R"("params":0,"seconds":0,"complete":true})"
      "\n[1,2]\nnonsense\n");
  EXPECT_TRUE(run.kernels.empty());
  EXPECT_TRUE(run.launches.empty());
  EXPECT_EQ(run.damaged_lines, 4u);
}

TEST_F(RunRecordTest, no_file_is_an_empty_record) {
  const RunRecord run = read_record(path_ + ".missing").value();
  EXPECT_TRUE(run.launches.empty());
}

TEST_F(RunRecordTest, a_full_disk_ends_recording_only) {
  auto writer = RecordWriter::open("/dev/full").value();
  EXPECT_TRUE(writer->ok());
  writer->begin_process("a", "g");
  EXPECT_FALSE(writer->ok());
  writer->end_launch(event(0));
}

}  // namespace
}  // namespace warplens::report
