// SPDX-License-Identifier: Apache-2.0
// The end of `warplens run`: the record becomes the report on the terminal and the files that were asked for, limits
// are checked, and all of it decides the exit code.
#pragma once
#include "warplens/run_command.h"
#include "warplens/run_options.h"

namespace warplens::cli {

/// The outcome's exit code when it is not 0; 3 when something could not be written; 1 when a limit is broken; 2 when a
/// limit could not be checked because no kernel is concerned.
int deliver(const RunOptions& options, const RunOutcome& outcome);

}  // namespace warplens::cli
