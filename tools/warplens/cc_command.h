// SPDX-License-Identifier: Apache-2.0
// `warplens cc`: stands in for nvcc in build files. It takes nvcc's options, compiles with clang for the CPU and our
// headers, and links to our runtime; what comes out runs by itself, and under `warplens run` it is counted.
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

/// The whole command; gives the exit code: 0, 1 when a source has errors, 2 for wrong use.
int cc_command(std::vector<std::string> arguments);

}  // namespace warplens::cli
