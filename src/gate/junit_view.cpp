// SPDX-License-Identifier: Apache-2.0
#include "gate/junit_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "gate/escape.h"
#include "gate/rules.h"
#include "report/kernel_view.h"

namespace warplens::gate {
namespace {

struct Suite {
  std::string cases;
  unsigned tests = 0, failures = 0, errors = 0, skipped = 0;

  void add(const std::string& of, const std::string& name, double seconds, const std::string& body) {
    ++tests;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"", xml_text(of), xml_text(name),
                         seconds);
    cases += body.empty() ? "/>\n" : ">\n" + body + "    </testcase>\n";
  }
};

/// All issues of one case: the first as the message, each on a line.
std::string failure(const std::vector<const Issue*>& issues) {
  std::string lines;
  for (const Issue* i : issues) lines += issue_line(*i) + "\n";
  return fmt::format("      <failure message=\"{}\" type=\"{}\">{}</failure>\n", xml_text(issues[0]->message),
                     issues[0]->rule, xml_text(lines));
}

double seconds_of(const report::RunRecord& run, size_t kernel) {
  double seconds = 0;
  for (const report::LaunchRecord& l : run.launches)
    if (l.kernel == kernel) seconds += l.seconds;
  return seconds;
}

void add_program(Suite& suite, const report::RunRecord& run) {
  const std::string end = end_sentence(run);
  if (!end.empty()) ++suite.errors;
  suite.add(run.program, "ends well", 0,
            end.empty() ? "" : fmt::format("      <error message=\"{}\" type=\"end\"/>\n", xml_text(end)));
}

void add_findings(Suite& suite, const Verdict& verdict, size_t kernel) {
  const report::RunRecord& run = *verdict.run;
  const std::string& mangled = run.kernels[kernel].info.name;
  std::vector<const Issue*> issues;
  for (const report::LaunchRecord& l : run.launches)
    for (const events::Finding& f : l.findings)
      for (const Issue& i : verdict.issues)
        if (l.kernel == kernel && i.kernel == mangled && i.rule == rule_of(f.kind) &&
            std::find(issues.begin(), issues.end(), &i) == issues.end())
          issues.push_back(&i);
  if (!issues.empty()) ++suite.failures;
  suite.add(report::shown_name(run, kernel), "runs without findings", seconds_of(run, kernel),
            issues.empty() ? "" : failure(issues));
}

void add_limit(Suite& suite, const report::RunRecord& run, const Checked& c) {
  std::string body;
  if (c.outcome == Outcome::kNotChecked) {
    ++suite.skipped;
    body = fmt::format("      <skipped message=\"{}\"/>\n", xml_text(c.why));
  } else if (c.outcome == Outcome::kFailed) {
    ++suite.failures;
    std::vector<const Issue*> issues;
    for (const Issue& i : c.issues) issues.push_back(&i);
    body = failure(issues);
  }
  suite.add(report::shown_name(run, c.kernel), limit_text(*c.limit), 0, body);
}

/// One case for each kernel that was compared.
void add_baseline(Suite& suite, const Verdict& verdict) {
  if (!verdict.baseline) return;
  for (const KernelChange& k : verdict.baseline->kernels) {
    std::vector<const Issue*> issues;
    for (const Issue& i : verdict.issues)
      if (i.rule == "regression" && i.level == Level::kError && i.kernel == k.name && i.allowed.empty())
        issues.push_back(&i);
    std::string body;
    if (!k.note.empty()) {
      ++suite.skipped;
      body = fmt::format("      <skipped message=\"{}\"/>\n", xml_text(k.note));
    } else if (k.worse() && !issues.empty()) {
      ++suite.failures;
      body = failure(issues);
    }
    suite.add(k.short_name, k.shape.empty() ? "no worse than the baseline" : "no worse than the baseline: " + k.shape,
              0, body);
  }
}

}  // namespace

std::string junit_text(const Verdict& verdict) {
  const report::RunRecord& run = *verdict.run;
  Suite suite;
  add_program(suite, run);
  for (size_t k = 0; k < run.kernels.size(); ++k) {
    add_findings(suite, verdict, k);
    for (const Checked& c : verdict.limits.checked)
      if (c.kernel == k) add_limit(suite, run, c);
  }
  add_baseline(suite, verdict);
  for (const Diagnostic& fault : verdict.faults) {
    ++suite.errors;
    suite.add(run.program, "limits, allowances and baseline can be judged", 0,
              fmt::format("      <error message=\"{}\" type=\"fault\"/>\n", xml_text(fault_text(fault))));
  }
  double seconds = 0;
  for (size_t k = 0; k < run.kernels.size(); ++k) seconds += seconds_of(run, k);
  const std::string numbers = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.6f}\"",
                                          suite.tests, suite.failures, suite.errors, suite.skipped, seconds);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"warplens\" {0}>\n  <testsuite name=\"{1}\" {0}>\n"
      "    <properties>\n      <property name=\"gpu\" value=\"{2}\"/>\n    </properties>\n{3}  </testsuite>\n"
      "</testsuites>\n",
      numbers, xml_text(run.program), xml_text(run.gpu), suite.cases);
}

}  // namespace warplens::gate
