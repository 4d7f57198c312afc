// SPDX-License-Identifier: Apache-2.0
#include "gate/annotation_view.h"

#include <fmt/format.h>

#include "gate/escape.h"

namespace warplens::gate {
namespace {

std::string place_of(const Verdict& v, const std::string& file, uint32_t line, uint32_t column) {
  if (file.empty() || line == 0) return {};
  std::string place = fmt::format("file={},line={},", workflow_property(repository_path(file, v.source_root)), line);
  if (column != 0) place += fmt::format("col={},", column);
  return place;
}

}  // namespace

std::string annotations_text(const Verdict& verdict) {
  std::string out;
  if (const std::string end = end_sentence(*verdict.run); !end.empty())
    out += fmt::format("::warning title=warplens::{}\n", workflow_message(end));
  for (const Diagnostic& d : verdict.faults)
    out += fmt::format("::error {}title=warplens::{}\n", place_of(verdict, d.file, d.pos.line, d.pos.column),
                       workflow_message(d.message));
  for (const Issue& i : verdict.issues) {
    if (!i.allowed.empty()) continue;
    const char* command = i.level == Level::kError ? "error" : i.level == Level::kWarning ? "warning" : "notice";
    out += fmt::format("::{} {}title=warplens {}::{}\n", command, place_of(verdict, i.file, i.line, i.column), i.rule,
                       workflow_message(i.message));
  }
  return out;
}

}  // namespace warplens::gate
