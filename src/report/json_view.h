// SPDX-License-Identifier: Apache-2.0
// View 4: the report for programs. Described in docs/report-schema.md and docs/report-schema.json; a change that could
// break a reader raises kSchemaVersion.
#pragma once
#include <string>

#include "report/fold.h"

namespace warplens::report {

constexpr int kSchemaVersion = 1;

/// One JSON object, indented, ending with a newline. Files below `source_root` (an absolute path) are named relative to
/// it; empty: as the compiler named them.
std::string json_text(const RunRecord& run, Folding folding, const std::string& source_root = {});

}  // namespace warplens::report
