// SPDX-License-Identifier: Apache-2.0
// `warplens diff BEFORE.json AFTER.json`: what got better or worse between two reports.
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

int diff_command(const std::vector<std::string>& arguments);
std::string diff_help();

}  // namespace warplens::cli
