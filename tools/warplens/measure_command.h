// SPDX-License-Identifier: Apache-2.0
// `warplens measure`: on a machine with a GPU, times and counts the gallery there. All of it is done by
// scripts/measure_gpu, which needs Python and a CUDA toolkit only, so that machines on which this executable does not
// start can measure too; the command finds it, starts it and gives its exit code.
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

int measure_command(const std::vector<std::string>& arguments);
std::string measure_help();

}  // namespace warplens::cli
