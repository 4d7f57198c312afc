// SPDX-License-Identifier: Apache-2.0
#include "gate/allowances.h"

#include <fmt/format.h>

#include <algorithm>

#include "gate/rules.h"
#include "report/fold.h"
#include "report/line_table.h"
#include "report/source_text.h"

namespace warplens::gate {
namespace {

constexpr std::string_view kMark = "warplens:";
constexpr const char* kForm = "write: // warplens: allow(RULE) reason";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Nothing, or only a comment: an allowance there speaks of what follows.
bool has_no_code(std::string_view line) {
  line = trimmed(line);
  return line.empty() || line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
}

class Finder {
 public:
  Finder(std::string_view text, const std::string& file, Diagnostics& faults) : file_(file), faults_(faults) {
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      lines_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }

  std::vector<Allowance> find() {
    std::vector<Allowance> found;
    for (size_t i = 0; i < lines_.size(); ++i) {
      const size_t mark = lines_[i].find(kMark);
      if (mark == std::string_view::npos) continue;
      const size_t comment = std::min(lines_[i].find("//"), lines_[i].find("/*"));
      if (comment > mark) continue;
      if (auto allowance = read(lines_[i], comment, mark, i)) found.push_back(std::move(*allowance));
    }
    return found;
  }

 private:
  std::optional<Allowance> read(std::string_view line, size_t comment, size_t mark, size_t index) {
    const SourcePos pos{static_cast<uint32_t>(index + 1), static_cast<uint32_t>(mark + 1)};
    std::string_view rest = trimmed(line.substr(mark + kMark.size()));
    const size_t close = rest.find(')');
    if (!rest.starts_with("allow(") || close == std::string_view::npos) {
      // A comment that speaks of the tool in prose is nobody's mistake.
      if (rest.starts_with("allow")) faults_.push_back(make_error_at(file_, pos, "not an allowance", kForm));
      return std::nullopt;
    }
    Allowance a;
    a.at_line = pos.line;
    a.at_column = pos.column;
    std::string_view names = rest.substr(6, close - 6);
    while (!names.empty()) {
      const std::string_view name = trimmed(names.substr(0, names.find(',')));
      names.remove_prefix(std::min(names.size(), names.find(',') == names.npos ? names.size() : names.find(',') + 1));
      if (!add_rule(a, name, pos)) return std::nullopt;
    }
    std::string_view reason = rest.substr(close + 1);
    if (line[comment + 1] == '*') reason = reason.substr(0, reason.find("*/"));
    reason = trimmed(reason);
    a.reason = reason;
    if (a.rules.empty() || a.reason.empty()) {
      faults_.push_back(make_error_at(
          file_, pos, a.rules.empty() ? "an allowance names no rule" : "an allowance gives no reason", kForm));
      return std::nullopt;
    }
    size_t of = index;
    if (has_no_code(line)) do
        ++of;
      while (of < lines_.size() && has_no_code(lines_[of]));
    a.line = static_cast<uint32_t>(of + 1);
    return a;
  }

  bool add_rule(Allowance& a, std::string_view name, SourcePos pos) {
    const Rule* rule = find_rule(name);
    if (rule != nullptr && rule->at_lines) {
      a.rules.push_back(rule->id);
      return true;
    }
    Diagnostic fault =
        rule != nullptr ? make_error(fmt::format("'{}' cannot be allowed at a line", name)) : unknown_rule(name);
    fault.file = file_;
    fault.pos = pos;
    faults_.push_back(std::move(fault));
    return false;
  }

  const std::string& file_;
  Diagnostics& faults_;
  std::vector<std::string_view> lines_;
};

}  // namespace

std::vector<Allowance> find_allowances(std::string_view text, const std::string& file, Diagnostics& faults) {
  if (text.find(kMark) == std::string_view::npos) return {};
  return Finder(text, file, faults).find();
}

Allowances::Allowances(const report::RunRecord& run) : run_(run) {
  for (const report::KernelRecord& kernel : run.kernels) {
    for (const std::string& file : kernel.info.files) {
      if (file.empty()) continue;
      const auto [it, fresh] = by_file_.try_emplace(file);
      if (!fresh) continue;
      for (Allowance& a : find_allowances(report::source_file(file), file, faults_))
        it->second.push_back({std::move(a), {}});
    }
  }
}

bool Allowances::any() const {
  return std::ranges::any_of(by_file_, [](const auto& file) { return !file.second.empty(); });
}

const std::string* Allowances::find(std::string_view rule, const std::string& file, uint32_t line) {
  const auto entries = by_file_.find(file);
  if (entries == by_file_.end()) return nullptr;
  for (Entry& entry : entries->second) {
    if (entry.allowance.line != line || std::ranges::find(entry.allowance.rules, rule) == entry.allowance.rules.end())
      continue;
    entry.used.insert(rule);
    return &entry.allowance.reason;
  }
  return nullptr;
}

const std::set<std::pair<std::string, uint32_t>>& Allowances::executed() const {
  if (executed_) return *executed_;
  executed_.emplace();
  for (const report::FoldedLaunch& group : report::fold(run_, report::Folding::kByShape)) {
    if (!group.counted || !group.complete) continue;
    const report::LineTable table = report::line_table(run_.kernels[group.kernel], group.counts, group.sampled());
    if (table.from_ptx) continue;
    for (const report::LineRow& row : table.rows)
      if (row.instructions != 0) executed_->emplace(row.file, row.line);
  }
  return *executed_;
}

std::vector<Issue> Allowances::unused(const std::set<std::string_view>& judged) const {
  std::vector<Issue> issues;
  for (const auto& [file, entries] : by_file_) {
    for (const Entry& entry : entries) {
      for (const std::string_view rule : entry.allowance.rules) {
        if (!judged.contains(rule) || entry.used.contains(rule)) continue;
        // A line that never ran may have something to allow another time.
        if (!executed().contains({file, entry.allowance.line})) continue;
        Issue issue;
        issue.rule = "unused-allowance";
        issue.message = fmt::format("allow({}) has nothing to allow here; take it out", rule);
        issue.file = file;
        issue.line = entry.allowance.at_line;
        issue.column = entry.allowance.at_column;
        issue.text = report::source_line(file, entry.allowance.at_line);
        issues.push_back(std::move(issue));
      }
    }
  }
  return issues;
}

}  // namespace warplens::gate
