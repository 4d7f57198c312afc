// SPDX-License-Identifier: Apache-2.0
// Every kernel of the committed probe PTX that can be loaded, on small grids and several block shapes, by both
// executors. Pointers get arrays of small integers as floats, integers get sizes that do not fit the grid: edges, early
// exits and partial warps all occur. What a kernel computes does not matter here, only that both executors agree.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "two_executors.h"

namespace warplens::test {
namespace {

constexpr size_t kArrayBytes = size_t{1} << 18;

std::string read_text(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<uint8_t> content(unsigned seed, bool integers) {
  std::vector<uint8_t> out(kArrayBytes);
  for (size_t i = 0; i < out.size() / 4; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const uint32_t small = (seed >> 20) % 61;
    const float value = static_cast<float>(small) * 0.25f - 4.0f;
    if (integers)
      std::memcpy(out.data() + i * 4, &small, 4);
    else
      std::memcpy(out.data() + i * 4, &value, 4);
  }
  return out;
}

Params params_of(TwoExecutors& two, const ptx::Function& function) {
  Params params;
  unsigned arrays = 0;
  for (const ptx::Param& p : function.params) {
    const bool integers =
        function.name.find("Pi") != std::string::npos || function.name.find("hist") != std::string::npos;
    if (p.bytes == 8 && p.type != ptx::Type::kF64)
      params.add(two.array(content(++arrays, integers)));
    else if (p.type == ptx::Type::kF32)
      params.add(1.5f);
    else if (p.bytes == 4)
      params.add(uint32_t{64});
    else
      for (uint64_t i = 0; i < p.bytes; ++i) params.add(static_cast<uint8_t>(i % 32));
  }
  return params;
}

class ProbeKernels : public testing::TestWithParam<const char*> {};

/// `shapes` of the four block shapes a kernel, in turn; WARPLENS_KERNEL runs all for one.
void compare_all(TwoExecutors& two, exec::Executor& jit, size_t shapes) {
  const auto interpreter = exec::make_interpreter();
  const char* only = std::getenv("WARPLENS_KERNEL");
  size_t turn = 0;
  for (const ptx::Function& function : two.launcher().module().module->functions) {
    if (!function.is_entry || (only != nullptr && function.name.find(only) == std::string::npos)) continue;
    if (!exec::load_kernel(two.launcher().module(), function)) continue;  // needs what we lack
    const Params params = params_of(two, function);
    constexpr events::Dim3 kBlocks[] = {{32, 8, 1}, {33, 3, 1}, {16, 16, 1}, {256, 1, 1}};
    for (size_t k = 0; k < (only != nullptr ? 4 : shapes); ++k) {
      const events::Dim3 block = kBlocks[(turn + k * 3) % 4];
      SCOPED_TRACE(function.name + " block " + std::to_string(block.x) + "x" + std::to_string(block.y));
      PtxLauncher::Options options;
      options.grid = {3, 2, 1};
      options.block = block;
      if (k != 1) two.compare(function.name, options, params, *interpreter, jit, false);
      options.grid = {2, 1, 1};
      if (k != 0) two.compare(function.name, options, params, *interpreter, jit, true);
      if (testing::Test::HasFatalFailure()) return;
    }
    ++turn;
  }
}

TEST_P(ProbeKernels, generated_code_equals_the_interpreter) {
  TwoExecutors two(read_text(std::string(WARPLENS_PROBE_PTX) + "/" + GetParam()));
  compare_all(two, *exec::make_jit({}), 2);  // two shapes, so that the whole takes seconds
}

TEST_P(ProbeKernels, code_for_avx2_equals_the_interpreter) {
  TwoExecutors two(read_text(std::string(WARPLENS_PROBE_PTX) + "/" + GetParam()));
  exec::JitOptions how;
  how.avx512 = false;
  compare_all(two, *exec::make_jit(how), 1);
}

/// Code that an earlier process kept: another executor, and all variables at other addresses.
TEST_P(ProbeKernels, code_from_the_cache_equals_the_interpreter) {
  std::string folder = (std::filesystem::temp_directory_path() / "probe-kernels-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  exec::JitOptions options;
  options.cache = std::make_shared<FileCache>(folder + "/cache", uint64_t{1} << 30);
  const std::string text = read_text(std::string(WARPLENS_PROBE_PTX) + "/" + GetParam());
  TwoExecutors cold(text), warm(text);
  compare_all(cold, *exec::make_jit(options), 1);
  const FileCache::Usage stored = options.cache->usage();
  EXPECT_GT(stored.entries, 0u);
  compare_all(warm, *exec::make_jit(options), 1);
  EXPECT_EQ(options.cache->usage().entries, stored.entries) << "nothing was compiled again";
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(All, ProbeKernels, testing::Values("access.ptx", "apps.ptx", "ladder.ptx"),
                         [](const auto& info) { return std::string(info.param, std::strlen(info.param) - 4); });

}  // namespace
}  // namespace warplens::test
