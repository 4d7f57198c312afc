// SPDX-License-Identifier: Apache-2.0
// A comparison shown: on a terminal, and as Markdown. First what is worse, a line each; then a table a kernel.
//
//   app.cu:12:9: error: scale: read in: excessive sectors 0 -> 28,672 [regression]
//   scale, grid [2,1,1], block [128,1,1]
//     global read sectors      1,024     29,696  worse
#pragma once
#include <string>

#include "gate/difference.h"
#include "report/text_style.h"

namespace warplens::gate {

/// `issues`: issues_of() the difference; those that an allowance forgives are notes with its reason.
std::string difference_text(const Difference& difference, const std::vector<Issue>& issues,
                            const report::TextStyle& style);
std::string difference_markdown(const Difference& difference);

}  // namespace warplens::gate
