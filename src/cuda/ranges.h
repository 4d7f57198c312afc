// SPDX-License-Identifier: Apache-2.0
// NVTX ranges, as far as they select launches (--nvtx). Programs that are compiled with our nvtx3/nvToolsExt.h report
// them here, by functions that their header finds when this library is there; ranges of NVIDIA's own header go to a
// profiler that it loads, and are not seen.
#pragma once
#include <string>
#include <vector>

namespace warplens::cuda {

/// Names of the ranges that this thread has pushed and of those that any thread has started.
std::vector<std::string> open_ranges();

}  // namespace warplens::cuda
