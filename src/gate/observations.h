// SPDX-License-Identifier: Apache-2.0
// What a run has to say without any limit: findings, lines that waste, and allowances that allow nothing. With what
// broke a limit or is worse than the baseline this makes the list of issues from which all formats for other tools are
// written.
#pragma once
#include <vector>

#include "gate/allowances.h"
#include "gate/issue.h"
#include "gate/limits.h"
#include "report/run_record.h"

namespace warplens::gate {

/// Errors first, then by place. `limits` and `more` (regressions) are taken over; a line that breaks a limit is not
/// told again as one that wastes.
std::vector<Issue> collect_issues(const report::RunRecord& run, Allowances& allowances, const LimitsReport& limits,
                                  const std::vector<Issue>& more = {});

}  // namespace warplens::gate
