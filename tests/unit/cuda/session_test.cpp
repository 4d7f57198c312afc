// SPDX-License-Identifier: Apache-2.0
// The session file: what it sets, what is refused, and which launches it selects.
#include "cuda/session.h"

#include <gtest/gtest.h>

namespace warplens::cuda {
namespace {

TEST(SessionFile, sets_every_option) {
  const auto o = parse_session(R"({"record": "/r", "count": false, "kernel_regex": "gemm", "launch_skip": 2,
                                   "launch_count": 3, "executor": "interpreter", "workers": 4, "gpu": "g.toml",
                                   "trace": "/t", "something_newer": [1, 2]})",
                               "s.json");
  ASSERT_TRUE(o.has_value());
  EXPECT_EQ(o->record, "/r");
  EXPECT_FALSE(o->count);
  EXPECT_EQ(o->kernel_regex, "gemm");
  EXPECT_EQ(o->launch_skip, 2u);
  EXPECT_EQ(o->launch_count, 3u);
  EXPECT_TRUE(o->interpreter);
  EXPECT_EQ(o->workers, 4u);
  EXPECT_EQ(o->gpu, "g.toml");
  EXPECT_EQ(o->trace, "/t");
}

TEST(SessionFile, defaults_count_everything_with_generated_code) {
  const auto o = parse_session("{}", "s.json");
  ASSERT_TRUE(o.has_value());
  EXPECT_TRUE(o->count);
  EXPECT_FALSE(o->interpreter);
  EXPECT_FALSE(o->launch_count.has_value());
  EXPECT_EQ(o->workers, 0u);
}

TEST(SessionFile, reports_all_faults_at_once) {
  const auto o = parse_session(R"({"count": 1, "workers": -2, "executor": "gpu", "kernel_regex": "("})", "s.json");
  ASSERT_FALSE(o.has_value());
  EXPECT_EQ(o.error().size(), 4u);
  EXPECT_FALSE(parse_session("[1]", "s.json").has_value());
  EXPECT_FALSE(parse_session("{", "s.json").has_value());
}

std::string selected(SessionOptions options, const std::vector<std::string>& launches) {
  Session session(std::move(options));
  std::string text;
  for (const auto& name : launches) text += session.select(name) ? '1' : '0';
  return text;
}

TEST(SessionSelect, takes_launches_by_name_then_by_number) {
  const std::vector<std::string> names = {"_Z4gemmPf", "_Z3addPf", "_Z4gemmPf", "_Z4gemmPf", "_Z4gemmPf"};
  EXPECT_EQ(selected({}, names), "11111");
  SessionOptions gemm;
  gemm.kernel_regex = "^gemm\\(float";  // matches the readable name
  EXPECT_EQ(selected(gemm, names), "10111");
  gemm.launch_skip = 1;
  gemm.launch_count = 2;
  EXPECT_EQ(selected(gemm, names), "00110");
  SessionOptions mangled;
  mangled.kernel_regex = "_Z3add";
  EXPECT_EQ(selected(mangled, names), "01000");
}

}  // namespace
}  // namespace warplens::cuda
