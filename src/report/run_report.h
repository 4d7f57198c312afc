// SPDX-License-Identifier: Apache-2.0
// The whole text report of one run: what went wrong, the table of kernels, then the worst kernels with their lines.
#pragma once
#include <string>

#include "report/fold.h"
#include "report/line_view.h"
#include "report/text_style.h"

namespace warplens::report {

struct TextOptions {
  TextStyle style;
  Folding folding = Folding::kByShape;
  size_t kernels = 5;  ///< launch groups shown with their lines
  LineLimits lines;
  bool legend = true;  ///< explain the words at the end
};

std::string run_text(const RunRecord& run, const TextOptions& options);

}  // namespace warplens::report
