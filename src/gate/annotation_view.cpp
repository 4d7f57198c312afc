// SPDX-License-Identifier: Apache-2.0
#include "gate/annotation_view.h"

#include <fmt/format.h>

#include "gate/escape.h"

namespace warplens::gate {

std::string annotations_text(const Verdict& verdict) {
  std::string out;
  if (const std::string end = end_sentence(*verdict.run); !end.empty())
    out += fmt::format("::warning title=warplens::{}\n", workflow_message(end));
  for (const Diagnostic& d : verdict.limits.faults)
    out += fmt::format("::error title=warplens::{}\n", workflow_message(d.message));
  for (const Issue& i : verdict.issues) {
    if (!i.allowed.empty()) continue;
    const char* command = i.level == Level::kError ? "error" : i.level == Level::kWarning ? "warning" : "notice";
    std::string place;
    if (!i.file.empty() && i.line != 0) {
      place = fmt::format("file={},line={},", workflow_property(shown_path(i.file)), i.line);
      if (i.column != 0) place += fmt::format("col={},", i.column);
    }
    out += fmt::format("::{} {}title=warplens {}::{}\n", command, place, i.rule, workflow_message(i.message));
  }
  return out;
}

}  // namespace warplens::gate
