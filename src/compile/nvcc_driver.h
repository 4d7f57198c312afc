// SPDX-License-Identifier: Apache-2.0
// --compiler nvcc: builds with the user's own toolkit, so that the PTX is what nvcc makes. The program is linked to
// the shared runtime, which ours replaces when it is run; PTX is kept in it and no machine code is made.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "compile/clang_driver.h"

namespace warplens {

/// nvcc from $CUDA_HOME, $CUDA_PATH, PATH or /usr/local/cuda, in this order; an error that says where was looked.
Result<std::string> find_nvcc();

/// As compile_with_clang; the toolchain's clang and headers are not used.
Result<CompileOutcome> compile_with_nvcc(const CompileRequest& request, const std::string& nvcc);

std::vector<std::string> nvcc_command(const CompileRequest& request, const std::string& nvcc);

}  // namespace warplens
