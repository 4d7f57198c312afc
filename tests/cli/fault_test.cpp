// SPDX-License-Identifier: Apache-2.0
// Programs that misbehave, end to end: the report so far, one clear message, the exit code of the program or of the
// limit.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tool_runner.h"

extern char** environ;

namespace warplens::cli_tests {
namespace {

constexpr const char* kEndless = R"(#include <cstdio>
__global__ void count_up(int* q) { q[threadIdx.x] = 1; }
__global__ void spin(volatile int* flag) {
  while (*flag == 0) {
  }
}
int main() {
  int* p;
  cudaMalloc(&p, 256);
  cudaMemset(p, 0, 256);
  count_up<<<1, 32>>>(p + 32);
  cudaDeviceSynchronize();
  spin<<<2, 32>>>(p);
  std::puts("started");
  std::fflush(stdout);
  cudaDeviceSynchronize();
  return 5;
}
)";

constexpr const char* kOutside = R"(#include <cstdio>
__global__ void over(int n, int* q) {
  q[threadIdx.x] = n;
}
int main(int argc, char**) {
  int* p;
  cudaMalloc(&p, 100);
  over<<<1, 32>>>(7, argc > 1 ? nullptr : p);
  return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 6 : 0;
}
)";

/// Half of each warp comes to the barrier. The program looks at what it asked for, and at CUDA's errors.
constexpr const char* kApart = R"(__global__ void halve(int* q) {
  if (threadIdx.x % 32 < 16)
    __syncthreads();
  q[threadIdx.x] = 1;
}
int main() {
  int *p, last = 0;
  cudaMalloc(&p, 256);
  for (int i = 0; i < 3; ++i) halve<<<2, 64>>>(p);
  if (cudaDeviceSynchronize() != cudaSuccess) return 6;
  return cudaMemcpy(&last, p + 63, 4, cudaMemcpyDeviceToHost) == cudaSuccess && last == 1 ? 0 : 7;
}
)";

class FaultTest : public ToolTest {};

TEST_F(FaultTest, an_endless_kernel_meets_the_time_limit_and_is_reported) {
  // The limit counts from the program's start, not from the compiler's.
  const auto r = tool({"run", "--timeout", "8", file("endless.cu", kEndless)});
  EXPECT_EQ(r.exit_code, 124) << r.errors;
  EXPECT_EQ(r.output, "started\n");
  EXPECT_NE(r.errors.find("note: kernel spin was interrupted"), std::string::npos) << r.errors;
  EXPECT_NE(r.errors.find("count_up  grid 1, block 32, 1 launch"), std::string::npos) << r.errors;
  // Generated code adds a warp's counts at its end.
  EXPECT_NE(r.errors.find("no warp ran to its end, so nothing was counted"), std::string::npos) << r.errors;
}

TEST_F(FaultTest, ctrl_c_ends_an_endless_kernel_with_the_report_so_far) {
  const std::string source = file("endless.cu", kEndless), out = path("out"), err = path("err");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT, 0600);
  const char* argv[] = {WARPLENS_TOOL, "run", source.c_str(), nullptr};
  pid_t pid = 0;
  ASSERT_EQ(posix_spawn(&pid, argv[0], &actions, nullptr, const_cast<char**>(argv), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  bool sent = false;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (!sent && read(out) == "started\n") {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      kill(pid, SIGINT);
      sent = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(sent);
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const std::string errors = read(err);
  EXPECT_NE(errors.find("note: the program was interrupted"), std::string::npos) << errors;
  EXPECT_NE(errors.find("note: kernel spin was interrupted"), std::string::npos) << errors;
  EXPECT_NE(errors.find("count_up  grid 1"), std::string::npos) << errors;
}

TEST_F(FaultTest, an_access_outside_names_line_thread_and_pointer) {
  const auto r = tool({"run", file("over.cu", kOutside)});
  EXPECT_EQ(r.exit_code, 6) << r.errors;
  EXPECT_NE(r.errors.find("over.cu:3:"), std::string::npos) << r.errors;
  EXPECT_NE(r.errors.find("allocation of 100 bytes"), std::string::npos) << r.errors;
  EXPECT_NE(r.errors.find("parameter q"), std::string::npos) << r.errors;
  // 100 bytes hold 25 numbers: thread 25 is the first outside.
  EXPECT_NE(r.errors.find("kernel over, block (0, 0, 0), thread (25, 0, 0)"), std::string::npos) << r.errors;
  EXPECT_NE(r.errors.find("| q[threadIdx.x] = n;"), std::string::npos) << r.errors;
}

TEST_F(FaultTest, a_null_pointer_is_called_so) {
  const auto r = tool({"run", file("over.cu", kOutside), "null"});
  EXPECT_EQ(r.exit_code, 6) << r.errors;
  EXPECT_NE(r.errors.find("null pointer"), std::string::npos) << r.errors;
}

/// The program goes on and does not notice; limits do.
TEST_F(FaultTest, a_barrier_for_half_a_warp_is_told_of_once) {
  const std::string source = file("halve.cu", kApart);
  const auto r = tool({"run", "--json", path("report.json"), source});
  EXPECT_EQ(r.exit_code, 0) << r.errors;
  const size_t at = r.errors.find("halve.cu:3:5: error: executes an aligned barrier with 16 of its warp's 32 running");
  ASSERT_NE(at, std::string::npos) << r.errors;
  EXPECT_EQ(r.errors.find("aligned barrier", at + 60), std::string::npos) << r.errors;
  const auto group = nlohmann::json::parse(read(path("report.json")))["kernels"][0]["launch_groups"][0];
  EXPECT_EQ(group["launches"], 3);
  EXPECT_EQ(group["complete"], true);
  EXPECT_EQ(group["counted"], true);
  ASSERT_EQ(group["findings"].size(), 1u);
  EXPECT_EQ(group["findings"][0]["kind"], "divergent_barrier");
  EXPECT_EQ(tool({"run", "-q", "--limit", "excessive_sectors=1000", source}).exit_code, 1);
}

}  // namespace
}  // namespace warplens::cli_tests
