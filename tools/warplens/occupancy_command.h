// SPDX-License-Identifier: Apache-2.0
// `warplens occupancy`: how many blocks an SM holds, for numbers or for the kernels of a file, what limits it, and what
// other block sizes, registers or shared memory would give.
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

/// `arguments`: what follows "occupancy". Returns the exit code.
int occupancy_command(const std::vector<std::string>& arguments);
std::string occupancy_help();

}  // namespace warplens::cli
