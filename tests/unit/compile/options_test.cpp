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
  auto o = parse_compile_options({"-bogus", "a.cu", "-maxrregcount", "300", "-rdc=maybe", "-arch=fast", "-I"});
  ASSERT_FALSE(o);
  EXPECT_EQ(o.error().size(), 5u);
}

TEST(Options, stages_and_separate_compilation) {
  const auto parse = [](Strings a) { return *parse_compile_options(a); };
  EXPECT_EQ(parse({"a.cu"}).stage, Stage::kLink);
  EXPECT_EQ(parse({"-c", "a.cu"}).stage, Stage::kObject);
  EXPECT_FALSE(parse({"-c", "a.cu"}).relocatable);
  EXPECT_EQ(parse({"-dc", "a.cu"}).stage, Stage::kObject);
  EXPECT_TRUE(parse({"-dc", "a.cu"}).relocatable);
  EXPECT_TRUE(parse({"-rdc=true", "-c", "a.cu"}).relocatable);
  EXPECT_FALSE(parse({"-rdc", "false", "-c", "a.cu"}).relocatable);
  EXPECT_EQ(parse({"-shared", "-dlink", "a.o"}).stage, Stage::kDeviceLink);
  EXPECT_EQ(parse({"-M", "a.cu"}).dependencies, Strings{"-M"});
  EXPECT_EQ(parse({"-c", "-MD", "-MF", "a.d", "-MT=x", "a.cu"}).dependencies,
            (Strings{"-MD", "-MF", "a.d", "-MT", "x"}));
}

TEST(Options, inputs_and_linker_options_keep_their_order) {
  const auto o = *parse_compile_options({"-Wl,--whole-archive", "liba.a", "-Wl,--no-whole-archive", "x.o", "-lm",
                                         "-Xlinker", "-z,now", "-lcudart", "/t/libcudart_static.a", "-lcudadevrt"});
  EXPECT_EQ(o.link_line, (Strings{"-Wl,--whole-archive", "liba.a", "-Wl,--no-whole-archive", "x.o", "-lm", "-Xlinker",
                                  "-z", "-Xlinker", "now"}));
}

TEST(Options, precision_of_device_arithmetic) {
  const auto o = *parse_compile_options({"-ftz=true", "-prec-div=false", "-prec-sqrt", "true", "a.cu"});
  EXPECT_TRUE(o.flush_denormals);
  EXPECT_TRUE(o.approximate_division);
  EXPECT_FALSE(o.approximate_root);
  EXPECT_FALSE(o.fast_math);
  EXPECT_FALSE(parse_compile_options({"-ftz=perhaps"}));
}

TEST(Options, any_name_can_be_declared_cuda) {
  const auto o = *parse_compile_options({"a.cpp", "-x", "cu", "b.cpp", "c.txt"});
  EXPECT_FALSE(is_cuda_input(o, "a.cpp"));
  EXPECT_TRUE(is_cuda_input(o, "b.cpp"));
  EXPECT_TRUE(is_source_input(o, "c.txt"));
}

TEST(Options, unknown_ones_are_named_skipped_or_forwarded) {
  const auto refused = parse_compile_options({"--use_fast_mth", "a.cu"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error()[0].message.find("--use_fast_mth"), std::string::npos);
  EXPECT_NE(refused.error()[0].hint.find("did you mean --use_fast_math?"), std::string::npos);
  EXPECT_TRUE(parse_compile_options({"--use_fast_mth", "a.cu"}, UnknownOptions::kSkip));
  const auto forwarded = parse_compile_options({"-forward-unknown-to-host-compiler", "-strange", "a.cu"});
  ASSERT_TRUE(forwarded);
  EXPECT_EQ(forwarded->host_only, Strings{"-strange"});
}

TEST(Options, what_only_nvidias_tools_need_is_dropped) {
  const auto o = parse_compile_options({"-ccbin",
                                        "g++",
                                        "-ccbin=g++",
                                        "-Xptxas=-v",
                                        "-Xptxas",
                                        "-O3",
                                        "-Xcudafe",
                                        "--diag_suppress=1",
                                        "-code=sm_80",
                                        "--threads",
                                        "0",
                                        "-t=4",
                                        "--keep-dir",
                                        "x",
                                        "-lineinfo",
                                        "--expt-relaxed-constexpr",
                                        "-Werror",
                                        "all-warnings",
                                        "-m64",
                                        "-cudart=static",
                                        "-Xfatbin=-compress-all",
                                        "-res-usage",
                                        "a.cu"});
  ASSERT_TRUE(o) << o.error()[0].message;
  EXPECT_EQ(o->sources, Strings{"a.cu"});
  EXPECT_TRUE(o->host_only.empty() && o->both.empty() && o->linker.empty());
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
  EXPECT_TRUE(contains(clang_optimise_command(r, "a.ll", "b.ll"), {"-O3"}));
  EXPECT_TRUE(contains(clang_optimise_command(r, "a.ll", "b.ll"), {"-x", "ir", "a.ll", "-o", "b.ll"}));
  EXPECT_TRUE(contains(clang_ptx_command(r, "a.ll", "a.ptx"), {"-x", "ir", "a.ll", "-o", "a.ptx"}));
  EXPECT_FALSE(contains(device, {"-fopenmp"}));
  EXPECT_TRUE(contains(host, {"-fopenmp"}));
  EXPECT_TRUE(contains(host, {"-O1"}));
  EXPECT_TRUE(contains(host, {"-fwrapv"}));  // sums wrap, as in the unoptimised host half that nvcc makes
  EXPECT_FALSE(contains(device, {"-fwrapv"}));
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
