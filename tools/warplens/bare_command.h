// SPDX-License-Identifier: Apache-2.0
// `warplens run k.ptx`: one kernel without a program, launched in this process with arrays that --arg describes:
//
//   read and load the PTX -> choose the entry -> read and make the arguments -> launch -> report, --out, --expect
#pragma once
#include <string>

#include "warplens/run_options.h"

namespace warplens::cli {

/// The whole run; gives the exit code: 0, 1 when the kernel failed or a result differs from what --expect says, 2 when
/// it could not begin, 3 when something could not be written, 124 and 128 + n as for programs. Needs a SignalGuard.
int run_bare(const RunOptions& options, const std::string& path);

}  // namespace warplens::cli
