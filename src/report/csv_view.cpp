// SPDX-License-Identifier: Apache-2.0
#include "report/csv_view.h"

#include <fmt/format.h>

#include <cmath>

#include "gpu/catalogue.h"
#include "report/kernel_name.h"

namespace warplens::report {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + quoted(cell);
  return line + "\n";
}

std::string dim_text(const events::Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

std::string number_text(std::optional<double> value) {
  if (!value) return {};
  return *value == std::floor(*value) && std::abs(*value) < 1e15 ? fmt::format("{:.0f}", *value)
                                                                 : fmt::format("{:.6g}", *value);
}

/// "9.0"; empty for a GPU that is not among those built in.
std::string capability_of(const std::string& name) {
  for (const gpu::KnownGpu& known : gpu::known_gpus())
    if (known.gpu->name == name)
      return fmt::format("{}.{}", known.gpu->compute_capability[0], known.gpu->compute_capability[1]);
  return {};
}

/// What the numbers of a row stand for: what a row's counts must not be mistaken for.
const char* counts_word(const LaunchRecord& launch) {
  if (launch.counts == nullptr) return "none";
  if (!launch.complete) return "partial";
  return launch.sample != nullptr && launch.sample->scaled ? "scaled" : "all";
}

/// Launches that were counted, and those that the program's end left without counts.
bool has_row(const LaunchRecord& launch) { return launch.counts != nullptr || !launch.complete; }

/// As the profiler's own messages look that stand around its table; empty: the program ended by itself.
std::string end_line(const RunRecord& run) {
  if (run.end.timed_out) return "==WARNING== The time limit ended the program: rows are what was counted until then.\n";
  if (run.end.interrupted) return "==WARNING== The program was interrupted: rows are what was counted until then.\n";
  if (run.end.signal != 0)
    return fmt::format("==WARNING== Signal {} ended the program: rows are what was counted until then.\n",
                       run.end.signal);
  return {};
}

}  // namespace

std::string csv_text(const RunRecord& run, const std::vector<const Metric*>& wanted) {
  std::vector<const Metric*> columns = wanted;
  if (columns.empty())
    for (const Metric& m : metrics()) columns.push_back(&m);
  std::vector<std::string> names = {"ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
                                    "Stream", "Block Size", "Grid Size",    "Device",    "CC"};
  std::vector<std::string> units(names.size());
  for (const Metric* m : columns) {
    names.emplace_back(m->name);
    units.emplace_back(m->unit);
  }
  names.emplace_back("warplens__counts");
  units.emplace_back();
  std::string text = line_of(names) + line_of(units);
  const std::string capability = capability_of(run.gpu);
  uint64_t number = 0;
  for (const LaunchRecord& launch : run.launches) {
    if (!has_row(launch)) continue;
    const KernelRecord& kernel = run.kernels[launch.kernel];
    std::vector<std::string> cells = {fmt::format("{}", number++),
                                      fmt::format("{}", launch.process),
                                      run.program,
                                      "127.0.0.1",
                                      demangled(kernel.info.name),
                                      "1",
                                      "7",
                                      dim_text(launch.shape.block),
                                      dim_text(launch.shape.grid),
                                      "0",
                                      capability};
    if (launch.counts == nullptr) {
      cells.resize(cells.size() + columns.size());
    } else {
      const MetricInput input = metric_input(kernel, launch);
      for (const Metric* m : columns) cells.push_back(number_text(m->value(input)));
    }
    cells.emplace_back(counts_word(launch));
    text += line_of(cells);
  }
  return text + end_line(run);
}

}  // namespace warplens::report
