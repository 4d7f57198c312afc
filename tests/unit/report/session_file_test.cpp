// SPDX-License-Identifier: Apache-2.0
// The session file: what the tool writes is what the library reads; absent keys have defaults.
#include "report/session_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace warplens::report {
namespace {

class SessionFileTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  std::string path_ = (std::filesystem::temp_directory_path() / ("session_file_" + std::to_string(getpid()))).string();
};

TEST_F(SessionFileTest, round_trip) {
  SessionFile s;
  s.record = "/some/where";
  s.count = false;
  s.kernel_regex = "mat.*";
  s.launch_skip = 2;
  s.launch_count = 5;
  s.executor = "interpreter";
  s.level = "ptx";
  s.sample = {0.05, 12345678901234567890u};
  s.workers = 3;
  s.cache = false;
  s.gpu = "h200.toml";
  s.trace = "events";
  s.progress = true;
  s.profile_from_start = false;
  s.nvtx_regex = "step.*";
  ASSERT_TRUE(write_session_file(path_, s));
  const SessionFile r = read_session_file(path_).value();
  EXPECT_EQ(r.record, s.record);
  EXPECT_EQ(r.count, s.count);
  EXPECT_EQ(r.kernel_regex, s.kernel_regex);
  EXPECT_EQ(r.launch_skip, s.launch_skip);
  EXPECT_EQ(r.launch_count, s.launch_count);
  EXPECT_EQ(r.executor, s.executor);
  EXPECT_EQ(r.level, s.level);
  EXPECT_EQ(r.sample, s.sample);
  EXPECT_EQ(r.workers, s.workers);
  EXPECT_EQ(r.cache, s.cache);
  EXPECT_EQ(r.gpu, s.gpu);
  EXPECT_EQ(r.trace, s.trace);
  EXPECT_EQ(r.progress, s.progress);
  EXPECT_EQ(r.profile_from_start, s.profile_from_start);
  EXPECT_EQ(r.nvtx_regex, s.nvtx_regex);
}

TEST_F(SessionFileTest, the_oracle_takes_no_sample) {
  SessionFile s;
  s.counting = "oracle";
  ASSERT_TRUE(write_session_file(path_, s));
  EXPECT_EQ(read_session_file(path_).value().counting, "oracle");
  s.sample.share = 0.5;
  ASSERT_TRUE(write_session_file(path_, s));
  EXPECT_FALSE(read_session_file(path_));
  for (const char* share : {"0", "-0.5", "1.01", "\"half\""}) {
    write(std::string(R"({"record":"r","sample":)") + share + "}");
    EXPECT_FALSE(read_session_file(path_)) << share;
  }
}

TEST_F(SessionFileTest, absent_keys_have_defaults_and_unknown_ones_are_ignored) {
  write(R"({"record":"r","colour":"blue"})");
  const SessionFile r = read_session_file(path_).value();
  EXPECT_EQ(r.record, "r");
  EXPECT_TRUE(r.count);
  EXPECT_TRUE(r.cache);
  EXPECT_EQ(r.executor, "jit");
  EXPECT_EQ(r.launch_count, std::numeric_limits<uint64_t>::max());
}

TEST_F(SessionFileTest, wrong_contents_are_named) {
  EXPECT_FALSE(read_session_file(path_ + ".missing"));
  write("{");
  EXPECT_FALSE(read_session_file(path_));
  write(R"({"count":"yes"})");
  EXPECT_FALSE(read_session_file(path_));
  for (const char* text : {R"({"executor":"magic"})", R"({"level":"magic"})", R"({"counting":"magic"})"}) {
    write(text);
    EXPECT_NE(read_session_file(path_).error().at(0).message.find("magic"), std::string::npos);
  }
}

TEST_F(SessionFileTest, a_full_disk_is_an_error) { EXPECT_FALSE(write_session_file("/dev/full", {})); }

}  // namespace
}  // namespace warplens::report
