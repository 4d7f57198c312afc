// SPDX-License-Identifier: Apache-2.0
// The pages of `warplens explain RULE`: what the rule says, why it costs, what to do, and one wrong and one right
// program. Tests compile both and count them: the wrong one breaks the rule at its marked line, the right one does not.
#pragma once
#include <string>
#include <string_view>

#include "gate/rules.h"

namespace warplens::gate {

struct Page {
  std::string_view rule;
  std::string_view text;          ///< paragraphs, lines of at most 100 columns
  std::string_view wrong, right;  ///< whole CUDA programs; the wrong line ends in "// wrong"
  std::string_view options;       ///< of `warplens run` that the rule needs, e.g. a limit
  bool against_right = false;     ///< the report of the right one is the baseline that the rule needs
};

/// Every rule has one.
const Page& page_of(const Rule& rule);
/// Title and text, without the programs.
std::string page_text(const Rule& rule);

}  // namespace warplens::gate
