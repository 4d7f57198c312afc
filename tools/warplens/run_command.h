// SPDX-License-Identifier: Apache-2.0
// `warplens run`: X becomes a program (compiled when it is source), the program runs as a child with our CUDA runtime
// in place of NVIDIA's, and what the runtime recorded becomes the report:
//
//   options -> identify X -> compile -> run the child -> read its record -> text on stderr, JSON to a file
//
// When X is PTX there is no program: bare_command.h.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "report/run_record.h"
#include "warplens/run_options.h"

namespace warplens::cli {

/// The whole command; gives the exit code.
int run_command(const std::vector<std::string>& arguments);

/// What running came to: the record, or an exit code with nothing to report (its message is printed).
struct RunOutcome {
  int exit_code = 0;
  bool ran = false;
  report::RunRecord record;
};
/// Compiles when needed, runs, reads the record. Needs a SignalGuard.
RunOutcome run_program(const RunOptions& options);

/// Prints diagnostics to standard error.
void print(const Diagnostics& diagnostics);

}  // namespace warplens::cli
