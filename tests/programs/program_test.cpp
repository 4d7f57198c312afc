// SPDX-License-Identifier: Apache-2.0
// Builds each program of this folder with our own compiler driver, and with nvcc where it is installed, runs it on our
// runtime and compares what it prints with what the same program printed on an H200 (NAME.expected).
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "compile/clang_driver.h"
#include "compile/nvcc_driver.h"
#include "compile/process.h"

namespace warplens {
namespace {

const std::string kHere = WARPLENS_PROGRAMS_DIR;

struct Case {
  std::string program;
  bool nvcc;
  std::vector<std::string> arguments = {};  ///< one run for each; empty: one run without any
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.program << (c.nvcc ? "_nvcc" : "_clang"); }

class Program : public testing::TestWithParam<Case> {};

Result<CompileOutcome> build(const Case& c, const std::string& output) {
  CompileRequest request;
  request.options.sources = {kHere + "/" + c.program + ".cu"};
  request.options.language_standard = "c++17";
  request.options.output = output;
  request.toolchain.cuda_headers = WARPLENS_CUDA_HEADERS;
  request.toolchain.runtime_library = WARPLENS_RUNTIME_LIBRARY;
  if (!c.nvcc) return compile_with_clang(request);
  const auto nvcc = find_nvcc();
  if (!nvcc) return nvcc.error();
  return compile_with_nvcc(request, *nvcc);
}

/// Lines that differ, "line 3: 'got' instead of 'expected'".
std::string difference(const std::string& got, const std::string& expected) {
  std::istringstream a(got), b(expected);
  std::string text, x, y;
  for (int line = 1;; ++line) {
    const bool has_x = static_cast<bool>(std::getline(a, x)), has_y = static_cast<bool>(std::getline(b, y));
    if (!has_x && !has_y) return text;
    if (!has_x) x = "(nothing)";
    if (!has_y) y = "(nothing)";
    if (x != y) text += "line " + std::to_string(line) + ": '" + x + "' instead of '" + y + "'\n";
  }
}

TEST_P(Program, prints_what_it_printed_on_the_device) {
  const Case& c = GetParam();
  if (c.nvcc && !find_nvcc()) GTEST_SKIP() << "nvcc is not installed";
  auto folder = TemporaryDirectory::create();
  ASSERT_TRUE(folder.has_value());
  const std::string binary = folder->path() + "/" + c.program;
  const auto built = build(c, binary);
  ASSERT_TRUE(built.has_value()) << render(built.error().front());
  ASSERT_TRUE(built->ok) << built->messages;
  const std::string libraries = std::filesystem::path(WARPLENS_RUNTIME_LIBRARY).parent_path();
  setenv("LD_LIBRARY_PATH", libraries.c_str(), 1);
  std::string output;
  for (const auto& argument : c.arguments.empty() ? std::vector<std::string>{""} : c.arguments) {
    std::vector<std::string> command = {binary};
#ifdef WARPLENS_SANITIZER_RUNTIME  // the program is not instrumented, but the library it loads is
    command = {"env", "LD_PRELOAD=" WARPLENS_SANITIZER_RUNTIME, "ASAN_OPTIONS=detect_leaks=0", binary};
#endif
    if (!argument.empty()) {
      command.push_back(argument);
      output += "== " + argument + "\n";
    }
    const auto run = run_process(command);
    ASSERT_TRUE(run.has_value());
    EXPECT_EQ(run->exit_code, 0) << run->errors;
    output += run->output;
  }
  const auto expected = read_file(kHere + "/" + c.program + ".expected");
  ASSERT_TRUE(expected.has_value());
  EXPECT_EQ(difference(output, *expected), "");
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool nvcc : {false, true}) {
    for (const char* name :
         {"memory", "launch", "stream", "symbol", "device", "occupancy", "cooperative", "maths", "ordered_atomics"})
      all.push_back({name, nvcc});
    all.push_back({"fault", nvcc, {"null", "far", "misaligned", "trap", "assert", "shared"}});
  }
  // nvcc's own headers keep the state of tiles of several warps where PTX has a reserved part of shared memory.
  all.push_back({"groups", false});
  all.push_back({"barriers", false});
  all.push_back({"managed", true});  // clang has no such variables
  return all;
}

INSTANTIATE_TEST_SUITE_P(OnTheRuntime, Program, testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.program + (info.param.nvcc ? "_nvcc" : "_clang"); });

}  // namespace
}  // namespace warplens
