// SPDX-License-Identifier: Apache-2.0
// `warplens cache` and `warplens cache clear`: the folder of compiled kernels (docs/jit-cache.md).
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

int cache_command(const std::vector<std::string>& arguments);

}  // namespace warplens::cli
