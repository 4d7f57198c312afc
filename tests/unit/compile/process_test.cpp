// SPDX-License-Identifier: Apache-2.0
#include "compile/process.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>

namespace warplens {
namespace {

TEST(Process, captures_both_streams_and_the_exit_code) {
  auto r = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->output, "out\n");
  EXPECT_EQ(r->errors, "err\n");
  EXPECT_EQ(r->exit_code, 3);
}

TEST(Process, much_output_on_one_stream_does_not_block) {
  auto r = run_process({"sh", "-c", "head -c 1000000 /dev/zero >&2; head -c 1000000 /dev/zero"});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->output.size(), 1000000u);
  EXPECT_EQ(r->errors.size(), 1000000u);
}

TEST(Process, signal_becomes_128_plus_its_number) {
  auto r = run_process({"sh", "-c", "kill -TERM $$"});
  ASSERT_TRUE(r);
  EXPECT_EQ(r->exit_code, 128 + SIGTERM);
}

TEST(Process, missing_program_is_an_error) {
  auto r = run_process({"no-such-program-here"});
  ASSERT_FALSE(r);
  EXPECT_NE(r.error()[0].message.find("no-such-program-here"), std::string::npos);
  EXPECT_EQ(find_on_path("no-such-program-here"), "");
  EXPECT_NE(find_on_path("sh"), "");
}

TEST(Process, commands_are_quoted_for_a_shell) {
  EXPECT_EQ(quoted_command({"cc", "-DX=a b", "it's", ""}), "cc '-DX=a b' 'it'\\''s' ''");
}

TEST(Process, temporary_directory_goes_with_its_contents) {
  std::string path;
  {
    auto d = TemporaryDirectory::create();
    ASSERT_TRUE(d);
    path = d->path();
    ASSERT_TRUE(write_file(path + "/x", "text"));
    EXPECT_EQ(*read_file(path + "/x"), "text");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Process, write_into_a_missing_directory_leaves_nothing) {
  const Status s = write_file("/no/such/directory/x", "text");
  ASSERT_FALSE(s);
  EXPECT_NE(s.error()[0].message.find("/no/such/directory/x"), std::string::npos);
}

}  // namespace
}  // namespace warplens
