// SPDX-License-Identifier: Apache-2.0
#include "compile/options.h"

#include <gtest/gtest.h>

#include "compile/clang_driver.h"
#include "compile/nvcc_driver.h"

namespace warplens {
namespace {

using Strings = std::vector<std::string>;

bool contains(const Strings& list, const Strings& run) {
  return std::search(list.begin(), list.end(), run.begin(), run.end()) != list.end();
}

TEST(Options, sorts_an_nvcc_command_line) {
  auto o = parse_compile_options({"-O2",
                                  "-std=c++17",
                                  "-Iinc",
                                  "-I",
                                  "inc2",
                                  "-DN=4",
                                  "-Uold",
                                  "a.cu",
                                  "b.cpp",
                                  "-lm",
                                  "-L/lib",
                                  "-maxrregcount=32",
                                  "-g",
                                  "-lineinfo",
                                  "-arch=sm_80",
                                  "-Xcompiler",
                                  "-Wall,-fopenmp",
                                  "-Xc",
                                  "-weird",
                                  "-o",
                                  "out",
                                  "--use_fast_math",
                                  "-Xptxas=-v"});
  ASSERT_TRUE(o);
  EXPECT_EQ(o->sources, (Strings{"a.cu", "b.cpp"}));
  EXPECT_EQ(o->preprocessor, (Strings{"-I", "inc", "-I", "inc2", "-D", "N=4", "-U", "old"}));
  EXPECT_EQ(o->linker, (Strings{"-lm", "-L/lib"}));
  EXPECT_EQ(o->host_only, (Strings{"-Wall", "-fopenmp"}));
  EXPECT_EQ(o->both, Strings{"-weird"});
  EXPECT_EQ(o->language_standard, "c++17");
  EXPECT_EQ(o->optimization, "-O2");
  EXPECT_EQ(o->output, "out");
  EXPECT_EQ(o->max_registers, 32);
  EXPECT_EQ(o->target, 80);
  EXPECT_TRUE(o->debug);
  EXPECT_TRUE(o->fast_math);
}

TEST(Options, targets_in_every_spelling) {
  const auto target = [](Strings a) { return parse_compile_options(a)->target; };
  EXPECT_EQ(target({"-gencode", "arch=compute_75,code=sm_75"}), 75);
  EXPECT_EQ(target({"-gencode=arch=compute_86,code=compute_86"}), 86);
  EXPECT_EQ(target({"--gpu-architecture", "compute_89"}), 89);
  EXPECT_EQ(target({"-arch=sm_90a"}), 90);
  EXPECT_EQ(target({"-arch=sm_120"}), 90);
  EXPECT_EQ(target({"-arch=sm_35"}), 70);
  EXPECT_EQ(target({"-arch=native"}), 90);
}

TEST(Options, reports_every_fault_at_once) {
  auto o = parse_compile_options({"-bogus", "a.cu", "-maxrregcount", "300", "-rdc=true", "-arch=fast", "-I"});
  ASSERT_FALSE(o);
  EXPECT_EQ(o.error().size(), 5u);
}

TEST(Options, says_which_options_take_a_value) {
  for (const char* a : {"-I", "-D", "-o", "-l", "-std", "-maxrregcount", "-Xc", "-arch"})
    EXPECT_TRUE(option_takes_value(a)) << a;
  for (const char* a : {"-Iinc", "-std=c++17", "-g", "-O3", "-maxrregcount=3", "a.cu"})
    EXPECT_FALSE(option_takes_value(a)) << a;
}

TEST(Options, source_paths) {
  for (const char* p : {"a.cu", "x/y.cpp", "a.cc", "a.cxx", "a.c"}) EXPECT_TRUE(is_source_path(p)) << p;
  for (const char* p : {"a.o", "a", "a.ptx", "cu"}) EXPECT_FALSE(is_source_path(p)) << p;
}

TEST(Drivers, clang_commands_carry_the_options) {
  CompileRequest r;
  r.options = *parse_compile_options({"a.cu", "-DN=4", "-std=c++14", "-Xcompiler", "-fopenmp", "-O1"});
  r.toolchain.cuda_headers = "/headers";
  const Strings device = clang_device_command(r, "a.cu", "a.ptx"), host = clang_host_command(r, "a.cu", "a.bin", "a.o");
  for (const Strings& c : {device, host}) {
    EXPECT_TRUE(contains(c, {"-D", "N=4"}));
    EXPECT_TRUE(contains(c, {"-std=c++14"}));
    EXPECT_TRUE(contains(c, {"-nocudainc"}));
    EXPECT_TRUE(contains(c, {"-include", "/headers/cuda_runtime.h"}));
  }
  EXPECT_TRUE(contains(device, {"-O3"}));
  EXPECT_TRUE(contains(clang_ptx_command(r, "a.ll", "a.ptx"), {"-x", "ir", "a.ll", "-o", "a.ptx"}));
  EXPECT_FALSE(contains(device, {"-fopenmp"}));
  EXPECT_TRUE(contains(host, {"-fopenmp"}));
  EXPECT_TRUE(contains(host, {"-O1"}));
  EXPECT_TRUE(contains(host, {"-fcuda-include-gpubinary", "-Xclang", "a.bin"}));
}

TEST(Drivers, nvcc_keeps_ptx_and_the_shared_runtime) {
  CompileRequest r;
  r.options = *parse_compile_options({"a.cu", "-o", "a", "-maxrregcount", "40", "-lm"});
  const Strings c = nvcc_command(r, "/opt/nvcc");
  EXPECT_EQ(c[0], "/opt/nvcc");
  EXPECT_TRUE(contains(c, {"-cudart", "shared"}));
  EXPECT_TRUE(contains(c, {"-gencode", "arch=compute_90,code=compute_90"}));
  EXPECT_TRUE(contains(c, {"-maxrregcount=40"}));
  EXPECT_TRUE(contains(c, {"-lineinfo"}));
  EXPECT_TRUE(contains(c, {"-o", "a"}));
}

TEST(Drivers, register_limit_spares_entries_that_set_their_own) {
  const std::string ptx =
      ".visible .entry a(\n)\n{\nret;\n}\n.visible .entry b(\n)\n.maxntid 256\n.minnctapersm 2\n{\nret;\n}\n"
      ".func f()\n{\nret;\n}\n";
  EXPECT_EQ(limit_registers(ptx, 0), ptx);
  EXPECT_EQ(limit_registers(ptx, 32),
            ".visible .entry a(\n)\n.maxnreg 32\n{\nret;\n}\n.visible .entry b(\n)\n.maxntid 256\n.minnctapersm "
            "2\n{\nret;\n}\n.func f()\n{\nret;\n}\n");
}

}  // namespace
}  // namespace warplens
