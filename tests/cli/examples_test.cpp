// SPDX-License-Identifier: Apache-2.0
// The examples, end to end: compiled, run, counted. What must be counted is computed here from the kernels' index
// arithmetic alone, warp by warp: which bytes do the 32 threads ask for, and in how many sectors do they lie?
#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "compile/nvcc_driver.h"
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;

struct Count {
  uint64_t requests = 0, sectors = 0;
};

/// Sums one access over all warps of a 2-D launch. `offset(x, y)` is the byte offset that thread (x, y) of the grid
/// asks for in an allocation that begins at a sector boundary, or -1 when the thread does not take part. 4 bytes each.
Count count_access(uint64_t grid_x, uint64_t grid_y, uint64_t block_x, uint64_t block_y,
                   const std::function<int64_t(uint64_t, uint64_t)>& offset) {
  Count count;
  for (uint64_t block = 0; block < grid_x * grid_y; ++block) {
    const uint64_t x0 = block % grid_x * block_x, y0 = block / grid_x * block_y;
    for (uint64_t first = 0; first < block_x * block_y; first += 32) {
      std::set<int64_t> sectors;
      for (uint64_t thread = first; thread < std::min(first + 32, block_x * block_y); ++thread) {
        const int64_t at = offset(x0 + thread % block_x, y0 + thread / block_x);
        if (at >= 0) sectors.insert(at / 32);
      }
      count.requests += sectors.empty() ? 0 : 1;
      count.sectors += sectors.size();
    }
  }
  return count;
}

struct Expected {
  Count read, write;
};

Expected matmul(uint64_t n, bool naive) {
  const uint64_t blocks = (n + 31) / 32;
  Expected sum;
  const auto add = [&](Count& to, const std::function<uint64_t(uint64_t row, uint64_t col)>& index,
                       uint64_t times = 1) {
    const Count one = count_access(blocks, blocks, 32, 32, [&](uint64_t x, uint64_t y) -> int64_t {
      const uint64_t row = naive ? x : y, col = naive ? y : x;
      return row < n && col < n ? static_cast<int64_t>(4 * index(row, col)) : -1;
    });
    to.requests += one.requests * times;
    to.sectors += one.sectors * times;
  };
  for (uint64_t k = 0; k < n; ++k) {
    add(sum.read, [&](uint64_t row, uint64_t) { return row * n + k; });
    add(sum.read, [&](uint64_t, uint64_t col) { return k * n + col; });
  }
  add(sum.read, [&](uint64_t row, uint64_t col) { return row * n + col; });
  add(sum.write, [&](uint64_t row, uint64_t col) { return row * n + col; });
  return sum;
}

class ExamplesTest : public ToolTest {
 protected:
  /// Runs an example and gives its only launch group.
  json group(const std::string& name, const std::string& argument, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"run", "-q", "--json", path("report.json")};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(std::string(WARPLENS_SOURCE_DIR) + "/examples/" + name);
    if (!argument.empty()) words.push_back(argument);
    const auto r = tool(words);
    EXPECT_EQ(r.exit_code, 0) << r.output << r.errors;
    output_ = r.output;
    const json report = json::parse(read(path("report.json")), nullptr, false);
    if (report.is_discarded() || report["kernels"].size() != 1) return {};
    return report["kernels"][0]["launch_groups"][0];
  }
  static void expect_traffic(const json& group, const std::string& kind, Count expected) {
    for (const json& t : group.value("totals", json::object()).value("memory", json::array())) {
      if (t["memory"] != "global" || t["kind"] != kind) continue;
      EXPECT_EQ(t["requests"], expected.requests);
      EXPECT_EQ(t["sectors"], expected.sectors);
      return;
    }
    ADD_FAILURE() << "no global " << kind << " in " << group.dump(1);
  }
  void expect_matmul(const std::string& name, bool naive, uint64_t n, const std::vector<std::string>& options = {}) {
    const json g = group(name, std::to_string(n), options);
    EXPECT_NE(output_.find("correct"), std::string::npos) << output_;
    const Expected expected = matmul(n, naive);
    expect_traffic(g, "read", expected.read);
    expect_traffic(g, "write", expected.write);
  }
  std::string output_;
};

TEST_F(ExamplesTest, matmul_naive_counts_follow_from_its_indices) { expect_matmul("matmul_naive.cu", true, 64); }
TEST_F(ExamplesTest, matmul_coalesced_counts_follow_from_its_indices) {
  expect_matmul("matmul_coalesced.cu", false, 64);
}
TEST_F(ExamplesTest, matmul_with_partial_blocks) {
  expect_matmul("matmul_naive.cu", true, 45);
  expect_matmul("matmul_coalesced.cu", false, 45);
}
TEST_F(ExamplesTest, both_executors_count_the_same) {
  expect_matmul("matmul_naive.cu", true, 33, {"--executor", "interpreter"});
}
TEST_F(ExamplesTest, nvcc_and_clang_count_the_same) {
  if (!find_nvcc()) GTEST_SKIP() << "no nvcc here";
  expect_matmul("matmul_naive.cu", true, 45, {"--compiler", "nvcc"});
  expect_matmul("matmul_coalesced.cu", false, 45, {"--compiler", "nvcc"});
}

TEST_F(ExamplesTest, vector_add_wastes_nothing) {
  const uint64_t n = 10000;
  const Count one = count_access((n + 255) / 256, 1, 256, 1,
                                 [&](uint64_t x, uint64_t) { return x < n ? static_cast<int64_t>(4 * x) : -1; });
  const json g = group("vector_add.cu", std::to_string(n));
  expect_traffic(g, "read", {2 * one.requests, 2 * one.sectors});
  expect_traffic(g, "write", one);
}

TEST_F(ExamplesTest, strided_read_counts_grow_with_the_stride) {
  for (const uint64_t stride : {1, 2, 3, 8, 100}) {
    const json g = group("strided_read.cu", std::to_string(stride));
    expect_traffic(g, "read", count_access(1024, 1, 256, 1, [&](uint64_t x, uint64_t) {
                     return static_cast<int64_t>(4 * stride * x);
                   }));
  }
}

TEST_F(ExamplesTest, lines_are_those_of_the_source) {
  const json g = group("matmul_naive.cu", "64");
  ASSERT_TRUE(g.contains("lines"));
  const json& worst = g["lines"][0];
  EXPECT_NE(worst["text"].get<std::string>().find("sum += A[row * n + k] * B[k * n + col];"), std::string::npos)
      << worst.dump(1);
  EXPECT_EQ(worst["accesses"][0]["parameter"], "A");
  EXPECT_EQ(worst["accesses"][0]["sectors_per_request"], 32.0);
}

TEST_F(ExamplesTest, demo_is_short_and_names_the_line) {
  const auto r = tool({"demo", "64"});
  EXPECT_EQ(r.exit_code, 0) << r.errors;
  EXPECT_LT(std::count(r.output.begin(), r.output.end(), '\n'), 65);  // a screen and a half, occupancy of both included
  EXPECT_NE(r.output.find("Why: matmul_naive.cu:"), std::string::npos) << r.output;
  EXPECT_EQ(tool({"demo", "7000"}).exit_code, 2);
}

}  // namespace
}  // namespace warplens::cli_tests
