// SPDX-License-Identifier: Apache-2.0
#include "gate/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "report/traffic.h"

namespace warplens::gate {
namespace {

/// Numbers of a kernel of which more is worse. Excess is what the profiler calls so: without what atomics ask again.
struct Number {
  const char* name;
  double (*of)(const StoredTraffic&);
};
constexpr Number kNumbers[] = {
    {"requests", [](const StoredTraffic& t) { return static_cast<double>(t.requests); }},
    {"bytes asked", [](const StoredTraffic& t) { return static_cast<double>(t.bytes_asked); }},
    {"sectors", [](const StoredTraffic& t) { return static_cast<double>(t.sectors); }},
    {"excessive sectors",
     [](const StoredTraffic& t) { return static_cast<double>(t.sectors - t.repeated_sectors - t.ideal_sectors); }},
    {"lines", [](const StoredTraffic& t) { return static_cast<double>(t.lines); }},
    {"wavefronts", [](const StoredTraffic& t) { return static_cast<double>(t.wavefronts); }},
    {"excessive wavefronts",
     [](const StoredTraffic& t) { return static_cast<double>(t.wavefronts - t.ideal_wavefronts); }},
};
bool is_excess(const Number& n) { return std::string_view(n.name).starts_with("excessive"); }

bool says_something(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return std::isalnum(c) != 0; });
}

bool any_worse(const std::vector<NumberChange>& numbers) {
  return std::ranges::any_of(numbers, [](const NumberChange& n) { return n.change == Change::kWorse; });
}

struct Judge {
  const Growth& growth;
  bool by_compiler = false;

  enum class More { kWorse, kBetter, kNew };

  void add(std::vector<NumberChange>& to, std::string what, double before, double after, bool exact, More more) const {
    const double scale = std::max({std::abs(before), std::abs(after), 1.0});
    if (std::abs(before - after) <= 1e-9 * scale) return;
    Change change = Change::kBetter;
    if (!exact)
      change = Change::kEstimate;
    else if (more == More::kBetter ? after < before : after > before)
      change = more == More::kNew                                      ? Change::kNew
               : by_compiler                                           ? Change::kCompiler
               : more == More::kWorse && growth.allows(before, after)  ? Change::kAllowed
               : more == More::kBetter && growth.allows(after, before) ? Change::kAllowed
                                                                       : Change::kWorse;
    to.push_back({std::move(what), before, after, change});
  }
};

class GroupComparer {
 public:
  GroupComparer(const StoredGroup& before, const StoredGroup& after, const Judge& judge, KernelChange& to)
      : before_(before), after_(after), judge_(judge), to_(to) {}

  void compare() {
    compare_totals();
    if (before_.occupancy && after_.occupancy)
      judge_.add(to_.numbers, "occupancy", *before_.occupancy, *after_.occupancy,
                 before_.occupancy_exact && after_.occupancy_exact, Judge::More::kBetter);
    compare_lines();
    // 1e-6: growth is a quotient of sums over launches.
    for (NumberChange& n : to_.numbers)
      if (const auto sum = at_lines_.find(n.what); sum != at_lines_.end())
        n.at_lines = n.after - n.before <= sum->second * (1 + 1e-6);
  }

 private:
  double per_launch(double sum, const StoredGroup& group) const { return sum / static_cast<double>(group.launches); }

  void compare_totals() {
    std::map<std::pair<std::string, std::string>, std::pair<StoredTraffic, StoredTraffic>> both;
    for (const StoredTraffic& t : before_.totals) both[{t.memory, t.kind}].first = t;
    for (const StoredTraffic& t : after_.totals) both[{t.memory, t.kind}].second = t;
    std::set<std::string> known;
    for (const StoredTraffic& t : before_.totals) known.insert(t.memory);
    for (const auto& [key, traffic] : both) {
      const auto& [a, b] = traffic;
      // The first use of shared memory is how kernels are made faster: only its waste is held against them. Local
      // memory is what the compiler falls back to.
      const bool is_new = !known.contains(key.first) && key.first != report::word(report::Memory::kLocal);
      // A kind of access that one side lacks altogether is exactly none.
      const bool exact = (a.exact || a.memory.empty()) && (b.exact || b.memory.empty());
      for (const Number& n : kNumbers)
        judge_.add(to_.numbers, fmt::format("{} {} {}", key.first, key.second, n.name), per_launch(n.of(a), before_),
                   per_launch(n.of(b), after_), exact,
                   is_new && !is_excess(n) ? Judge::More::kNew : Judge::More::kWorse);
    }
  }

  using Key = std::tuple<std::string, std::string, std::string, std::string>;  // text, memory, kind, parameter
  struct Access {
    const StoredLine* line;
    StoredTraffic traffic;
  };

  static std::map<Key, std::vector<Access>> accesses_of(const StoredGroup& group) {
    std::vector<const StoredLine*> lines;
    for (const StoredLine& l : group.lines) lines.push_back(&l);
    std::ranges::stable_sort(lines, [](const StoredLine* a, const StoredLine* b) {
      return std::tie(a->file, a->line, a->ptx_line) < std::tie(b->file, b->line, b->ptx_line);
    });
    std::map<Key, std::vector<Access>> all;
    for (const StoredLine* l : lines) {
      std::vector<StoredTraffic> sorted = l->accesses;
      std::ranges::stable_sort(sorted, {}, &StoredTraffic::column);
      for (const StoredTraffic& t : sorted) all[{code_text(l->text), t.memory, t.kind, t.parameter}].push_back({l, t});
    }
    return all;
  }

  /// Lines of one text cannot be told apart: they are paired by what they waste, so that what only changed places is no
  /// difference. What one side has more of is the worst of the later, which may be new, or of the earlier report.
  static void sort_by_waste(std::vector<Access>& accesses, bool worst_first) {
    std::ranges::stable_sort(accesses, [&](const Access& a, const Access& b) {
      double of_a = 0, of_b = 0;
      for (const Number& n : kNumbers) {
        if (!is_excess(n)) continue;
        of_a += n.of(a.traffic);
        of_b += n.of(b.traffic);
      }
      return worst_first ? of_a > of_b : of_a < of_b;
    });
  }

  void compare_lines() {
    auto before = accesses_of(before_), after = accesses_of(after_);
    for (auto& [key, accesses] : after) {
      const auto old = before.find(key);
      if (old != before.end()) {
        const bool fewer = accesses.size() <= old->second.size();
        sort_by_waste(accesses, fewer);
        sort_by_waste(old->second, fewer);
      }
      const size_t known = old == before.end() ? 0 : std::min(accesses.size(), old->second.size());
      for (size_t i = 0; i < accesses.size(); ++i) {
        if (i < known) {
          compare(old->second[i], accesses[i]);
        } else if (kernel_is_worse(std::get<1>(key), std::get<2>(key))) {
          // The line is new, and the kernel wastes more than it did: this is where to look.
          StoredTraffic none;
          none.exact = accesses[i].traffic.exact;
          compare({accesses[i].line, none}, accesses[i]);
        }
      }
    }
    std::ranges::stable_sort(to_.lines, std::ranges::greater(), growth_of);
  }

  static double growth_of(const LineChange& l) {
    double growth = 0;
    for (const NumberChange& n : l.numbers) growth = std::max(growth, n.after - n.before);
    return growth;
  }

  bool kernel_is_worse(const std::string& memory, const std::string& kind) const {
    return std::ranges::any_of(to_.numbers, [&](const NumberChange& n) {
      return n.change == Change::kWorse && n.what.starts_with(memory + " " + kind + " excessive");
    });
  }

  void compare(const Access& a, const Access& b) {
    LineChange change;
    for (const Number& n : kNumbers)
      if (is_excess(n))
        judge_.add(change.numbers, n.name, per_launch(n.of(a.traffic), before_), per_launch(n.of(b.traffic), after_),
                   a.traffic.exact && b.traffic.exact, Judge::More::kWorse);
    if (change.numbers.empty()) return;
    if (any_worse(change.numbers))
      for (const Number& n : kNumbers)
        at_lines_[fmt::format("{} {} {}", b.traffic.memory, b.traffic.kind, n.name)] +=
            per_launch(n.of(b.traffic), after_) - per_launch(n.of(a.traffic), before_);
    change.file = b.line->file;
    change.line = b.line->line;
    change.column = b.line->line == 0 ? 0 : b.traffic.column;
    change.text = b.line->text;
    change.label = b.traffic.parameter.empty() ? b.traffic.kind : b.traffic.kind + " " + b.traffic.parameter;
    to_.lines.push_back(std::move(change));
  }

  const StoredGroup& before_;
  const StoredGroup& after_;
  const Judge& judge_;
  KernelChange& to_;
  std::map<std::string, double> at_lines_;  ///< by how much the lines that are worse grew, for each number
};

class Comparer {
 public:
  Comparer(const StoredReport& before, const StoredReport& after, const Growth& growth)
      : before_(before), after_(after), growth_(growth) {}

  Difference compare() {
    difference_.before = before_.path;
    difference_.after = after_.path;
    add_notes();
    std::set<const StoredKernel*> paired;
    for (const StoredKernel& kernel : after_.kernels) {
      const StoredKernel* old = counterpart(kernel);
      if (old != nullptr) paired.insert(old);
      compare(old, kernel);
    }
    for (const StoredKernel& kernel : before_.kernels)
      if (!paired.contains(&kernel)) add_note(kernel, "", "only in the earlier report");
    return std::move(difference_);
  }

 private:
  void add_notes() {
    if (before_.gpu != after_.gpu)
      difference_.notes.push_back(fmt::format("the GPU changed from {} to {}", before_.gpu, after_.gpu));
    if (before_.version != after_.version)
      difference_.notes.push_back(
          fmt::format("warplens {} made the earlier report, {} the later: if a rule of counting "
                      "changed between them, numbers differ",
                      before_.version, after_.version));
    if (!before_.whole) difference_.notes.push_back("the earlier report is of a run that did not end by itself");
    if (!after_.whole) difference_.notes.push_back("the later report is of a run that did not end by itself");
  }

  void add_note(const StoredKernel& kernel, std::string shape, std::string note) {
    KernelChange change;
    change.name = kernel.name;
    change.short_name = kernel.short_name;
    change.shape = std::move(shape);
    change.note = std::move(note);
    difference_.kernels.push_back(std::move(change));
  }

  /// By mangled name; else by the short one, where it is the only of that name on both sides (its parameters changed).
  /// Several modules may have kernels of one name: the n-th goes with the n-th.
  const StoredKernel* counterpart(const StoredKernel& kernel) const {
    const StoredKernel* found = nullptr;
    const auto named = [&](const StoredKernel& k) { return k.name == kernel.name; };
    auto nth = std::count_if(after_.kernels.data(), &kernel, named);
    for (const StoredKernel& k : before_.kernels)
      if (named(k) && nth-- == 0) return &k;
    if (std::ranges::any_of(before_.kernels, named)) return nullptr;
    const auto short_named = [&](const StoredKernel& k) { return k.short_name == kernel.short_name; };
    if (std::ranges::count_if(after_.kernels, short_named) != 1) return nullptr;
    for (const StoredKernel& k : before_.kernels) {
      if (!short_named(k)) continue;
      if (found != nullptr) return nullptr;
      found = &k;
    }
    return found;
  }

  static std::vector<const StoredGroup*> counted(const StoredKernel& kernel) {
    std::vector<const StoredGroup*> groups;
    for (const StoredGroup& g : kernel.groups)
      if (g.counted && g.complete) groups.push_back(&g);
    return groups;
  }

  void compare(const StoredKernel* old, const StoredKernel& kernel) {
    if (old == nullptr) return add_note(kernel, "", "only in the later report");
    const auto before = counted(*old), after = counted(kernel);
    if (after.empty()) return add_note(kernel, "", "not counted to its end in the later report");
    if (before.empty()) return add_note(kernel, "", "not counted to its end in the earlier report");
    for (const StoredGroup* group : after) {
      const std::string shape = fmt::format("grid {}, block {}", group->grid, group->block);
      const auto same = std::ranges::find_if(before, [&](const StoredGroup* g) { return g->shape == group->shape; });
      const bool one = before.size() == 1 && after.size() == 1;
      const auto threads = [](const StoredGroup& g) { return g.grid_blocks * g.block_threads; };
      if (same != before.end())
        compare(*old, **same, kernel, *group, shape);
      else if (one && threads(*before[0]) == threads(*group))
        compare(*old, *before[0], kernel, *group,
                fmt::format("{} (was grid {}, block {})", shape, before[0]->grid, before[0]->block));
      else
        add_note(kernel, shape, "launched with this shape only in the later report");
    }
    for (const StoredGroup* group : before) {
      const bool here = std::ranges::any_of(after, [&](const StoredGroup* g) { return g->shape == group->shape; });
      if (!here && !(before.size() == 1 && after.size() == 1))
        add_note(kernel, fmt::format("grid {}, block {}", group->grid, group->block),
                 "launched with this shape only in the earlier report");
    }
  }

  /// A line was edited: each side has a text that the other lacks. One side alone proves nothing, since compilers
  /// differ in which lines they leave instructions to.
  static bool source_changed(const StoredGroup& a, const StoredGroup& b) {
    if (!a.line_information || !b.line_information) return false;
    const auto texts = [](const StoredGroup& g) {
      std::set<std::string> all;
      for (const StoredLine& l : g.lines)
        if (says_something(l.text)) all.insert(code_text(l.text));
      return all;
    };
    const std::set<std::string> before = texts(a), after = texts(b);
    const auto lacks = [](const std::set<std::string>& x, const std::set<std::string>& y) {
      return std::ranges::any_of(x, [&](const std::string& t) { return !y.contains(t); });
    };
    return lacks(before, after) && lacks(after, before);
  }

  void compare(const StoredKernel& old, const StoredGroup& before, const StoredKernel& kernel, const StoredGroup& after,
               std::string shape) {
    KernelChange change;
    change.name = kernel.name;
    change.short_name = kernel.short_name;
    change.shape = std::move(shape);
    change.source_changed = source_changed(before, after);
    change.same_code = !old.ptx_hash.empty() && old.ptx_hash == kernel.ptx_hash;
    if (!old.compiler.empty() && !kernel.compiler.empty() && old.compiler != kernel.compiler) {
      change.compiler_before = old.compiler;
      change.compiler_after = kernel.compiler;
    }
    change.same_source = !old.source_hash.empty() && old.source_hash == kernel.source_hash;
    const Judge judge{
        growth_, !change.compiler_before.empty() && !change.source_changed && !change.same_code && change.same_source};
    GroupComparer(before, after, judge, change).compare();
    ++difference_.compared;
    difference_.kernels.push_back(std::move(change));
  }

  const StoredReport& before_;
  const StoredReport& after_;
  const Growth& growth_;
  Difference difference_;
};

std::string change_text(const NumberChange& n) {
  const auto [before, after] = numbers_shown(n.before, n.after);
  return fmt::format("{} {} -> {}", n.what, before, after);
}

/// Of several numbers that are worse the one that says most: excess, then sectors and wavefronts, then the rest.
const NumberChange& headline(const std::vector<NumberChange>& numbers) {
  const auto rank = [](const NumberChange& n) {
    if (n.change != Change::kWorse) return 3;
    if (n.what.find("excessive") != std::string::npos) return 0;
    return n.what.ends_with("sectors") || n.what.ends_with("wavefronts") ? 1 : 2;
  };
  return *std::ranges::min_element(numbers, {}, rank);
}

}  // namespace

bool Growth::allows(double before, double after) const {
  return after <= before + std::max(absolute, relative * std::abs(before));
}

Status set_growth(Growth& to, std::string_view text) {
  const bool relative = text.ends_with('%');
  const std::string_view number = relative ? text.substr(0, text.size() - 1) : text;
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size() || !std::isfinite(value) || value < 0)
    return make_error(fmt::format("--allow-growth needs a number of 0 or more, or a percentage, not '{}'", text),
                      "--allow-growth 5% or --allow-growth 1000");
  (relative ? to.relative : to.absolute) = relative ? value / 100 : value;
  return Done{};
}

bool KernelChange::worse() const {
  return any_worse(numbers) || std::ranges::any_of(lines, [](const LineChange& l) { return any_worse(l.numbers); });
}

bool Difference::worse() const {
  return std::ranges::any_of(kernels, [](const KernelChange& k) { return k.worse(); });
}

Difference compare(const StoredReport& before, const StoredReport& after, const Growth& growth) {
  return Comparer(before, after, growth).compare();
}

Diagnostic nothing_compared(const Difference& difference, const std::string& baseline) {
  std::string why = "neither has a kernel";
  if (!difference.kernels.empty())
    why = fmt::format("{}: {}", difference.kernels[0].short_name, difference.kernels[0].note);
  if (difference.kernels.size() > 1) why += fmt::format(", and {} more", difference.kernels.size() - 1);
  return make_error(fmt::format("nothing was compared with {}: {}", plain(baseline), plain(why)),
                    "make the baseline again from a run that counts these kernels");
}

std::vector<Issue> issues_of(const Difference& difference) {
  std::vector<Issue> issues;
  for (const KernelChange& k : difference.kernels) {
    Issue issue;
    issue.rule = "regression";
    issue.kernel = k.name;
    const std::string compiler =
        k.compiler_before.empty() || k.same_code
            ? ""
            : fmt::format(" (the compiler changed too: {} -> {})", k.compiler_before, k.compiler_after);
    if (!k.worse()) {
      const auto by_compiler = [](const NumberChange& n) { return n.change == Change::kCompiler; };
      const auto number = std::ranges::find_if(k.numbers, by_compiler);
      if (number == k.numbers.end()) continue;
      issue.level = Level::kNote;
      issue.message = fmt::format("{}: {}: its source files are the same, the compiler is not: {} -> {}", k.short_name,
                                  change_text(*number), k.compiler_before, k.compiler_after);
      issues.push_back(issue);
      continue;
    }
    issue.level = Level::kError;
    for (const LineChange& l : k.lines) {
      if (!any_worse(l.numbers)) continue;
      Issue line = issue;
      line.message = fmt::format("{}: {}: {}{}", k.short_name, l.label, change_text(headline(l.numbers)), compiler);
      line.file = l.file;
      line.line = l.line;
      line.column = l.column;
      line.text = l.text;
      issues.push_back(std::move(line));
    }
    // What those lines make up for is said with them, and allowed with them; the rest is the kernel's.
    std::vector<NumberChange> rest = k.numbers;
    std::erase_if(rest, [](const NumberChange& n) { return n.change != Change::kWorse || n.at_lines; });
    if (rest.empty()) continue;
    issue.message = fmt::format("{}: {}{}", k.short_name, change_text(headline(rest)), compiler);
    issues.push_back(std::move(issue));
  }
  return issues;
}

}  // namespace warplens::gate
