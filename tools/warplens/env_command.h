// SPDX-License-Identifier: Apache-2.0
// `warplens env`: the variables with which programs find our runtime when something else starts them (mpirun, ctest, a
// debugger), and build files our compiler.
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

int env_command(const std::vector<std::string>& arguments);
std::string env_help();

}  // namespace warplens::cli
