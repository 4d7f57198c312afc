// SPDX-License-Identifier: Apache-2.0
// Progress of a long launch: what is written when, with a clock and a terminal of the test's own.
#include "report/progress_line.h"

#include <gtest/gtest.h>

namespace warplens::report {
namespace {

class ProgressLineTest : public ::testing::Test {
 protected:
  ProgressSource source(std::string kernel = "sgemm", uint64_t blocks = 1000) {
    return {std::move(kernel), blocks, 8, [this] { return done_; }, [this] { return seconds_; }};
  }
  uint64_t done_ = 0;
  double seconds_ = -1;
  std::string screen_;
  double now_ = 100;
  ProgressLine line_{[this](std::string_view text) { screen_ += text; }, 80, [this] { return now_; }};
};

TEST_F(ProgressLineTest, nothing_for_a_short_launch) {
  line_.step();
  line_.begin(source());
  line_.step();  // its code is still being made
  for (seconds_ = 0; seconds_ < 1.5; seconds_ += 0.25) line_.step();
  line_.end();
  line_.step();
  EXPECT_EQ(screen_, "");
}

TEST_F(ProgressLineTest, a_long_launch_is_shown_and_cleared) {
  line_.begin(source());
  seconds_ = 2;
  line_.step();  // no block has ended
  EXPECT_EQ(screen_, "\rwarplens: sgemm: 0 of 1,000 blocks (0 %)\x1b[K");
  screen_.clear();
  seconds_ = 4;
  done_ = 250;  // 62.5 blocks of 8 warps a second; 750 are left
  line_.step();
  EXPECT_EQ(screen_, "\rwarplens: sgemm: 250 of 1,000 blocks (25 %), 500 warps/s, 12 s left\x1b[K");
  screen_.clear();
  line_.end();
  EXPECT_EQ(screen_, "\r\x1b[K");
  screen_.clear();
  line_.end();
  line_.begin(source());
  seconds_ = 0.1;
  line_.step();
  line_.end();
  EXPECT_EQ(screen_, "");
}

TEST_F(ProgressLineTest, code_that_takes_long_is_said_to_be_made) {
  line_.begin(source());
  now_ = 101;
  line_.step();
  EXPECT_EQ(screen_, "");
  now_ = 112.5;
  line_.step();
  EXPECT_EQ(screen_, "\rwarplens: sgemm: code is being made, 12 s\x1b[K");
  screen_.clear();
  seconds_ = 0.5;  // the first block has begun: not long ago
  line_.step();
  EXPECT_EQ(screen_, "");
  line_.end();
  EXPECT_EQ(screen_, "\r\x1b[K");
}

TEST_F(ProgressLineTest, large_numbers_long_names_and_narrow_terminals_fit) {
  const ProgressSource large = source(std::string(300, 'k'), uint64_t{1} << 31);
  for (unsigned width : {40u, 60u, 79u, 200u})
    for (uint64_t done : {uint64_t{0}, uint64_t{1}, uint64_t{123456789}, uint64_t{1} << 31, ~uint64_t{0}})
      for (double seconds : {2.0, 1e7}) EXPECT_LE(progress_text(large, done, seconds, width).size(), width);
  EXPECT_EQ(progress_text(source("k", 4), 1, 50, 79), "warplens: k: 1 of 4 blocks (25 %), 0.16 warps/s, 3 min left");
  EXPECT_EQ(progress_text(source("k", 100), 1, 3600, 79),
            "warplens: k: 1 of 100 blocks (1 %), 0.0022 warps/s, 99 h left");
  EXPECT_EQ(progress_text(source("sgemm", uint64_t{1} << 31), 692926, 2, 79),
            "warplens: sgemm: 692,926 of 2.15 G blocks (0 %), 2.77 M warps/s, 2 h left");
  EXPECT_NE(progress_text(source("k", 1 << 20), 1 << 19, 2, 79).find("2.10 M warps/s, 2 s left"), std::string::npos);
}

}  // namespace
}  // namespace warplens::report
