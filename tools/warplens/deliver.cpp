// SPDX-License-Identifier: Apache-2.0
#include "warplens/deliver.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>

#include "base/check.h"
#include "gate/allowances.h"
#include "gate/annotation_view.h"
#include "gate/difference_view.h"
#include "gate/junit_view.h"
#include "gate/limits.h"
#include "gate/limits_json.h"
#include "gate/markdown_view.h"
#include "gate/observations.h"
#include "gate/rules.h"
#include "gate/sarif_view.h"
#include "gate/verdict.h"
#include "report/csv_view.h"
#include "report/json_view.h"
#include "report/output_file.h"
#include "report/run_report.h"
#include "warplens/exit_codes.h"

namespace warplens::cli {
namespace {

bool write_text(const std::string& text) {
  return report::write_all(STDERR_FILENO, text, "standard error").has_value();
}

bool has_findings(const report::RunRecord& run) {
  return std::ranges::any_of(run.launches, [](const report::LaunchRecord& l) { return !l.findings.empty(); });
}

bool is_regression(const gate::Issue& i) {
  return i.rule == "regression" && i.level == gate::Level::kError && i.allowed.empty();
}

/// Issues take a table of lines for each kernel and shape: nothing that a plain run should wait for.
bool wants_issues(const RunOptions& o) {
  return !o.sarif.empty() || !o.junit.empty() || !o.markdown.empty() || !o.annotations.empty();
}

/// What the limits say, and what the allowances in the sources do not get right.
std::string gate_text(const RunOptions& options, const gate::Verdict& verdict,
                      const std::vector<gate::Issue>& regressions) {
  const gate::LimitsReport& limits = verdict.limits;
  std::string text = limits.checked.empty() || options.quiet ? "" : "\n";
  for (const gate::Issue& i : verdict.issues)
    if (i.rule == "unused-allowance" && !options.quiet) text += gate::issue_line(i) + "\n";
  if (verdict.baseline && !options.quiet) {
    text += fmt::format("\ncompared with {}:\n", gate::plain(options.baseline));
    text += gate::difference_text(*verdict.baseline, regressions, report::style_of(STDERR_FILENO));
  } else {
    // A finding then makes the exit code, and no report tells of it.
    const bool gates = !options.limits.empty() || options.baseline_report;
    for (const gate::Issue& i : verdict.issues)
      if (is_regression(i) || (options.quiet && gates && gate::is_finding(i.rule))) text += gate::issue_line(i) + "\n";
  }
  if (!options.quiet || limits.failed()) text += gate::limits_text(*verdict.run, limits);
  return text;
}

/// The comparison with the baseline; what it holds against the run, without what the sources allow.
std::vector<gate::Issue> compare(const RunOptions& options, gate::Verdict& verdict, gate::Allowances& allowances) {
  if (!options.baseline_report) return {};
  const report::RunRecord& run = *verdict.run;
  // The run in the form in which the baseline is: one path for both.
  auto now = gate::parse_report(report::json_text(run, report::Folding::kByShape), run.program);
  WL_CHECK(now.has_value(), "our own report cannot be read");
  verdict.baseline = gate::compare(*options.baseline_report, *now, options.growth.value_or(gate::Growth{}));
  const bool whole = !run.end.timed_out && !run.end.interrupted && run.end.signal == 0;
  if (verdict.baseline->compared == 0 && whole)
    verdict.faults.push_back(gate::nothing_compared(*verdict.baseline, options.baseline));
  std::vector<gate::Issue> issues = gate::issues_of(*verdict.baseline);
  for (gate::Issue& i : issues)
    if (const std::string* reason = allowances.find(i.rule, i.file, i.line)) i.allowed = *reason;
  return issues;
}

/// Writes each file that was asked for; all are tried.
bool write_files(const RunOptions& options, const gate::Verdict& verdict, report::Folding folding) {
  const report::RunRecord& run = *verdict.run;
  bool written = true;
  const auto write = [&](const std::string& path, const std::function<std::string()>& text) {
    if (path.empty()) return;
    const Status status = report::write_output(path, text());
    if (!status) print(status.error());
    written &= status.has_value();
  };
  write(options.json, [&] {
    report::JsonMore more{options.source_root, {}, {}};
    if (!options.limits.empty()) more.limits = gate::limits_json(run, verdict.limits);
    for (const Diagnostic& d : verdict.faults) more.faults.push_back(gate::fault_text(d));
    return report::json_text(run, folding, more);
  });
  write(options.csv, [&] { return report::csv_text(run, options.metrics); });
  write(options.sarif, [&] { return gate::sarif_text(verdict); });
  write(options.junit, [&] { return gate::junit_text(verdict); });
  write(options.markdown, [&] { return gate::markdown_report(verdict); });
  write(options.annotations, [&] {
    // GitHub knows a command only at the begin of a line, and the program may have left one open.
    const std::string text = gate::annotations_text(verdict);
    return options.annotations == "-" && !text.empty() ? "\n" + text : text;
  });
  return written;
}

}  // namespace

int deliver(const RunOptions& options, const RunOutcome& outcome) {
  // A file size limit is then an error of write, like a full disk, and not the end of this process.
  std::signal(SIGXFSZ, SIG_IGN);
  const report::RunRecord& run = outcome.record;
  const report::Folding folding = options.unfold ? report::Folding::kNone : report::Folding::kByShape;
  gate::Allowances allowances(run);
  const bool gates = !options.limits.empty() || options.baseline_report;
  gate::Verdict verdict;
  verdict.run = &run;
  verdict.source_root = options.source_root;
  verdict.limits = gate::check_limits(run, options.limits, allowances);
  const std::vector<gate::Issue> regressions = compare(options, verdict, allowances);
  const bool worse = std::ranges::any_of(regressions, is_regression);
  if (gates || allowances.any() || wants_issues(options))
    verdict.issues = gate::collect_issues(run, allowances, verdict.limits, regressions);
  bool written = true;
  if (!options.quiet) {
    report::TextOptions text;
    text.style = report::style_of(STDERR_FILENO);
    text.folding = folding;
    written &= write_text(report::run_text(run, text));
  }
  for (const Diagnostics& faults : {verdict.limits.faults, allowances.faults()})
    verdict.faults.insert(verdict.faults.end(), faults.begin(), faults.end());
  written &= write_files(options, verdict, folding);
  written &= write_text(gate_text(options, verdict, regressions));
  print(verdict.faults);
  // The library could not write all it counted: the report is incomplete, which must not pass for a good run.
  if (run.damaged_lines != 0 && !run.end.timed_out && !run.end.interrupted) written = false;
  if (!written) return kCannotWrite;
  if (outcome.exit_code != 0 || !gates) return outcome.exit_code;
  if (worse || verdict.limits.failed() || has_findings(run)) return kBroken;
  return verdict.faults.empty() ? 0 : kMisuse;
}

}  // namespace warplens::cli
