// SPDX-License-Identifier: Apache-2.0
// `warplens occupancy` for numbers and for kernels, `warplens metrics`, --csv and --resource-usage.
#include <nlohmann/json.hpp>

#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

using nlohmann::json;

constexpr const char* kPtx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry _Z4copyPf(.param .u64 p) .maxntid 192, 1, 1 {\n  .reg .b64 %rd<5>;\n  .reg .f32 %f<2>;\n"
    "  .reg .b32 %r<2>;\n  .shared .align 4 .b8 s[20000];\n  ld.param.u64 %rd1, [p];\n  mov.u32 %r1, %tid.x;\n"
    "  mul.wide.u32 %rd2, %r1, 4;\n  add.s64 %rd3, %rd1, %rd2;\n  ld.global.f32 %f1, [%rd3];\n"
    "  st.shared.f32 [s], %f1;\n  bar.sync 0;\n  st.global.f32 [%rd3+4096], %f1;\n  ret;\n}\n";

class OccupancyTest : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    ::setenv("COLUMNS", "200", 1);
    ::setenv("WARPLENS_PTXAS", "off", 1);
  }
  void TearDown() override {
    ::unsetenv("WARPLENS_PTXAS");
    ToolTest::TearDown();
  }
};

TEST_F(OccupancyTest, of_numbers_names_the_limit) {
  const auto r = tool({"occupancy", "--block", "256", "--regs", "64", "--smem", "48K"});
  EXPECT_TRUE(r.ok()) << r.errors;
  EXPECT_NE(r.output.find("4 blocks, 32 of 64 warps an SM: occupancy 50 %, limited by registers and shared memory"),
            std::string::npos)
      << r.output;
  EXPECT_NE(r.output.find("warps 8, blocks 32, registers 4, shared memory 4 (in 196 KiB), barriers 64"),
            std::string::npos);
}

TEST_F(OccupancyTest, depends_on_the_gpu) {
  const auto blocks = [](const char* gpu) {
    const auto r =
        tool({"occupancy", "--gpu", gpu, "--block", "128", "--regs", "32", "--smem", "25600", "--json", "-"});
    EXPECT_TRUE(r.ok()) << r.errors;
    return json::parse(r.output)["kernels"][0]["occupancy"]["blocks_per_sm"].get<int>();
  };
  EXPECT_EQ(blocks("v100"), 3);
  EXPECT_EQ(blocks("t4"), 2);
  EXPECT_EQ(blocks("a100"), 6);
  EXPECT_EQ(blocks("h200"), 8);
}

TEST_F(OccupancyTest, curves_have_the_guides_examples) {
  const auto r = tool({"occupancy", "--block", "256", "--json", "-"});
  const json curve = json::parse(r.output)["kernels"][0]["curves"]["threads_per_block"];
  EXPECT_EQ(curve[0]["theoretical"], 0.5);    // 32 threads
  EXPECT_EQ(curve[23]["theoretical"], 0.75);  // 768
}

TEST_F(OccupancyTest, of_a_kernel_takes_its_own_needs) {
  const std::string ptx = file("copy.ptx", kPtx);
  const auto r = tool({"occupancy", ptx, "--no-curves"});
  EXPECT_TRUE(r.ok()) << r.errors;
  EXPECT_NE(r.output.find("copy(float*) on NVIDIA H200: 192 threads"), std::string::npos) << r.output;
  EXPECT_NE(r.output.find("(estimate)"), std::string::npos);
  EXPECT_NE(r.output.find("10 blocks, 60 of 64 warps"), std::string::npos)
      << r.output;  // warps allow 10, 20000 bytes 11
  const auto smaller = tool({"occupancy", ptx, "--gpu", "t4", "--entry", "copy", "--regs", "40", "--smem", "12768"});
  EXPECT_NE(smaller.output.find("40 registers a thread, 32 KiB"), std::string::npos) << smaller.output;
  EXPECT_NE(smaller.output.find("2 blocks, 12 of 32 warps"), std::string::npos) << smaller.output;
}

TEST_F(OccupancyTest, launch_with_too_many_registers_fails_as_on_the_device) {
  ::unsetenv("WARPLENS_PTXAS");
  if (find_on_path("/usr/local/cuda/bin/ptxas").empty()) GTEST_SKIP() << "no CUDA toolkit here";
  const std::string source = file("many.cu", R"(
#include <cstdio>
__global__ void many(const float* from, float* to) {
  float v[100];
#pragma unroll
  for (int i = 0; i < 100; ++i) v[i] = from[i * blockDim.x + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 100; ++i) to[i * blockDim.x + threadIdx.x] = v[99 - i] * v[i];
}
int main() {
  float* p;
  cudaMalloc(&p, 1024 * 100 * 8);
  many<<<1, 256>>>(p, p + 1024 * 100);
  const cudaError_t quarter = cudaGetLastError();
  many<<<1, 1024>>>(p, p + 1024 * 100);
  std::printf("%s %s\n", cudaGetErrorName(quarter), cudaGetErrorName(cudaGetLastError()));
}
)");
  const auto r = tool({"run", source});
  EXPECT_EQ(r.output, "cudaSuccess cudaErrorLaunchOutOfResources\n") << r.errors;
  EXPECT_NE(r.errors.find("needs more than the 65536 registers that NVIDIA H200 has"), std::string::npos) << r.errors;
}

TEST_F(OccupancyTest, without_registers_says_so_and_leaves_their_limit_out) {
  const auto r = tool({"occupancy", "--block", "256", "--no-curves"});
  EXPECT_NE(r.output.find("256 threads, registers not given (--regs), no shared memory"), std::string::npos)
      << r.output;
  EXPECT_NE(r.output.find("warps 8, blocks 32, shared memory 32 (in 32 KiB), barriers 64"), std::string::npos)
      << r.output;
  const json j = json::parse(tool({"occupancy", "--block", "256", "--json", "-"}).output)["kernels"][0]["occupancy"];
  EXPECT_EQ(j["blocks_per_sm"], 8);
  EXPECT_FALSE(j.contains("registers_per_thread") || j.contains("registers_exactness"));
  EXPECT_FALSE(j["block_limits"].contains("registers"));
}

TEST_F(OccupancyTest, wrong_use_is_told) {
  expect_refused(tool({"occupancy", "--block", "32", "--carveout", "999"}), "164, 196, 228 KiB");
  const std::string bare = file("bare.ptx", ".version 8.0\n.target sm_80\n.address_size 64\n");
  expect_refused(tool({"occupancy", "--block", "32", bare}), "bare.ptx has no kernels");
  expect_refused(tool({"occupancy"}), "--block 256 --regs 64");
  expect_refused(tool({"occupancy", "--block", "none"}), "--block needs a number of threads");
  expect_refused(tool({"occupancy", "--blck", "32"}), "did you mean --block?");
  expect_refused(tool({"occupancy", "--block", "32", "--gpu", "x"}), "there is no GPU 'x'");
  expect_refused(tool({"occupancy", "--block", "32", path("none.ptx")}), "there is no file");
  expect_refused(tool({"occupancy", "--block", "32", "--entry", "none", file("copy.ptx", kPtx)}), "copy(float*)");
}

TEST_F(OccupancyTest, reports_that_cannot_be_written_are_refused) {
  const std::string ptx = file("copy.ptx", kPtx);
  expect_refused(tool({"run", "--metrics", "gld_transactions", ptx}), "add --csv FILE");
  expect_refused(tool({"run", "--csv", "-", "--json", "-", ptx}), "only one of --json, --csv");
}

TEST_F(OccupancyTest, every_command_has_help) {
  for (const char* command : {"run", "cc", "demo", "occupancy", "gpus", "metrics", "cache"})
    for (const char* option : {"--help", "-h"}) {
      const auto r = tool({command, option});
      EXPECT_TRUE(r.ok()) << command << r.errors;
      EXPECT_EQ(r.output.find(std::string("usage: warplens ") + command), 0u) << command << r.output;
    }
}

TEST_F(OccupancyTest, metrics_are_listed_and_written_as_csv) {
  const auto list = tool({"metrics", "gld_transactions"});
  EXPECT_EQ(list.output,
            "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum  exact\n"
            "    32-byte sectors that loads touched, by request (sector; also: gld_transactions)\n");
  EXPECT_TRUE(tool({"metrics"}).ok());
  expect_refused(tool({"metrics", "nothing"}), "there is no metric");
  const std::string ptx = file("copy.ptx", kPtx), csv = path("out.csv");
  const auto r = tool({"run", "--csv", csv, "--metrics", "gld_transactions,launch__registers_per_thread", ptx, "--grid",
                       "3", "--block", "64", "--arg", "f32[2048]=0"});
  EXPECT_TRUE(r.ok()) << r.errors;
  EXPECT_NE(r.errors.find("registers a thread (estimate)"), std::string::npos) << r.errors;
  const std::string text = read(csv);
  EXPECT_NE(text.find("\"copy(float*)\",\"1\",\"7\",\"(64, 1, 1)\",\"(3, 1, 1)\",\"0\",\"9.0\",\"24\""),
            std::string::npos)
      << text;  // 6 warps of 4 sectors
}

TEST_F(OccupancyTest, resource_usage_is_a_table) {
  const auto r = tool({"run", "--resource-usage", "-q", file("copy.ptx", kPtx), "--grid", "1", "--block", "32", "--arg",
                       "f32[2048]=0"});
  EXPECT_TRUE(r.ok()) << r.errors;
  EXPECT_NE(r.errors.find("estimated from the PTX"), std::string::npos) << r.errors;
  EXPECT_NE(r.errors.find("copy(float*)"), std::string::npos);
  ::unsetenv("WARPLENS_PTXAS");
  if (find_on_path("/usr/local/cuda/bin/ptxas").empty()) GTEST_SKIP() << "no CUDA toolkit here";
  const auto told = tool({"occupancy", file("copy.ptx", kPtx), "--no-curves"});
  EXPECT_EQ(told.output.find("(estimate)"), std::string::npos) << told.output;
}

}  // namespace
}  // namespace warplens::cli_tests
