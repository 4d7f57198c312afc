// SPDX-License-Identifier: Apache-2.0
// What `cmake --install` puts somewhere works after it was moved elsewhere: no path of the build tree or of the first
// place is needed. (The .deb in a fresh Debian: scripts/check_package.)
#include "compile/process.h"
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

namespace fs = std::filesystem;

class InstallTest : public ToolTest {
 protected:
  static ProcessResult shell(const std::string& command) { return run_process({"/bin/sh", "-c", command}).value(); }
};

TEST_F(InstallTest, an_installed_tree_works_wherever_it_is_moved) {
#ifdef WARPLENS_SANITIZER_RUNTIME
  GTEST_SKIP() << "the project's own executable is not instrumented";
#endif
  const auto installed = shell("cmake --install " WARPLENS_BUILD_DIR " --prefix " + path("first") + " 2>&1");
  ASSERT_EQ(installed.exit_code, 0) << installed.output;
  fs::rename(path("first"), path("second place"));
  const std::string prefix = path("second place"), warplens = "'" + prefix + "/bin/warplens' ";

  EXPECT_EQ(shell(warplens + "--version").output.rfind("warplens ", 0), 0u);
  const auto env = shell(warplens + "env --plain");
  EXPECT_EQ(env.output.rfind("LD_LIBRARY_PATH=" + prefix + "/lib/warplens", 0), 0u) << env.output << env.errors;
  const std::string source = file("a.cu", R"(
__global__ void copy(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x]; }
int main() {
  float *in, *out;
  cudaMalloc(&in, 128);
  cudaMalloc(&out, 128);
  copy<<<1, 32>>>(in, out);
  return cudaDeviceSynchronize() != cudaSuccess;
}
)");
  const auto run = shell(warplens + "run --limit excessive_sectors=0 " + source);
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_NE(run.errors.find("limits: 1 kept, 0 broken"), std::string::npos) << run.errors;
  EXPECT_EQ(shell(warplens + "demo 64 2>&1").exit_code, 0);
  const auto rung = shell(warplens + "gallery reduction 06");  // of the kernel library
  EXPECT_EQ(rung.exit_code, 0) << rung.errors;
  EXPECT_NE(rung.output.find("measured, NVIDIA H200"), std::string::npos) << rung.output;
  EXPECT_NE(shell(warplens + "measure nothing").errors.find("measure what?"), std::string::npos);

  for (const char* part :
       {"share/man/man1/warplens.1", "share/man/man1/warplens-run.1", "share/bash-completion/completions/warplens",
        "share/zsh/vendor-completions/_warplens", "share/fish/vendor_completions.d/warplens.fish",
        "share/doc/warplens/copyright", "share/warplens/gpus/h200.toml", "lib/cmake/Warplens/WarplensConfig.cmake"})
    EXPECT_TRUE(fs::is_regular_file(prefix + "/" + part)) << part;
  // Texts of the package name neither the first place nor the tree that it was built in.
  const auto named = shell("grep -rIl -e " + path("first") + " -e " WARPLENS_BUILD_DIR " '" + prefix + "'");
  EXPECT_EQ(named.output, "");

  fs::copy(prefix + "/share/warplens/examples/ci", path("ci"), fs::copy_options::recursive);
  const auto project = shell("cd " + path("ci") + " && cmake -B build '-DCMAKE_PREFIX_PATH=" + prefix +
                             "' 2>&1 && cmake --build build 2>&1 && ctest --test-dir build --output-on-failure 2>&1");
  EXPECT_EQ(project.exit_code, 0) << project.output;
}

}  // namespace
}  // namespace warplens::cli_tests
