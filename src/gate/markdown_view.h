// SPDX-License-Identifier: Apache-2.0
// GitHub-flavoured Markdown for a comment on a pull request or a job's summary: the verdict first, then broken limits,
// issues, and the kernels' numbers.
#pragma once
#include <string>

#include "gate/verdict.h"

namespace warplens::gate {

std::string markdown_report(const Verdict& verdict);

}  // namespace warplens::gate
