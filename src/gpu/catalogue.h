// SPDX-License-Identifier: Apache-2.0
// The GPUs that come with Warplens: the files of gpus/, by the name under which a user asks for them ("h200"), and the
// one place where what a user typed (--gpu, the C interface, Python) becomes a Gpu.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "gpu/gpu.h"

namespace warplens::gpu {

struct KnownGpu {
  std::string id;  ///< "h200": its file's name
  const Gpu* gpu = nullptr;
};

/// All of them, by compute capability, then by name. Parsed at the first call.
const std::vector<KnownGpu>& known_gpus();
/// The id of the default.
std::string_view default_gpu_id();

/// What a user typed: "" is the default; an id, or a GPU's full name or its end ("NVIDIA H200", "RTX 4090"), in any
/// case and with or without blanks; else, when it has a "/" or ends in ".toml", the path of a GPU file. An unknown name
/// is told which there are.
Result<Gpu> find_gpu(const std::string& wanted);

}  // namespace warplens::gpu
