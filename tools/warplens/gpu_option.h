// SPDX-License-Identifier: Apache-2.0
// --gpu NAME and --gpu-file FILE, for the commands that take them: checked when they are read, so that nothing is
// compiled or started for a GPU that does not exist or whose file is damaged.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/gpu.h"

namespace warplens::cli {

struct GpuChoice {
  std::string wanted;  ///< as gpu::find_gpu takes it, paths absolute; "": the default
  int target = 0;      ///< 80 for compute capability 8.0, within what clang compiles for; 0: the default GPU
};

/// A name, or (with a "/" or ".toml" in it) a file.
Status choose_gpu(GpuChoice& to, const std::string& text);
Status choose_gpu_file(GpuChoice& to, const std::string& text);
/// The compiler options name an architecture, which then stands.
bool names_architecture(const std::vector<std::string>& compile_words);

}  // namespace warplens::cli
