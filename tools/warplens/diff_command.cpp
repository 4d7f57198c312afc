// SPDX-License-Identifier: Apache-2.0
#include "warplens/diff_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "gate/difference.h"
#include "gate/difference_view.h"
#include "report/output_file.h"
#include "warplens/exit_codes.h"
#include "warplens/nearest.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

struct DiffOptions {
  std::vector<std::string> files;
  std::string markdown;
  gate::Growth growth;
  bool quiet = false;
};

Result<DiffOptions> parse(const std::vector<std::string>& arguments) {
  static constexpr std::string_view kOptions[] = {"--allow-growth", "--markdown", "--quiet", "-q", "--help"};
  DiffOptions o;
  Diagnostics faults;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    const size_t equals = a.starts_with("--") ? a.find('=') : std::string::npos;
    const std::string name = a.substr(0, equals);
    const auto value = [&]() -> std::string {
      if (equals != std::string::npos) return a.substr(equals + 1);
      return i + 1 < arguments.size() ? arguments[++i] : std::string();
    };
    if (name == "--allow-growth") {
      if (const Status good = gate::set_growth(o.growth, value()); !good)
        faults.insert(faults.end(), good.error().begin(), good.error().end());
    } else if (name == "--markdown") {
      o.markdown = value();
      if (o.markdown.empty()) faults.push_back(make_error("--markdown needs a file name, or - for standard output"));
    } else if (a == "-q" || a == "--quiet") {
      o.quiet = true;
    } else if (a.size() > 1 && a[0] == '-') {
      const std::string like = nearest(name, kOptions);
      faults.push_back(make_error(fmt::format("unknown option '{}'", a), like.empty()
                                                                             ? "warplens help diff lists the options"
                                                                             : "did you mean " + like + "?"));
    } else {
      o.files.push_back(a);
    }
  }
  if (faults.empty() && o.files.size() != 2)
    faults.push_back(make_error(fmt::format("diff takes two reports, not {}", o.files.size()),
                                "warplens diff before.json after.json"));
  if (!faults.empty()) return faults;
  return o;
}

}  // namespace

int diff_command(const std::vector<std::string>& arguments) {
  if (std::ranges::any_of(arguments, [](const std::string& a) { return a == "--help" || a == "-h"; })) {
    std::fputs(diff_help().c_str(), stdout);
    return 0;
  }
  const auto options = parse(arguments);
  if (!options) {
    print(options.error());
    return kMisuse;
  }
  const auto before = gate::read_report(options->files[0]), after = gate::read_report(options->files[1]);
  for (const auto* report : {&before, &after})
    if (!*report) print(report->error());
  if (!before || !after) return kMisuse;
  const gate::Difference difference = gate::compare(*before, *after, options->growth);
  bool written = true;
  if (!options->markdown.empty()) {
    const Status status = report::write_output(options->markdown, gate::difference_markdown(difference));
    if (!status) print(status.error());
    written = status.has_value();
  }
  if (!options->quiet && options->markdown != "-")
    written &= report::write_all(
                   STDOUT_FILENO,
                   gate::difference_text(difference, gate::issues_of(difference), report::style_of(STDOUT_FILENO)),
                   "standard output")
                   .has_value();
  if (!written) return kCannotWrite;
  if (difference.compared == 0 && before->whole && after->whole) {
    print({gate::nothing_compared(difference, options->files[0])});
    return kMisuse;
  }
  return difference.worse() ? kBroken : 0;
}

std::string diff_help() {
  return R"(usage: warplens diff [options] BEFORE.json AFTER.json

Compares two reports that 'warplens run --json' wrote. Kernels are found by name and lines by their text, so code that only
moved is no difference. Exact numbers that grew are worse; estimates are shown, and held against nobody. A kernel that
another compiler made from the same source is said to be one.

  --allow-growth N%      a number may grow by so much (repeatable with the next: the larger of both)
  --allow-growth N       or by so much in absolute terms
  --markdown FILE        the tables for a comment on a pull request (- is standard output)
  -q, --quiet            only the exit code

'warplens run --baseline BEFORE.json' does the same at the end of a run.

exit code: 0, or 1 when something is worse; 2 wrong use, a file that is no such report, or two that have no kernel in
common; 3 a result could not be written.
)";
}

}  // namespace warplens::cli
