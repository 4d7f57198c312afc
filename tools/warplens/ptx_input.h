// SPDX-License-Identifier: Apache-2.0
// `warplens run k.ptx`: checks a PTX file and says which kernels it has. Launching one without a program comes later.
#pragma once
#include <string>

namespace warplens::cli {

/// The text to show: every error and every kernel that cannot run here, with line and column, then the kernels.
std::string check_ptx(const std::string& path);

}  // namespace warplens::cli
