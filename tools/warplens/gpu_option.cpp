// SPDX-License-Identifier: Apache-2.0
#include "warplens/gpu_option.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "gpu/catalogue.h"

namespace warplens::cli {
namespace {

Status chosen(GpuChoice& to, const std::string& wanted) {
  const auto gpu = gpu::find_gpu(wanted);
  if (!gpu) return gpu.error();
  to.wanted = wanted;
  // Above 90 clang 19 has no target, and a newer GPU runs older PTX.
  to.target = std::min(gpu->compute_capability[0] * 10 + gpu->compute_capability[1], 90);
  if (to.target < 70)
    return make_error(gpu->name + " has a compute capability below 7.0", "warplens gpus lists the GPUs that are known");
  return Done{};
}

}  // namespace

Status choose_gpu(GpuChoice& to, const std::string& text) {
  if (text.empty()) return make_error("--gpu needs a name", "warplens gpus lists them");
  if (text.find('/') != std::string::npos || text.ends_with(".toml")) return choose_gpu_file(to, text);
  return chosen(to, text);
}

Status choose_gpu_file(GpuChoice& to, const std::string& text) {
  if (text.empty()) return make_error("--gpu-file needs a file name");
  // Absolute: it must hold when the program changes its directory.
  return chosen(to, std::filesystem::absolute(text).string());
}

bool names_architecture(const std::vector<std::string>& compile_words) {
  constexpr std::string_view kOptions[] = {"-arch",           "--arch",   "--gpu-architecture",
                                           "--cuda-gpu-arch", "-gencode", "--generate-code"};
  return std::ranges::any_of(compile_words, [&](const std::string& word) {
    return std::ranges::any_of(kOptions, [&](std::string_view option) { return word.starts_with(option); });
  });
}

}  // namespace warplens::cli
