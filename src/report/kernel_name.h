// SPDX-License-Identifier: Apache-2.0
// Kernel names as people write them: demangled, and shortened to what tells kernels apart.
#pragma once
#include <string>

#include "events/events.h"

namespace warplens::report {

/// "_Z12matmul_naiveifPKfS0_fPf" -> "matmul_naive(int, float, float const*, ...)"; the name itself when it is not
/// mangled.
std::string demangled(const std::string& name);
/// The same without return type, parameter list and anonymous namespaces: "matmul_naive", "scan<float, 128>".
std::string short_name(const std::string& name);
/// How the source calls the kernel parameter `parameter` (its PTX name, "<kernel>_param_<n>"): the name read from the
/// kernel's signature in its source file when that can be found, else "argument <n>" (from 1).
std::string parameter_name(const events::KernelInfo& kernel, const std::string& parameter);

}  // namespace warplens::report
