// SPDX-License-Identifier: Apache-2.0
// Checking limits. Each counted launch is judged by itself; launches of equal counts and shape (a program launches the
// same kernel hundreds of times) are judged once. Where lines are to blame, a launch's table of lines is made.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <set>

#include "base/nearest.h"
#include "gate/limits.h"
#include "report/explain.h"
#include "report/fold.h"
#include "report/kernel_name.h"
#include "report/kernel_view.h"
#include "report/line_table.h"
#include "report/number_text.h"

namespace warplens::gate {
namespace {

using report::AccessRow;
using report::LaunchRecord;
using report::LineRow;
using report::LineTable;
using report::Memory;
using report::Traffic;

/// What one launch says to one limit.
struct Judged {
  std::optional<double> value;     ///< that counts; absent: nothing to check (why says)
  std::optional<double> estimate;  ///< of what does not count
  std::string why;
  std::vector<std::pair<const LineRow*, const AccessRow*>> blame;  ///< worst first
};

/// The memory that a metric is about, by the profilers' naming.
std::optional<Memory> memory_of_metric(const report::Metric& metric) {
  for (const auto& [word, memory] :
       {std::pair{"_global", Memory::kGlobal}, {"_shared", Memory::kShared}, {"_local", Memory::kLocal}})
    if (metric.name.find(word) != std::string_view::npos && !metric.name.starts_with("launch__")) return memory;
  return std::nullopt;
}

class Checker {
 public:
  Checker(const report::RunRecord& run, Allowances& allowances) : run_(run), allowances_(allowances) {}

  LimitsReport check(const std::vector<Limit>& limits) {
    LimitsReport report;
    for (const Limit& limit : limits) {
      const std::regex pattern(limit.kernel);  // was checked when it was read
      bool matched = false, counted = false, cut_short = false;
      for (size_t k = 0; k < run_.kernels.size(); ++k) {
        if (!matches(limit, pattern, run_.kernels[k].info.name)) continue;
        matched = true;
        cut_short |= std::ranges::any_of(
            run_.launches, [&](const LaunchRecord& l) { return l.kernel == k && l.counts != nullptr && !l.complete; });
        if (auto checked = check(limit, k)) {
          counted = true;
          report.checked.push_back(std::move(*checked));
        }
      }
      if (!counted && !(run_.end.timed_out || run_.end.interrupted))
        report.faults.push_back(nothing(limit, matched, cut_short));
    }
    return report;
  }

 private:
  static bool matches(const Limit& limit, const std::regex& pattern, const std::string& name) {
    return limit.kernel.empty() || std::regex_search(name, pattern) ||
           std::regex_search(report::demangled(name), pattern);
  }

  /// `cut_short`: a launch was to be counted, and did not run to its end.
  Diagnostic nothing(const Limit& limit, bool matched, bool cut_short) const {
    const std::string_view what = cut_short ? "ran to its end" : "was counted";
    std::string of = limit.kernel.empty() ? fmt::format("no launch {}", what)
                                          : fmt::format("no launch of '{}' {}", limit.kernel, what);
    if (!matched)
      of = limit.kernel.empty() ? "the program launched no kernel"
                                : fmt::format("no kernel that ran matches '{}'", limit.kernel);
    std::vector<std::string> names;
    for (const report::KernelRecord& kernel : run_.kernels) {
      const std::string name = report::short_name(kernel.info.name);
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    std::string hint;
    if (cut_short)
      hint = "what ended it is told above";
    else if (matched && !names.empty())
      hint = "--kernel, --launch-count, --no-count and the like leave launches uncounted";
    if (!matched && !names.empty() && names.size() <= 12) hint = fmt::format("there ran {}", fmt::join(names, ", "));
    const std::string message = fmt::format("{} was not checked: {}", limit_text(limit), of);
    if (limit.file.empty()) return make_error(message, hint);
    return make_error_at(limit.file, limit.pos, message, hint);
  }

  std::optional<Checked> check(const Limit& limit, size_t kernel) {
    std::optional<Checked> worst;
    std::set<std::tuple<const void*, std::string, double>> seen;
    for (const LaunchRecord& launch : run_.launches) {
      if (launch.kernel != kernel || launch.counts == nullptr || !launch.complete) continue;
      const std::string shape = shape_of(launch);
      if (!seen.insert({launch.counts.get(), shape, launch.occupancy ? launch.occupancy->of.share : -1}).second)
        continue;
      Checked one = outcome_of(limit, launch, judge(limit, launch));
      one.kernel = kernel;
      one.launch = shape;
      if (!worst || worse(one, *worst)) worst = std::move(one);
    }
    return worst;
  }

  static bool worse(const Checked& a, const Checked& b) {
    const auto rank = [](const Checked& c) {
      return c.outcome == Outcome::kFailed ? 2 : c.outcome == Outcome::kNotChecked ? 1 : 0;
    };
    if (rank(a) != rank(b)) return rank(a) > rank(b);
    return a.limit->minimum ? a.value < b.value : a.value > b.value;
  }

  static std::string shape_of(const LaunchRecord& launch) {
    return fmt::format("grid {}, block {}", report::dim_text(launch.shape.grid), report::dim_text(launch.shape.block));
  }

  static bool broken(const Limit& limit, double value) {
    return limit.minimum ? value < limit.bound : value > limit.bound;
  }

  Checked outcome_of(const Limit& limit, const LaunchRecord& launch, const Judged& judged) const {
    Checked c;
    c.limit = &limit;
    c.value = judged.value.value_or(0);
    if (judged.value && broken(limit, *judged.value)) {
      c.outcome = Outcome::kFailed;
      c.issues = issues_of(limit, launch, judged);
    } else if (!judged.why.empty() && (!judged.estimate || broken(limit, *judged.estimate))) {
      c.outcome = Outcome::kNotChecked;
      c.why = judged.why;
    }
    return c;
  }

  std::vector<Issue> issues_of(const Limit& limit, const LaunchRecord& launch, const Judged& judged) const {
    const std::string& name = run_.kernels[launch.kernel].info.name;
    Issue issue;
    issue.rule = rule_of(limit);
    issue.level = Level::kError;
    issue.kernel = name;
    if (judged.blame.empty()) {
      issue.message = fmt::format("{} ({}): {} is {}, the limit {}", report::short_name(name), shape_of(launch),
                                  what(limit), numbers_shown(*judged.value, limit.bound).first,
                                  numbers_shown(*judged.value, limit.bound).second);
      return {issue};
    }
    std::vector<Issue> issues;
    const LineTable& table = lines(launch);
    for (const auto& [row, access] : judged.blame) {
      const double here = number_of(limit, access->traffic);
      std::string message =
          fmt::format("{}: {} {}, the limit {}: {}", report::short_name(name), numbers_shown(here, limit.bound).first,
                      what(limit), numbers_shown(here, limit.bound).second, report::access_label(*access));
      if (limit.kind != LimitKind::kLocalBytes) message += fmt::format(": {}", report::explain(*access));
      issue.message = std::move(message);
      issue.file = row->file;
      issue.line = row->line;
      issue.column = table.from_ptx ? 0 : access->column;
      issue.text = row->text;
      issues.push_back(issue);
    }
    return issues;
  }

  static std::string what(const Limit& limit) {
    switch (limit.kind) {
      case LimitKind::kSectorsPerRequest: return "sectors a request";
      case LimitKind::kExcessiveSectors: return "excessive sectors";
      case LimitKind::kExcessiveWavefronts: return "excessive wavefronts";
      case LimitKind::kOccupancy: return "occupancy";
      case LimitKind::kLocalBytes: return "bytes of local memory";
      case LimitKind::kMetric: break;
    }
    return limit.name;
  }

  Judged judge(const Limit& limit, const LaunchRecord& launch) {
    switch (limit.kind) {
      case LimitKind::kOccupancy: return judge_occupancy(limit, launch);
      case LimitKind::kMetric: return judge_metric(limit, launch);
      default: return judge_lines(limit, launch);
    }
  }

  static Judged judge_occupancy(const Limit& limit, const LaunchRecord& launch) {
    Judged j;
    if (!launch.occupancy)
      j.why = "its occupancy is not known";
    else if (launch.occupancy->estimated && !limit.allow_estimates)
      j.why = "its registers are an estimate (no ptxas told them); allow_estimates = true checks it all the same";
    else if (launch.occupancy->of.carveout_estimated && !limit.allow_estimates)
      j.why = "the driver's carve-out is an estimate; allow_estimates = true checks it all the same";
    else
      j.value = launch.occupancy->of.share;
    return j;
  }

  Judged judge_metric(const Limit& limit, const LaunchRecord& launch) const {
    const report::MetricInput input = report::metric_input(run_.kernels[launch.kernel], launch);
    Judged j;
    const std::optional<double> value = limit.metric->value(input);
    bool estimate = limit.metric->estimate || launch.sample != nullptr;
    // Registers that the assembler told are exact, and what follows from them.
    const bool of_registers = limit.metric->name.find("registers") != std::string_view::npos;
    if (of_registers && launch.occupancy) estimate = launch.occupancy->estimated;
    if (const auto memory = memory_of_metric(*limit.metric))
      for (const Traffic& t : input.by[static_cast<int>(*memory)]) estimate |= t.estimate;
    if (!value)
      j.why = "the launch has no such number";
    else if (estimate && !limit.allow_estimates)
      j.why = "it is an estimate; allow_estimates = true checks it all the same";
    else
      j.value = value;
    return j;
  }

  static Memory memory_of(const Limit& limit) {
    return limit.kind == LimitKind::kExcessiveWavefronts ? Memory::kShared
           : limit.kind == LimitKind::kLocalBytes        ? Memory::kLocal
                                                         : Memory::kGlobal;
  }
  static double number_of(const Limit& limit, const Traffic& t) {
    switch (limit.kind) {
      case LimitKind::kSectorsPerRequest: return t.sectors_per_request();
      case LimitKind::kLocalBytes: return static_cast<double>(t.bytes_moved());
      case LimitKind::kExcessiveWavefronts: return static_cast<double>(t.excess_wavefronts());
      default: break;
    }
    // What the profiler calls excessive leaves out what atomics ask again (report/metrics.cpp).
    return static_cast<double>(t.sectors - t.repeated_sectors - t.ideal_sectors);
  }
  static void add_up(const Limit& limit, double& to, double number) {
    to = limit.kind == LimitKind::kSectorsPerRequest ? std::max(to, number) : to + number;
  }

  /// The number without regard to allowances and exactness: most launches keep their limits even so, and need no table
  /// of lines.
  double number_of(const Limit& limit, const LaunchRecord& launch) const {
    const events::KernelInfo& info = run_.kernels[launch.kernel].info;
    double sum = 0;
    for (size_t i = 0; i < info.sites.size() && i < launch.counts->sites.size(); ++i)
      if (report::memory_of(info.sites[i]) == memory_of(limit))
        add_up(limit, sum, number_of(limit, report::traffic_of(info.sites[i], launch.counts->sites[i])));
    return sum;
  }

  Judged judge_lines(const Limit& limit, const LaunchRecord& launch) {
    Judged j;
    if (const double all = number_of(limit, launch); !broken(limit, all)) {
      j.value = all;
      return j;
    }
    double sum = 0, estimates = 0;
    bool some_estimated = false;
    for (const LineRow& row : lines(launch).rows) {
      for (const AccessRow& a : row.accesses) {
        const double n = number_of(limit, a.traffic);
        if (a.memory != memory_of(limit) || n == 0) continue;
        const bool to_blame = limit.kind != LimitKind::kSectorsPerRequest || n > limit.bound;
        if (to_blame && allowances_.find(rule_of(limit), row.file, row.line) != nullptr) continue;
        add_up(limit, estimates, n);
        if ((a.traffic.estimate || launch.sample != nullptr) && !limit.allow_estimates) {
          some_estimated = true;
          continue;
        }
        add_up(limit, sum, n);
        if (to_blame) j.blame.emplace_back(&row, &a);
      }
    }
    std::ranges::stable_sort(j.blame, [&](const auto& x, const auto& y) {
      return number_of(limit, x.second->traffic) > number_of(limit, y.second->traffic);
    });
    j.value = sum;
    if (some_estimated) {
      j.estimate = estimates;
      j.why = launch.sample != nullptr ? "a sample was counted; allow_estimates = true checks it all the same"
                                       : "its accesses are estimates; allow_estimates = true checks them all the same";
    }
    return j;
  }

  /// Kept until another launch's is asked for: there may be a hundred thousand.
  const LineTable& lines(const LaunchRecord& launch) const {
    if (table_of_ != launch.counts.get())
      table_ = report::line_table(run_.kernels[launch.kernel], *launch.counts, launch.sample.get());
    table_of_ = launch.counts.get();
    return table_;
  }

  const report::RunRecord& run_;
  Allowances& allowances_;
  mutable const void* table_of_ = nullptr;
  mutable LineTable table_;
};

}  // namespace

LimitsReport check_limits(const report::RunRecord& run, const std::vector<Limit>& limits, Allowances& allowances) {
  return Checker(run, allowances).check(limits);
}

}  // namespace warplens::gate
