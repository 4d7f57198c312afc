// SPDX-License-Identifier: Apache-2.0
//   l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum  exact
//     32-byte sectors that loads touched, by request (sector; also: gld_transactions)
#include "warplens/metrics_command.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>

#include "report/metrics.h"
#include "report/text_style.h"
#include "warplens/exit_codes.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

std::string entry_text(const report::Metric& m, const report::TextStyle& style) {
  std::string more(m.unit);
  if (!m.aliases.empty()) more += fmt::format("{}also: {}", more.empty() ? "" : "; ", fmt::join(m.aliases, ", "));
  std::string text(m.definition);
  if (!more.empty()) text += fmt::format(" ({})", more);
  return fmt::format("{}  {}\n", m.name, m.estimate ? "estimate" : "exact") + report::wrapped(text, style.width, 4);
}

}  // namespace

int metrics_command(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs(metrics_help().c_str(), stdout);
    return 0;
  }
  std::vector<const report::Metric*> shown;
  for (const report::Metric& m : report::metrics())
    if (arguments.empty()) shown.push_back(&m);
  for (const std::string& argument : arguments) {
    const auto found = report::metric_list(argument);
    if (!found) {
      print(found.error());
      return kMisuse;
    }
    shown.insert(shown.end(), found->begin(), found->end());
  }
  const report::TextStyle style = report::style_of(STDOUT_FILENO);
  std::string text;
  for (const report::Metric* m : shown) text += entry_text(*m, style);
  return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? kCannotWrite : 0;
}

std::string metrics_help() {
  return R"(usage: warplens metrics [NAME...]

Lists what 'warplens run --csv' writes: Nsight Compute's names, what each counts, its unit, other names of it (nvprof,
older Nsight Compute), and whether the number equals the hardware's (exact, as long as the report marks no access to that
memory with ~ and all blocks were counted) or is an estimate.
)";
}

}  // namespace warplens::cli
