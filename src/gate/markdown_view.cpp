// SPDX-License-Identifier: Apache-2.0
#include "gate/markdown_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "gate/difference_view.h"
#include "gate/escape.h"
#include "gate/rules.h"
#include "report/fold.h"
#include "report/kernel_view.h"
#include "report/number_text.h"

namespace warplens::gate {
namespace {

using report::FoldedLaunch;
using report::Memory;

/// A comment has room for about 65,000 characters; nobody reads a hundred rows.
constexpr size_t kMostRows = 30;

std::string head(const Verdict& v) {
  size_t broken = 0, left = 0;
  for (const Checked& c : v.limits.checked) {
    broken += c.outcome == Outcome::kFailed ? 1 : 0;
    left += c.outcome == Outcome::kNotChecked ? 1 : 0;
  }
  size_t findings = 0, regressions = 0;
  for (const Issue& i : v.issues) {
    findings += is_finding(i.rule) ? 1 : 0;
    regressions += i.rule == "regression" && i.level == Level::kError && i.allowed.empty() ? 1 : 0;
  }
  std::vector<std::string> parts;
  if (findings != 0) parts.push_back(report::plural(findings, "finding"));
  if (broken != 0) parts.push_back(report::plural(broken, "limit") + " broken");
  if (regressions != 0) parts.push_back(report::plural(regressions, "regression"));
  if (!v.faults.empty()) parts.push_back(report::plural(v.faults.size(), "fault") + " in what was to be judged");
  if (!end_sentence(*v.run).empty()) parts.push_back("the run did not end well");
  const size_t kept = v.limits.checked.size() - left - broken;
  if (kept != 0)
    parts.push_back((parts.empty() && left == 0 && kept > 1 ? "all " : "") + report::plural(kept, "limit") + " kept");
  if (left != 0) parts.push_back(fmt::format("{} not checked", left));
  if (v.baseline && v.baseline->compared != 0 && regressions == 0) parts.push_back("not worse than the baseline");
  const std::string verdict = parts.empty() ? "report" : fmt::format("{}", fmt::join(parts, ", "));
  std::string out = fmt::format("### Warplens: {}\n\n{} on a virtual {}.\n", verdict, markdown_code(v.run->program),
                                markdown_text(v.run->gpu));
  if (const std::string end = end_sentence(*v.run); !end.empty())
    out += fmt::format("\n**Note:** {}.\n", markdown_text(end));
  for (const Diagnostic& d : v.faults) out += fmt::format("\n**Error:** {}\n", markdown_text(fault_text(d)));
  return out;
}

std::string limits_table(const Verdict& v) {
  if (v.limits.checked.empty()) return {};
  std::string out = "\n| kernel | limit | value | |\n|---|---|---:|---|\n";
  size_t rows = 0;
  for (const Outcome wanted : {Outcome::kFailed, Outcome::kNotChecked, Outcome::kPassed}) {
    for (const Checked& c : v.limits.checked) {
      if (c.outcome != wanted || ++rows > kMostRows) continue;
      const char* mark = wanted == Outcome::kFailed   ? "**broken**"
                         : wanted == Outcome::kPassed ? "kept"
                                                      : "not checked";
      out += fmt::format("| {} | {} | {} | {} |\n", markdown_cell(report::shown_name(*v.run, c.kernel)),
                         markdown_cell(limit_text(*c.limit)),
                         wanted == Outcome::kNotChecked ? "" : numbers_shown(c.value, c.limit->bound).first, mark);
    }
  }
  if (rows > kMostRows) out += fmt::format("\n... and {} more.\n", rows - kMostRows);
  return out;
}

std::string issues_list(const Verdict& v) {
  std::string out;
  size_t rows = 0, allowed = 0;
  for (const Issue& i : v.issues) {
    if (!i.allowed.empty()) {
      ++allowed;
      continue;
    }
    if (++rows > kMostRows) continue;
    const char* level = i.level == Level::kError ? "**error**" : i.level == Level::kWarning ? "warning" : "note";
    const std::string place =
        i.file.empty() || i.line == 0 ? "" : fmt::format("{}:{}", repository_path(i.file, v.source_root), i.line);
    out += fmt::format("- {} {} {} ({})\n", level, markdown_code(place), markdown_text(i.message), i.rule);
    if (!i.text.empty()) out += fmt::format("  {}\n", markdown_code(i.text));
  }
  if (rows > kMostRows) out += fmt::format("- ... and {} more\n", rows - kMostRows);
  if (allowed != 0) out += fmt::format("- {} allowed in the sources\n", report::plural(allowed, "line"));
  return out.empty() ? out : "\n" + out;
}

std::string kernels_table(const Verdict& v) {
  const std::vector<FoldedLaunch> groups = report::fold(*v.run, report::Folding::kByShape);
  if (groups.empty()) return "\nThe program launched no kernel.\n";
  std::string out =
      "\n| kernel | launches | requests | sectors | per request | excess | shared wavefronts | excess |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|\n";
  size_t rows = 0;
  for (const size_t i : report::worst_first(groups)) {
    const FoldedLaunch& g = groups[i];
    if (++rows > kMostRows) continue;
    const std::string name = markdown_cell(report::shown_name(*v.run, g.kernel));
    if (!g.counted) {
      out += fmt::format("| {} | {} | {} | | | | | |\n", name, g.launches, g.complete ? "not counted" : "not finished");
      continue;
    }
    const report::Traffic t = g.totals.all(Memory::kGlobal), s = g.totals.all(Memory::kShared);
    out += fmt::format("| {}{} | {} | {} | {} | {} | {} | {} | {} |\n", name, g.sample ? " (sampled)" : "", g.launches,
                       report::grouped(t.requests), report::grouped(t.sectors),
                       report::ratio_text(t.sectors_per_request()), report::grouped(t.excess_sectors()),
                       report::grouped(s.wavefronts), report::grouped(s.excess_wavefronts()));
  }
  if (rows > kMostRows) out += fmt::format("\n... and {} more.\n", rows - kMostRows);
  return out;
}

}  // namespace

std::string markdown_report(const Verdict& verdict) {
  std::string out = head(verdict) + limits_table(verdict) + issues_list(verdict) + kernels_table(verdict);
  if (verdict.baseline) out += "\n" + difference_markdown(*verdict.baseline);
  return out;
}

}  // namespace warplens::gate
