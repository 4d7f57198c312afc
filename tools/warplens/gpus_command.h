// SPDX-License-Identifier: Apache-2.0
// `warplens gpus`: the GPUs that programs can be run on, with what distinguishes them.
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

/// `arguments`: what follows "gpus". Returns the exit code.
int gpus_command(const std::vector<std::string>& arguments);
std::string gpus_help();

}  // namespace warplens::cli
