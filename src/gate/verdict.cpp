// SPDX-License-Identifier: Apache-2.0
#include "gate/verdict.h"

#include <fmt/format.h>
#include <string.h>

namespace warplens::gate {

std::string end_sentence(const report::RunRecord& run) {
  if (run.end.timed_out) return "the time limit ended the program; what was counted until then is reported";
  if (run.end.interrupted) return "the program was interrupted; what was counted until then is reported";
  if (run.end.signal != 0)
    return fmt::format("the program was ended by signal {} ({})", run.end.signal, strsignal(run.end.signal));
  if (run.damaged_lines != 0) return "a part of the record could not be read; numbers may be missing";
  if (run.end.exit_code != 0) return fmt::format("the program ended with exit code {}", run.end.exit_code);
  return {};
}

}  // namespace warplens::gate
