// SPDX-License-Identifier: Apache-2.0
#include "base/text_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace warplens {
namespace {

class ReadFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "read-file-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(ReadFile, gives_every_byte) {
  const std::string bytes("a\0\r\n\xff", 5);
  std::ofstream(folder_ + "/x", std::ios::binary) << bytes;
  EXPECT_EQ(*read_file(folder_ + "/x"), bytes);
  std::ofstream(folder_ + "/empty");
  EXPECT_EQ(*read_file(folder_ + "/empty"), "");
}

TEST_F(ReadFile, says_why_it_cannot) {
  const auto missing = read_file(folder_ + "/none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error()[0].message, "cannot read '" + folder_ + "/none': No such file or directory");
  const auto named = read_file(folder_, "the GPU file");
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error()[0].message, "cannot read the GPU file " + folder_ + ": it is a directory");
  // Opened, but its first page cannot be read.
  const auto unreadable = read_file("/proc/self/mem");
  ASSERT_FALSE(unreadable);
  EXPECT_EQ(unreadable.error()[0].message, "cannot read '/proc/self/mem': Input/output error");
}

}  // namespace
}  // namespace warplens
