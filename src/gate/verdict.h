// SPDX-License-Identifier: Apache-2.0
// What a run came to, for the formats of other tools; each has one file of its own, written from this alone:
//
//   sarif_view.h       SARIF 2.1.0, for code scanning
//   junit_view.h       JUnit's XML, for CI services' test pages
//   markdown_view.h    a comment on a pull request
//   annotation_view.h  GitHub's workflow commands
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "gate/difference.h"
#include "gate/issue.h"
#include "gate/limits.h"
#include "report/run_record.h"

namespace warplens::gate {

struct Verdict {
  const report::RunRecord* run = nullptr;
  LimitsReport limits;
  std::optional<Difference> baseline;  ///< when there is one to compare with
  std::vector<Issue> issues;           ///< collect_issues()
  std::string source_root;             ///< of --source-root: paths below it are relative to it; empty: none
  Diagnostics faults;                  ///< what kept the gate from judging: limits, allowances, the baseline
};

/// How the run ended when it did not end well ("the time limit ended the program; ..."); empty: it did.
std::string end_sentence(const report::RunRecord& run);

}  // namespace warplens::gate
