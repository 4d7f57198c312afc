// SPDX-License-Identifier: Apache-2.0
// --gpu, --gpu-file and `warplens gpus`.
#include <fstream>
#include <iterator>

#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

class GpuTest : public ToolTest {};

TEST_F(GpuTest, gpus_are_listed) {
  const auto r = tool({"gpus"});
  EXPECT_TRUE(r.ok());
  for (const char* name : {"v100", "t4", "a100", "rtx3090", "rtx4090", "l4", "h100", "h200 *", "b200", "rtx5090"})
    EXPECT_NE(r.output.find(name), std::string::npos) << name;
}

TEST_F(GpuTest, unknown_gpu_lists_the_known_ones_before_anything_runs) {
  const auto r = tool({"run", "--gpu", "h300", WARPLENS_CLI_PROGRAM});
  expect_refused(r, "there is no GPU 'h300'");
  expect_refused(r, "rtx5060ti");
}

TEST_F(GpuTest, damaged_file_is_told_where) {
  std::ifstream in(WARPLENS_SOURCE_DIR "/gpus/h200.toml");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  text.replace(text.find("sms = 132"), 9, "sms = 0  ");
  const std::string name = file("mine.toml", text);
  expect_refused(tool({"run", "--gpu-file", name, WARPLENS_CLI_PROGRAM}), name + ":10:7: error: 'sms'");
  expect_refused(tool({"run", "--gpu-file", path("none.toml"), WARPLENS_CLI_PROGRAM}), "none.toml");
}

TEST_F(GpuTest, program_sees_the_gpu_that_was_asked_for) {
  const std::string source = file("who.cu", R"(
#include <cstdio>
__global__ void arch(int* to) {
#ifdef __CUDA_ARCH__
  *to = __CUDA_ARCH__;
#endif
}
int main() {
  cudaDeviceProp p;
  int sms = 0, native = 0, got = -1, *on_device = nullptr;
  cudaGetDeviceProperties(&p, 0);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
  const cudaError_t unknown = cudaDeviceGetAttribute(&native, cudaDevAttrGPUDirectRDMASupported, 0);
  cudaMalloc(&on_device, 4);
  arch<<<1, 1>>>(on_device);
  cudaMemcpy(&got, on_device, 4, cudaMemcpyDeviceToHost);
  std::printf("%s %d.%d %d %d %d\n", p.name, p.major, p.minor, sms, got, unknown == cudaErrorInvalidValue);
  arch<<<1, 1, 65537>>>(on_device);
  return cudaGetLastError() == cudaErrorInvalidValue ? 0 : 1;
}
)");
  ::setenv("COLUMNS", "200", 1);  // no notice is broken into lines
  const auto r = tool({"run", "--gpu", "t4", source});
  EXPECT_TRUE(r.ok()) << r.errors;
  EXPECT_EQ(r.output, "Tesla T4 7.5 40 750 1\n");
  EXPECT_NE(r.errors.find("attribute 116 is not known"), std::string::npos) << r.errors;
  EXPECT_NE(r.errors.find("limit of Tesla T4: 49152 bytes"), std::string::npos) << r.errors;
}

}  // namespace
}  // namespace warplens::cli_tests
