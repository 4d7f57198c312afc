// SPDX-License-Identifier: Apache-2.0
// View 4: the report for programs. Described in docs/report-schema.md and docs/report-schema.json; a change that could
// break a reader raises kSchemaVersion.
#pragma once
#include <string>
#include <vector>

#include "report/fold.h"

namespace warplens::report {

constexpr int kSchemaVersion = 1;

/// What a report has besides the run.
struct JsonMore {
  std::string source_root;          ///< files below this absolute path are named relative to it; empty: as compiled
  std::string limits;               ///< JSON text: what limits came to (gate/limits_json.h); empty: there are none
  std::vector<std::string> faults;  ///< what could not be judged
};

/// One JSON object, indented, ending with a newline.
std::string json_text(const RunRecord& run, Folding folding, const JsonMore& more = {});

}  // namespace warplens::report
