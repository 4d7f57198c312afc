// SPDX-License-Identifier: Apache-2.0
// Compiles small programs with the real clang and looks at what comes out.
#include "compile/clang_driver.h"

#include <gtest/gtest.h>

#include "compile/elf_file.h"
#include "compile/process.h"

namespace warplens {
namespace {

constexpr const char* kHeaders = WARPLENS_TEST_DATA "/../../include/cuda";
const std::string kProgram = R"(
__global__ void scale(float* p, float f) { p[threadIdx.x] *= f; }
int main() { float* p; cudaMalloc(&p, 128); scale<<<1, 32>>>(p, 2.0f); return cudaDeviceSynchronize(); }
)";

class ClangDriver : public testing::Test {
 protected:
  void SetUp() override {
    if (find_on_path("clang++-19").empty()) GTEST_SKIP() << "clang++-19 is not installed";
    auto directory = TemporaryDirectory::create();
    ASSERT_TRUE(directory);
    directory_ = std::make_unique<TemporaryDirectory>(std::move(*directory));
  }
  std::string path(const std::string& name) const { return directory_->path() + "/" + name; }
  CompileRequest request(const std::string& source, const std::string& text) const {
    EXPECT_TRUE(write_file(path(source), text));
    CompileRequest r;
    r.options.sources = {path(source)};
    r.options.output = path("out.o");
    r.options.stage = Stage::kObject;
    r.toolchain.cuda_headers = kHeaders;
    return r;
  }
  std::unique_ptr<TemporaryDirectory> directory_;
};

TEST_F(ClangDriver, object_carries_the_device_half_as_ptx) {
  const CompileRequest r = request("a.cu", kProgram);
  const auto outcome = compile_with_clang(r);
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->ok) << outcome->messages;
  EXPECT_EQ(outcome->messages, "");
  const auto object = read_file(r.options.output);
  ASSERT_TRUE(object);
  const auto elf = ElfFile::parse(std::as_bytes(std::span(*object)));
  ASSERT_TRUE(elf);
  const auto binary = read_fat_binary(elf->section(".nv_fatbin"));
  ASSERT_TRUE(binary);
  ASSERT_EQ(binary->ptx.size(), 1u);
  EXPECT_EQ(binary->ptx[0].text, outcome->device[0].text);
  EXPECT_EQ(binary->ptx[0].name, path("a.cu"));
  EXPECT_NE(binary->ptx[0].text.find(".entry _Z5scalePff"), std::string::npos);
  EXPECT_NE(binary->ptx[0].text.find(".loc\t1 2 "), std::string::npos);
}

TEST_F(ClangDriver, error_of_the_program_passes_through) {
  const auto outcome = compile_with_clang(request("bad.cu", "__global__ void k(int* p) { *p = nothing; }\n"));
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->ok);
  EXPECT_NE(outcome->messages.find("bad.cu:1:34: error: use of undeclared identifier 'nothing'"), std::string::npos)
      << outcome->messages;
  EXPECT_EQ(outcome->messages.find("nothing", outcome->messages.find("'nothing'") + 200), std::string::npos);
}

TEST_F(ClangDriver, error_of_the_host_half_alone_is_reported) {
  const auto outcome = compile_with_clang(request("bad.cu", "#ifndef __CUDA_ARCH__\n#error host only\n#endif\n"));
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->ok);
  EXPECT_NE(outcome->messages.find("host only"), std::string::npos) << outcome->messages;
}

TEST_F(ClangDriver, given_ptx_takes_the_place_of_the_device_half) {
  CompileRequest r = request("a.cu", kProgram);
  const std::string ptx = ".version 8.0\n.target sm_90\n.address_size 64\n// another\n";
  ASSERT_TRUE(write_file(path("given.ptx"), ptx));
  r.device_ptx = {path("given.ptx")};
  const auto outcome = compile_with_clang(r);
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->ok) << outcome->messages;
  EXPECT_EQ(outcome->device[0].text, ptx);
}

TEST_F(ClangDriver, ptx_larger_than_a_pipe_arrives_whole) {
  CompileRequest r = request("a.cu", kProgram);
  const std::string ptx = ".version 8.0\n" + std::string(3'000'000, '/') + "\n";
  ASSERT_TRUE(write_file(path("given.ptx"), ptx));
  r.device_ptx = {path("given.ptx")};
  const auto outcome = compile_with_clang(r);
  ASSERT_TRUE(outcome && outcome->ok);
  const auto object = read_file(r.options.output);
  const auto elf = ElfFile::parse(std::as_bytes(std::span(*object)));
  const auto binary = read_fat_binary(elf->section(".nv_fatbin"));
  ASSERT_TRUE(binary);
  EXPECT_EQ(binary->ptx[0].text, ptx);
}

TEST_F(ClangDriver, missing_pieces_are_named_together) {
  CompileRequest r;
  r.options.sources = {"/nowhere/a.cu"};
  r.toolchain.clang = "no-such-clang";
  r.toolchain.cuda_headers = "/nowhere";
  const auto outcome = compile_with_clang(r);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().size(), 3u);
}

}  // namespace
}  // namespace warplens
