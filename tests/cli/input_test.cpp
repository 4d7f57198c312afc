// SPDX-License-Identifier: Apache-2.0
// Inputs that cannot be run: each gets one clear message and code 2, and nothing is started.
#include <unistd.h>

#include <algorithm>

#include "compile/fatbin.h"
#include "tool_runner.h"

namespace warplens::cli_tests {
namespace {

constexpr const char* kPtx =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry _Z4zeroPf(.param .u64 p) {\n  .reg .b64 %rd<3>;\n  .reg .f32 %f<2>;\n"
    "  ld.param.u64 %rd1, [p];\n  mov.f32 %f1, 0f00000000;\n  st.global.f32 [%rd1], %f1;\n  ret;\n}\n";

class InputTest : public ToolTest {
 protected:
  /// A program with `image` as its device code that does not need the shared runtime.
  std::string program(const std::string& image) const {
    std::string source =
        "int main(void) { return 0; }\n__attribute__((section(\".nv_fatbin\"))) const unsigned char image[] = {";
    for (const unsigned char c : image) source += std::to_string(c) + ",";
    const auto made = run_process({"cc", "-o", path("program"), file("p.c", source + "};\n")});
    EXPECT_TRUE(made && made->ok());
    return path("program");
  }
};

TEST_F(InputTest, missing_file) { expect_refused(tool({"run", path("none.cu")}), "there is no file"); }

TEST_F(InputTest, missing_second_source_is_an_argument_not_a_source) {
  expect_refused(tool({"run", path("none.cu"), path("also_none.cu")}), "none.cu'");
}

TEST_F(InputTest, directory) { expect_refused(tool({"run", path("")}), "is a directory"); }

TEST_F(InputTest, empty_file) { expect_refused(tool({"run", file("a.cu", "")}), "is empty"); }

TEST_F(InputTest, text_that_is_not_cuda) {
  expect_refused(tool({"run", file("notes.txt", "hello\n")}), "neither CUDA source, nor a program, nor PTX");
}

TEST_F(InputTest, unreadable_file) {
  const std::string name = file("a.cu", "x");
  std::filesystem::permissions(name, std::filesystem::perms::none);
  if (::access(name.c_str(), R_OK) == 0) GTEST_SKIP() << "this user may read everything";
  expect_refused(tool({"run", name}), "a.cu");
}

TEST_F(InputTest, static_runtime_says_how_to_rebuild) {
  const auto r = tool({"run", program(make_container(kPtx, "a.cu"))});
  expect_refused(r, "statically");
  expect_refused(r, "-cudart shared");
}

TEST_F(InputTest, compiler_options_without_a_source) {
  expect_refused(tool({"run", "-O2", WARPLENS_CLI_PROGRAM}), "-O2 is a compiler option");
}

TEST_F(InputTest, unknown_compiler_option) { expect_refused(tool({"run", "-zzz", file("a.cu", "x")}), "-Xc -zzz"); }

TEST_F(InputTest, ptx_alone_says_what_a_launch_needs) {
  const auto r = tool({"run", file("k.ptx", kPtx)});
  expect_refused(r, "k.ptx:4:");
  expect_refused(r, "to launch zero(float*), say --grid and --block");
}

TEST_F(InputTest, ptx_syntax_errors_have_line_column_and_caret) {
  std::string broken = kPtx;
  broken.replace(broken.find("st.global.f32 [%rd1]"), 20, "st.global.f32 [%rd1 ");
  const std::string name = file("broken.ptx", broken);
  const auto r = tool({"run", name});
  expect_refused(r, name + ":9:");
  expect_refused(r, "\n  " + std::string("  st.global.f32 [%rd1 , %f1;"));
  expect_refused(r, "^");
}

TEST_F(InputTest, unknown_opcode_is_named_with_its_place) {
  std::string odd = kPtx;
  odd.replace(odd.find("mov.f32"), 7, "movv.f32");
  const std::string name = file("odd.ptx", odd);
  const auto r = tool({"run", name});
  expect_refused(r, name + ":8:");
  expect_refused(r, "movv");
}

TEST_F(InputTest, compile_errors_are_the_compilers_own) {
  const auto r = tool({"run", file("bad.cu", "__global__ void k() { undeclared = 1; }\nint main() {}\n")});
  expect_refused(r, "bad.cu:1:23: error: use of undeclared identifier 'undeclared'");
}

TEST_F(InputTest, a_source_without_kernels_runs) {
  const std::string a = file("a.cpp",
                             "#include <cstdio>\nint f();\nint main(int argc, char** argv) {\n"
                             "  std::printf(\"%d %d %s\\n\", f(), argc, argv[1]);\n  return VALUE;\n}\n");
  const std::string b = file("b.cpp", "int f() { return 42; }\n");
  const auto r = tool({"run", "-DVALUE=9", a, b, "--", "--json"});
  EXPECT_EQ(r.exit_code, 9) << r.errors;
  EXPECT_EQ(r.output, "42 2 --json\n");
  EXPECT_NE(r.errors.find("launched no kernel"), std::string::npos) << r.errors;
}

}  // namespace
}  // namespace warplens::cli_tests
