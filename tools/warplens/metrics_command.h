// SPDX-License-Identifier: Apache-2.0
// `warplens metrics [NAME...]`: what is counted under the names of profilers, and whether it is exact.
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

/// `arguments`: what follows "metrics". Returns the exit code.
int metrics_command(const std::vector<std::string>& arguments);
std::string metrics_help();

}  // namespace warplens::cli
