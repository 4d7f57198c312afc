// SPDX-License-Identifier: Apache-2.0
// What --help says.
#pragma once
#include <string>

namespace warplens::cli {

std::string general_help();
std::string run_help();
std::string cc_help();
std::string demo_help();
std::string cache_help();

}  // namespace warplens::cli
