// SPDX-License-Identifier: Apache-2.0
// What the limits came to, for the report's JSON: the array `limits` of docs/report-schema.md.
#pragma once
#include <string>

#include "gate/limits.h"

namespace warplens::gate {

/// JSON text; "[]" when no limit met a kernel.
std::string limits_json(const report::RunRecord& run, const LimitsReport& report);

}  // namespace warplens::gate
