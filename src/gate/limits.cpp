// SPDX-License-Identifier: Apache-2.0
// The limits themselves: their names, how they are written, and their report. Checking is in check_limits.cpp.
#include "gate/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/nearest.h"
#include "report/kernel_name.h"
#include "report/number_text.h"

namespace warplens::gate {
namespace {

struct Named {
  std::string_view name, rule;
  LimitKind kind;
  bool minimum;
};
constexpr Named kNamed[] = {
    {"max_sectors_per_request", "sectors-per-request", LimitKind::kSectorsPerRequest, false},
    {"excessive_sectors", "excessive-sectors", LimitKind::kExcessiveSectors, false},
    {"excessive_wavefronts", "excessive-wavefronts", LimitKind::kExcessiveWavefronts, false},
    {"min_occupancy", "low-occupancy", LimitKind::kOccupancy, true},
    {"max_local_bytes", "local-memory", LimitKind::kLocalBytes, false},
};

constexpr const char* kForm = "such as --limit excessive_sectors=0 or --limit max:launch__registers_per_thread=64";

}  // namespace

std::span<const std::string_view> limit_names() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const Named& n : kNamed) names.push_back(n.name);
    return names;
  }();
  return kNames;
}

Result<Limit> named_limit(std::string_view name) {
  for (const Named& n : kNamed) {
    if (n.name != name) continue;
    Limit limit;
    limit.name = name;
    limit.kind = n.kind;
    limit.minimum = n.minimum;
    return limit;
  }
  const std::string like = nearest(name, limit_names());
  return make_error(fmt::format("there is no limit '{}'", name),
                    like.empty()
                        ? fmt::format("there are {}, and max and min of any metric", fmt::join(limit_names(), ", "))
                        : "did you mean " + like + "?");
}

Result<Limit> metric_limit(std::string_view metric, bool minimum) {
  const auto found = report::metric_list(metric);
  if (!found) return found.error();
  if (found->size() != 1) return make_error(fmt::format("'{}' is not the name of one metric", metric));
  Limit limit;
  limit.name = metric;
  limit.metric = (*found)[0];
  limit.minimum = minimum;
  return limit;
}

Status check_bound(const Limit& limit, double bound) {
  if (bound < 0) return make_error(fmt::format("'{}' cannot be less than 0", limit.name));
  if (limit.kind == LimitKind::kOccupancy && bound > 1)
    return make_error(fmt::format("'{}' is a share from 0 to 1, not {}", limit.name, bound),
                      fmt::format("write {} for {} %", bound / 100, bound));
  return Done{};
}

Result<Limit> parse_limit(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos)
    return make_error(fmt::format("--limit needs NAME=NUMBER, not '{}'", text), kForm);
  const std::string_view name = text.substr(0, equals), number = text.substr(equals + 1);
  double bound = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), bound);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(bound))
    return make_error(fmt::format("--limit {}: '{}' is not a number", name, number), kForm);
  const bool metric = name.starts_with("max:") || name.starts_with("min:");
  auto limit = metric ? metric_limit(name.substr(4), name.starts_with("min:")) : named_limit(name);
  if (!limit) return limit;
  if (const Status good = check_bound(*limit, bound); !good) return good.error();
  limit->bound = bound;
  return limit;
}

std::string limit_text(const Limit& limit) {
  std::string name = limit.name;
  if (limit.kind == LimitKind::kMetric) name = (limit.minimum ? "min " : "max ") + name;
  return fmt::format("{} = {}", name, limit.bound);
}

std::string_view rule_of(const Limit& limit) {
  for (const Named& n : kNamed)
    if (n.kind == limit.kind) return n.rule;
  return "metric-limit";
}

bool LimitsReport::failed() const {
  return std::ranges::any_of(checked, [](const Checked& c) { return c.outcome == Outcome::kFailed; });
}

std::string limits_text(const report::RunRecord& run, const LimitsReport& report) {
  if (report.checked.empty()) return {};
  std::string out;
  size_t failed = 0, left = 0;
  for (const Checked& c : report.checked) {
    if (c.outcome == Outcome::kNotChecked) {
      ++left;
      out += fmt::format("note: {}: {} is not checked: {}\n",
                         plain(report::short_name(run.kernels[c.kernel].info.name)), limit_text(*c.limit), c.why);
    }
    if (c.outcome != Outcome::kFailed) continue;
    ++failed;
    std::string line = issue_line(c.issues.front());
    if (c.issues.size() > 1) line += fmt::format(" and {} more", report::plural(c.issues.size() - 1, "line"));
    out += line + "\n";
  }
  out += fmt::format("limits: {} kept, {} broken", report.checked.size() - failed - left, failed);
  if (left != 0) out += fmt::format(", {} not checked", left);
  return out + "\n";
}

}  // namespace warplens::gate
