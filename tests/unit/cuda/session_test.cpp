// SPDX-License-Identifier: Apache-2.0
// Which launches a session selects, and what it refuses.
#include "cuda/session.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace warplens::cuda {
namespace {

std::string selected(report::SessionFile options, const std::vector<std::string>& launches) {
  auto session = Session::open(std::move(options));
  if (!session) return "cannot open";
  std::string text;
  for (const auto& name : launches) text += (*session)->select(name) ? '1' : '0';
  return text;
}

TEST(Session, selects_launches_by_name_then_by_number) {
  const std::vector<std::string> names = {"_Z4gemmPf", "_Z3addPf", "_Z4gemmPf", "_Z4gemmPf", "_Z4gemmPf"};
  EXPECT_EQ(selected({}, names), "11111");
  report::SessionFile gemm;
  gemm.kernel_regex = "^gemm\\(float";  // matches the readable name
  EXPECT_EQ(selected(gemm, names), "10111");
  gemm.launch_skip = 1;
  gemm.launch_count = 2;
  EXPECT_EQ(selected(gemm, names), "00110");
  report::SessionFile mangled;
  mangled.kernel_regex = "_Z3add";
  EXPECT_EQ(selected(mangled, names), "01000");
}

TEST(Session, refuses_a_bad_pattern_and_a_record_that_cannot_be_written) {
  report::SessionFile bad;
  bad.kernel_regex = "(";
  EXPECT_FALSE(Session::open(bad).has_value());
  report::SessionFile unwritable;
  unwritable.record = "/no/such/folder/record";
  EXPECT_FALSE(Session::open(unwritable).has_value());
}

TEST(Session, without_the_variable_counts_and_records_nothing) {
  const char* before = std::getenv(report::kSessionVariable);
  const std::string saved = before ? before : "";
  unsetenv(report::kSessionVariable);
  const auto session = Session::from_environment();
  setenv(report::kSessionVariable, saved.c_str(), 1);
  ASSERT_TRUE(session.has_value());
  EXPECT_FALSE((*session)->options().count);
  EXPECT_EQ((*session)->records(), nullptr);
}

}  // namespace
}  // namespace warplens::cuda
