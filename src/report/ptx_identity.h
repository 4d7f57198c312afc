// SPDX-License-Identifier: Apache-2.0
// Which compiler made a kernel's PTX, and whether two runs had the same instructions. Reports carry both, so that
// comparing two of them can tell a change of the compiler from a change of the source.
#pragma once
#include <string>
#include <string_view>

#include "events/events.h"

namespace warplens::report {

struct PtxIdentity {
  std::string hash;      ///< 16 hexadecimal digits; of the kernel's instructions, without places, comments and blanks
  std::string compiler;  ///< "Debian clang version 19.1.7 (3)", "nvcc V13.0.88"; empty: the PTX does not say
};

/// `ptx`: the text of the kernel's module.
PtxIdentity ptx_identity(const events::KernelInfo& info, std::string_view ptx);

}  // namespace warplens::report
