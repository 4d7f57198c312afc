// SPDX-License-Identifier: Apache-2.0
// Which launches of a program are counted: by name, number, NVTX range and profiler calls. The program's launches are
// numbered 0 to 5; all of them always run, and all are in the report.
#include <set>

#include "compile/clang_driver.h"
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;

constexpr const char* kSource = R"(
#include <cstdio>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
__global__ void fill(int* p) { p[threadIdx.x] = 1; }
__global__ void add(int* p) { p[threadIdx.x] += 1; }
int main() {
  int* p;
  cudaMalloc(&p, 128);
  fill<<<1, 32>>>(p);                                // 0
  nvtxRangePush("outer");
  add<<<1, 32>>>(p);                                 // 1: outer
  nvtxEventAttributes_t inner = {};
  inner.messageType = NVTX_MESSAGE_TYPE_ASCII;
  inner.message.ascii = "inner";
  nvtxRangePushEx(&inner);
  add<<<1, 32>>>(p);                                 // 2: outer, inner
  nvtxRangePop();
  cudaProfilerStart();
  add<<<1, 32>>>(p);                                 // 3: outer, profiled
  nvtxRangePop();
  nvtxRangeId_t late = nvtxRangeStartA("late");
  add<<<1, 32>>>(p);                                 // 4: late, profiled
  cudaProfilerStop();
  nvtxRangeEnd(late);
  fill<<<1, 32>>>(p);                                // 5
  int h[32];
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", h[0], nvtxRangePop());
  return 0;
}
)";

class SelectionTest : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    const std::filesystem::path tool(WARPLENS_TOOL);
    CompileRequest request;
    request.options.sources = {file("ranges.cu", kSource)};
    request.options.output = path("ranges");
    request.toolchain.cuda_headers = WARPLENS_SOURCE_DIR "/include/cuda";
    request.toolchain.runtime_library = (tool.parent_path().parent_path() / "lib/warplens/libcudart.so.13").string();
    const auto built = compile_with_clang(request);
    ASSERT_TRUE(built && built->ok) << (built ? built->messages : render(built.error()[0]));
  }

  void expect_counted(std::vector<std::string> options, const std::set<uint64_t>& expected) const {
    SCOPED_TRACE(quoted_command(options));
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--launches", "all", "--json", path("r.json"), path("ranges")});
    const auto r = tool(options);
    EXPECT_EQ(r.exit_code, 0) << r.errors;
    EXPECT_EQ(r.output, "1 -1\n") << r.errors;
    std::set<uint64_t> counted, all;
    const json report = json::parse(read(path("r.json")));
    for (const json& kernel : report["kernels"]) {
      for (const json& launch : kernel["launch_groups"]) {
        all.insert(launch["first_launch"].get<uint64_t>());
        EXPECT_EQ(launch["complete"], true);
        if (launch["counted"] == true) counted.insert(launch["first_launch"].get<uint64_t>());
      }
    }
    EXPECT_EQ(all.size(), 6u);
    EXPECT_EQ(counted, expected);
    const std::string words = ", " + std::to_string(expected.size()) + " counted";
    EXPECT_EQ(r.errors.find(words) != std::string::npos, expected.size() != 6) << r.errors;
  }
};

TEST_F(SelectionTest, names_numbers_ranges_and_the_profiler) {
  expect_counted({}, {0, 1, 2, 3, 4, 5});
  expect_counted({"--kernel", "fill"}, {0, 5});
  expect_counted({"--kernel", "add", "--launch-skip", "1", "--launch-count", "2"}, {2, 3});
  expect_counted({"--nvtx", "outer"}, {1, 2, 3});
  expect_counted({"--nvtx", "^(inner|late)$"}, {2, 4});
  expect_counted({"--nvtx", "outer", "--launch-skip", "1", "--launch-count", "1"}, {2});
  expect_counted({"--profile-from-start", "off"}, {3, 4});
  expect_counted({"--profile-from-start=off", "--nvtx", "outer"}, {3});
  expect_counted({"--profile-from-start", "on"}, {0, 1, 2, 3, 4, 5});
  expect_counted({"--nvtx", "none of them"}, {});
}

TEST_F(SelectionTest, wrong_patterns_are_refused) {
  expect_refused(tool({"run", "--nvtx", "(", path("ranges")}), "--nvtx: '(' is not a valid regular expression");
  expect_refused(tool({"run", "--profile-from-start", "maybe", path("ranges")}), "--profile-from-start is on or off");
}

}  // namespace
}  // namespace warplens::cli_tests
