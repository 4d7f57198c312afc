// SPDX-License-Identifier: Apache-2.0
#include "gate/observations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "gate/rules.h"
#include "report/explain.h"
#include "report/finding_view.h"
#include "report/fold.h"
#include "report/kernel_name.h"
#include "report/line_table.h"
#include "report/number_text.h"
#include "report/source_text.h"

namespace warplens::gate {
namespace {

using report::AccessRow;
using report::LineRow;
using report::Memory;

/// Less than this share of waste is not worth a remark: rims of tiles, tails of arrays.
constexpr double kWorthSaying = 0.1;

using Key = std::tuple<std::string, std::string, uint32_t, std::string_view>;  // kernel, file, line, rule

Key key_of(const Issue& i) { return {i.kernel, i.file, i.line, i.rule}; }

class Collector {
 public:
  Collector(const report::RunRecord& run, Allowances& allowances) : run_(run), allowances_(allowances) {}

  void take(const std::vector<Issue>& issues) {
    for (const Issue& i : issues) {
      told_.insert(key_of(i));
      issues_.push_back(i);
    }
  }

  void add_findings() {
    for (const report::LaunchRecord& launch : run_.launches) {
      for (const events::Finding& f : launch.findings) {
        const events::KernelInfo& kernel = run_.kernels[launch.kernel].info;
        Issue issue;
        issue.rule = rule_of(f.kind);
        if (issue.rule.empty()) continue;
        issue.level = Level::kError;
        issue.kernel = kernel.name;
        issue.message = fmt::format("{}: {} (block {}, {}, {}, thread {}, {}, {})", report::short_name(kernel.name),
                                    report::message_text(f, &kernel), f.block_index.x, f.block_index.y, f.block_index.z,
                                    f.thread_index.x, f.thread_index.y, f.thread_index.z);
        issue.file = f.file;
        issue.line = f.place.line;
        issue.column = f.place.column;
        issue.text = report::source_line(f.file, f.place.line);
        // The same fault in a hundred launches is one fault.
        if (told_.insert(key_of(issue)).second) issues_.push_back(std::move(issue));
      }
    }
  }

  void add_waste() {
    for (const report::FoldedLaunch& group : report::fold(run_, report::Folding::kByShape)) {
      if (!group.counted) continue;
      const report::KernelRecord& kernel = run_.kernels[group.kernel];
      const report::LineTable table = report::line_table(kernel, group.counts, group.sampled());
      for (const LineRow& row : table.rows)
        for (const AccessRow& access : row.accesses)
          add_access(kernel.info.name, table, row, access, group.sample.has_value());
    }
  }

  std::vector<Issue> finish(const std::set<std::string_view>& judged) {
    for (Issue& i : allowances_.unused(judged)) issues_.push_back(std::move(i));
    std::ranges::stable_sort(issues_, [](const Issue& a, const Issue& b) {
      if (a.level != b.level) return a.level > b.level;
      return std::tie(a.file, a.line, a.column) < std::tie(b.file, b.line, b.column);
    });
    return std::move(issues_);
  }

 private:
  void add_access(const std::string& kernel, const report::LineTable& table, const LineRow& row, const AccessRow& a,
                  bool sampled) {
    const report::Traffic& t = a.traffic;
    const bool shared = a.memory == Memory::kShared, local = a.memory == Memory::kLocal;
    if (a.memory == Memory::kConstant) return;
    const uint64_t excess =
        shared ? t.excess_wavefronts() : t.excess_sectors() - std::min(t.excess_sectors(), t.repeated_sectors);
    Issue issue;
    issue.rule = local ? "local-memory" : shared ? "excessive-wavefronts" : "excessive-sectors";
    if (!local && excess == 0) return;
    if (const std::string* reason = allowances_.find(issue.rule, row.file, row.line)) issue.allowed = *reason;
    const double share = shared ? t.excess_wavefront_share() : t.excess_share();
    if (!local && share < kWorthSaying) return;
    issue.level = t.estimate || sampled ? Level::kNote : Level::kWarning;
    issue.kernel = kernel;
    issue.file = row.file;
    issue.line = row.line;
    issue.column = table.from_ptx ? 0 : a.column;
    issue.text = row.text;
    issue.message = local ? fmt::format("{}: local {}: {} moved", report::short_name(kernel), report::access_label(a),
                                        report::bytes_text(t.bytes_moved()))
                          : fmt::format("{}: {}: {} ({} wasted)", report::short_name(kernel), report::access_label(a),
                                        report::explain(a), report::percent_text(share));
    if (told_.insert(key_of(issue)).second) issues_.push_back(std::move(issue));
  }

  const report::RunRecord& run_;
  Allowances& allowances_;
  std::set<Key> told_;
  std::vector<Issue> issues_;
};

}  // namespace

std::vector<Issue> collect_issues(const report::RunRecord& run, Allowances& allowances, const LimitsReport& limits,
                                  const std::vector<Issue>& more) {
  Collector collector(run, allowances);
  std::set<std::string_view> judged = {"excessive-sectors", "excessive-wavefronts"};
  for (const Checked& c : limits.checked) {
    collector.take(c.issues);
    if (c.outcome != Outcome::kNotChecked) judged.insert(rule_of(*c.limit));
  }
  collector.take(more);
  collector.add_findings();
  collector.add_waste();
  return collector.finish(judged);
}

}  // namespace warplens::gate
