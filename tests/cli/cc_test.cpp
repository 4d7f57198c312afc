// SPDX-License-Identifier: Apache-2.0
// `warplens cc` as build files use it: single commands, make, CMake with CUDA as a language, find_package(Warplens).
// The expected numbers are worked out in tests/cli/projects/cmake_cuda/main.cu.
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

constexpr const char* kProgram =
    "#include <cstdio>\n"
    "__global__ void k(int* p) { p[threadIdx.x] = threadIdx.x + START; }\n"
    "int main() { int* d; int h[32]; cudaMalloc(&d, 128); k<<<1, 32>>>(d);\n"
    "  cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost); printf(\"%d %d\\n\", h[0], h[31]); return 7; }\n";
constexpr const char* kProjectOutput = "109 111 113 115, 11881 13225, devices 1\n";

class Cc : public ToolTest {
 protected:
  static ProcessResult cc(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "cc");
    return tool(arguments);
  }
  static ProcessResult shell(const std::string& command) {
    auto result = run_process({"/bin/sh", "-c", command});
    EXPECT_TRUE(result.has_value());
    return result ? *result : ProcessResult{};
  }
  static std::string toolkit() {
    std::string text = cc({"--print-toolkit"}).output;
    return text.substr(0, text.find('\n'));
  }
};

/// How a shell starts a program that is not instrumented, where the library that it loads is.
#ifdef WARPLENS_SANITIZER_RUNTIME
const std::string kStart = "LD_PRELOAD=" WARPLENS_SANITIZER_RUNTIME " ASAN_OPTIONS=detect_leaks=0 ";
#else
const std::string kStart;
#endif

TEST_F(Cc, program_runs_alone_and_is_counted_under_run) {
  const std::string source = file("a.cu", kProgram), program = path("a");
  const auto built = cc({"-O2", "-arch=sm_80", "-DSTART=3", source, "-o", program, "-lcudart"});
  ASSERT_EQ(built.exit_code, 0) << built.errors;
#ifndef WARPLENS_SANITIZER_RUNTIME  // whose library the linker warns about
  EXPECT_EQ(built.errors, "");
#endif
  const auto alone = shell(kStart + program);
  EXPECT_EQ(alone.exit_code, 7);
  EXPECT_EQ(alone.output, "3 34\n");
  EXPECT_EQ(alone.errors, "");
  const auto counted = tool({"run", program});
  EXPECT_EQ(counted.exit_code, 7);
  EXPECT_EQ(counted.output, "3 34\n");
  EXPECT_NE(counted.errors.find("k  grid 1, block 32, 1 launch"), std::string::npos) << counted.errors;
}

TEST_F(Cc, each_stage_writes_what_it_says) {
  const std::string source = file("a.cu", kProgram);
  EXPECT_EQ(cc({"-c", "-DSTART=0", source, "-o", path("a.o"), "-MD", "-MF", path("a.d"), "-MT", "thing"}).exit_code, 0);
  EXPECT_EQ(read(path("a.d")).rfind("thing: ", 0), 0u) << read(path("a.d"));
  EXPECT_NE(read(path("a.d")).find(source), std::string::npos);
  EXPECT_EQ(cc({"-ptx", "-DSTART=0", source, "-o", path("a.ptx")}).exit_code, 0);
  EXPECT_NE(read(path("a.ptx")).find(".entry _Z1kPi"), std::string::npos);
  EXPECT_NE(cc({"-E", "-DSTART=41", source}).output.find("threadIdx.x + 41"), std::string::npos);
  EXPECT_NE(cc({"-M", "-DSTART=0", source}).output.find(source), std::string::npos);
  EXPECT_EQ(cc({"-lib", path("a.o"), "-o", path("liba.a")}).exit_code, 0);
  EXPECT_EQ(cc({"-Wl,--whole-archive", path("liba.a"), "-Wl,--no-whole-archive", "-o", path("a")}).exit_code, 0);
  const auto dry = cc({"--dryrun", "-DSTART=0", source, "-o", path("never")});
  EXPECT_EQ(dry.exit_code, 0);
  EXPECT_NE(dry.errors.find("--cuda-device-only"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("never")));
}

TEST_F(Cc, options_come_from_files) {
  const std::string source = file("a.cu", kProgram),
                    options = file("options", "-DSTART=8 \"" + source + "\"\n-o " + path("a"));
  ASSERT_EQ(cc({"--options-file", options}).exit_code, 0);
  EXPECT_EQ(shell(kStart + path("a")).output, "8 39\n");
  expect_refused(cc({"@" + path("none")}), "none");
  file("loop", "@" + path("loop"));
  expect_refused(cc({"@" + path("loop")}), "without end");
}

TEST_F(Cc, unknown_option_is_named_with_the_nearest) {
  const std::string source = file("a.cu", kProgram);
  expect_refused(cc({"-c", "--use_fast_mth", source}), "unknown compiler option '--use_fast_mth'");
  expect_refused(cc({"-c", "--use_fast_mth", source}), "did you mean --use_fast_math?");
  expect_refused(cc({"-c", "-cubin", source}), "no machine code is made here");
  expect_refused(cc({"-default-stream=fast", source}), "legacy or per-thread");
  expect_refused(cc({}), "no source");
  expect_refused(cc({"-c", path("none.cu")}), "none.cu");
  EXPECT_EQ(cc({"-c", "--ignore-unknown", "--use_fast_mth", "-DSTART=1", source, "-o", path("a.o")}).exit_code, 0);
}

TEST_F(Cc, run_leaves_unknown_options_out_too) {
  const std::string source = file("a.cu", kProgram);
  expect_refused(tool({"run", "--use_fast_mth", "-DSTART=1", source}), "unknown option '--use_fast_mth'");
  const auto result = tool({"run", "-q", "--ignore-unknown", "--use_fast_mth", "-DSTART=1", source});
  EXPECT_EQ(result.exit_code, 7) << result.errors;
  EXPECT_EQ(result.output, "1 32\n");
}

TEST_F(Cc, errors_of_a_source_end_with_1_and_leave_no_output) {
  const auto result = cc({"-c", file("bad.cu", "int x = nothing;\n"), "-o", path("bad.o")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.errors.find("bad.cu:1:9: error"), std::string::npos) << result.errors;
  EXPECT_FALSE(std::filesystem::exists(path("bad.o")));
}

TEST_F(Cc, version_is_what_scripts_look_for) {
  const auto result = cc({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("release 13.0, V13.0.0"), std::string::npos);
}

TEST_F(Cc, make_builds_a_project_with_separate_compilation) {
  const std::string command = "cd " + path("") +
                              " && cp " WARPLENS_SOURCE_DIR
                              "/tests/cli/projects/make/Makefile . && make -s SOURCE=" WARPLENS_SOURCE_DIR
                              "/tests/cli/projects/cmake_cuda NVCC='" WARPLENS_TOOL " cc' && " +
                              kStart + "./program";
  const auto result = shell(command);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, kProjectOutput);
}

TEST_F(Cc, cmake_takes_it_as_its_cuda_compiler) {
  const std::string build = path("build");
  const auto result = shell("cmake -G Ninja -S " WARPLENS_SOURCE_DIR "/tests/cli/projects/cmake_cuda -B " + build +
                            " -DCMAKE_CUDA_COMPILER=" + toolkit() + "/bin/nvcc 1>&2 && ninja -C " + build +
                            " 1>&2 && " + kStart + build + "/program");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, kProjectOutput);
}

TEST_F(Cc, package_builds_a_program_without_cuda_as_a_language) {
  const std::string build = path("build"), prefix = std::filesystem::path(WARPLENS_TOOL).parent_path().parent_path();
  const auto result = shell("cmake -G Ninja -S " WARPLENS_SOURCE_DIR "/tests/cli/projects/package -B " + build +
                            " -DCMAKE_PREFIX_PATH=" + prefix + " 1>&2 && ninja -C " + build + " 1>&2 && " + kStart +
                            build + "/program");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, kProjectOutput);
}

}  // namespace
}  // namespace warplens::cli_tests
