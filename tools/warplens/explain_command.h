// SPDX-License-Identifier: Apache-2.0
// `warplens explain [RULE]`: the rules, or the page of one.
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

int explain_command(const std::vector<std::string>& arguments);
std::string explain_help();

}  // namespace warplens::cli
