// SPDX-License-Identifier: Apache-2.0
// `warplens demo`: runs the two matrix products of examples/, shows their reports, and compares them.
#pragma once
#include <string>
#include <vector>

namespace warplens::cli {

int demo_command(const std::vector<std::string>& arguments);

}  // namespace warplens::cli
