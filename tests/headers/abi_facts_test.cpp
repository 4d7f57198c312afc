// SPDX-License-Identifier: Apache-2.0
// Our headers describe the same binary interface as a toolkit's: the program abi_facts.inc prints the same facts with
// both. Without a toolkit there is nothing to compare with, and the test says so.
#include <gtest/gtest.h>

#include <sstream>

#include "compile/process.h"

namespace warplens {
namespace {

std::string facts(const std::string& headers) {
  auto directory = TemporaryDirectory::create();
  EXPECT_TRUE(directory);
  const std::string program = directory->path() + "/facts";
  auto made =
      run_process({"c++", "-w", "-x", "c++", "-I" + headers, WARPLENS_HEADER_TESTS "/abi_facts.inc", "-o", program});
  EXPECT_TRUE(made && made->ok()) << (made ? made->errors : "");
  auto run = run_process({program});
  EXPECT_TRUE(run && run->ok());
  return run ? run->output : "";
}

TEST(AbiFacts, are_those_of_the_toolkit) {
  std::string toolkit;
  for (const char* path : {"/usr/local/cuda/include", "/usr/local/cuda-13.0/include", "/opt/cuda/include"})
    if (toolkit.empty() && read_file(std::string(path) + "/cuda_runtime_api.h")) toolkit = path;
  if (toolkit.empty()) GTEST_SKIP() << "no CUDA toolkit is installed to compare with";
  if (read_file(toolkit + "/cuda_runtime_api.h")->find("#define CUDART_VERSION  13") == std::string::npos)
    GTEST_SKIP() << "the toolkit in " << toolkit << " is not CUDA 13";
  const std::string ours = facts(WARPLENS_CUDA_HEADERS), theirs = facts(toolkit);
  EXPECT_GT(ours.size(), 10000u);
  // Compared line by line: only what differs is worth printing.
  std::istringstream a(ours), b(theirs);
  for (std::string x, y; std::getline(a, x) && std::getline(b, y);) EXPECT_EQ(x, y);
  EXPECT_EQ(ours.size(), theirs.size());
}

}  // namespace
}  // namespace warplens
