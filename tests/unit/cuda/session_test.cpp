// SPDX-License-Identifier: Apache-2.0
// Which launches a session selects, and what it refuses.
#include "cuda/session.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

// What our nvtx3/nvToolsExt.h calls.
extern "C" int __cudaWarplensRangePush(const char* name);
extern "C" int __cudaWarplensRangePop(void);
extern "C" uint64_t __cudaWarplensRangeStart(const char* name);
extern "C" void __cudaWarplensRangeEnd(uint64_t id);

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

TEST(Session, selects_between_profiler_calls_only_when_asked) {
  report::SessionFile options;
  auto always = Session::open(options);
  (*always)->set_profiling(false);
  EXPECT_TRUE((*always)->select("k"));
  options.profile_from_start = false;
  options.launch_count = 1;
  auto asked = Session::open(options);
  EXPECT_FALSE((*asked)->select("k"));
  (*asked)->set_profiling(true);
  EXPECT_TRUE((*asked)->select("k")) << "launches that were left out are not numbered";
  EXPECT_FALSE((*asked)->select("k"));
  (*asked)->set_profiling(false);
  EXPECT_FALSE((*asked)->select("k"));
}

TEST(Session, selects_while_a_range_is_open) {
  report::SessionFile options;
  options.nvtx_regex = "^step";
  auto session = Session::open(options);
  EXPECT_FALSE((*session)->select("k"));
  EXPECT_EQ(__cudaWarplensRangePush("step 1"), 0);
  EXPECT_EQ(__cudaWarplensRangePush("copy"), 1);
  EXPECT_TRUE((*session)->select("k"));
  std::thread([&] { EXPECT_FALSE((*session)->select("k")) << "pushed by another thread"; }).join();
  EXPECT_EQ(__cudaWarplensRangePop(), 1);
  EXPECT_EQ(__cudaWarplensRangePop(), 0);
  EXPECT_EQ(__cudaWarplensRangePop(), -1);
  const uint64_t first = __cudaWarplensRangeStart("step 2"), second = __cudaWarplensRangeStart(nullptr);
  EXPECT_NE(first, second);
  std::thread([&] { EXPECT_TRUE((*session)->select("k")) << "started by another thread"; }).join();
  __cudaWarplensRangeEnd(first);
  EXPECT_FALSE((*session)->select("k"));
  __cudaWarplensRangeEnd(second);
  __cudaWarplensRangeEnd(second);
}

TEST(Session, refuses_a_bad_pattern_and_a_record_that_cannot_be_written) {
  report::SessionFile bad;
  bad.kernel_regex = "(";
  EXPECT_FALSE(Session::open(bad).has_value());
  bad.kernel_regex = "";
  bad.nvtx_regex = "[";
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
