// SPDX-License-Identifier: Apache-2.0
#include "gate/difference_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "gate/escape.h"
#include "report/number_text.h"
#include "report/text_table.h"

namespace warplens::gate {
namespace {

/// A comment has room for 65,536 characters, of which the report before takes some; nobody reads a hundred rows.
constexpr size_t kMostRows = 40, kMostMarkdown = 30000;

const char* word(Change change) {
  switch (change) {
    case Change::kBetter: return "better";
    case Change::kWorse: return "worse";
    case Change::kAllowed: return "allowed";
    case Change::kEstimate: return "estimate";
    case Change::kCompiler: return "compiler";
    case Change::kNew: return "new memory";
  }
  return "";
}

report::Tone tone(Change change) {
  return change == Change::kWorse    ? report::Tone::kBad
         : change == Change::kBetter ? report::Tone::kGood
                                     : report::Tone::kPlain;
}

std::string summary(const Difference& d) {
  size_t worse = 0, better = 0, same = 0, compiler = 0;
  for (const KernelChange& k : d.kernels) {
    if (!k.note.empty()) continue;
    const bool improved =
        std::ranges::any_of(k.numbers, [](const NumberChange& n) { return n.change == Change::kBetter; });
    worse += k.worse() ? 1 : 0;
    compiler += k.compiler_before.empty() ? 0 : 1;
    better += !k.worse() && improved ? 1 : 0;
    same += k.numbers.empty() && k.lines.empty() ? 1 : 0;
  }
  std::string text = fmt::format("{} compared: {} worse, {} better, {} the same",
                                 report::plural(d.compared, "kernel shape"), worse, better, same);
  if (compiler != 0) text += fmt::format("; {} by another compiler", compiler);
  return text;
}

/// Why a kernel is in the list although nothing is worse.
std::string remarks(const KernelChange& k) {
  if (!k.note.empty()) return k.note;
  if (k.compiler_before.empty()) return k.source_changed ? "the source changed" : "";
  return fmt::format("compiled by {}, before by {}{}", k.compiler_after, k.compiler_before,
                     k.same_code        ? "; its instructions are the same"
                     : k.source_changed ? "; the source changed too"
                     : k.same_source    ? "; its source files are the same"
                                        : "; no line was replaced, but its source files may differ");
}

std::string place(const LineChange& l) {
  const std::string name = std::filesystem::path(l.file).filename().string();
  return l.line == 0 ? "PTX" : fmt::format("{}:{}", name, l.line);
}

}  // namespace

std::string difference_text(const Difference& d, const std::vector<Issue>& issues, const report::TextStyle& style) {
  std::string out;
  for (Issue i : issues) {
    if (!i.allowed.empty()) {
      i.level = Level::kNote;
      i.message += " (allowed: " + i.allowed + ")";
    }
    out += issue_line(i) + "\n";
  }
  for (const std::string& note : d.notes) out += report::wrapped("note: " + plain(note), style.width, 0);
  for (const KernelChange& k : d.kernels) {
    if (!k.changed()) continue;
    out += "\n" + plain(k.short_name) + (k.shape.empty() ? "" : ", " + plain(k.shape)) + "\n";
    if (const std::string more = remarks(k); !more.empty()) out += report::wrapped(plain(more), style.width, 2);
    report::TextTable table({{""}, {"before"}, {"after"}, {""}}, 20);
    for (const NumberChange& n : k.numbers)
      table.add({{plain(n.what)},
                 {numbers_shown(n.before, n.after).first},
                 {numbers_shown(n.before, n.after).second},
                 {word(n.change), tone(n.change)}});
    for (const LineChange& l : k.lines) {
      table.add_heading(fmt::format("{}  {}", plain(place(l)), plain(l.text)));
      for (const NumberChange& n : l.numbers)
        table.add({{"  " + plain(l.label) + ": " + plain(n.what)},
                   {numbers_shown(n.before, n.after).first},
                   {numbers_shown(n.before, n.after).second},
                   {word(n.change), tone(n.change)}});
    }
    if (!table.empty()) out += table.render(style, 2);
  }
  return out + (out.empty() ? "" : "\n") + summary(d) + "\n";
}

std::string difference_markdown(const Difference& d) {
  std::string out = fmt::format("### Warplens: {}\n\n{}.\n", d.worse() ? "worse than before" : "not worse than before",
                                markdown_text(summary(d)));
  size_t left = 0;
  for (const std::string& note : d.notes) out += fmt::format("\n**Note:** {}.\n", markdown_text(note));
  for (const KernelChange& k : d.kernels) {
    if (!k.changed()) continue;
    if (out.size() > kMostMarkdown) {
      ++left;
      continue;
    }
    out += fmt::format("\n{}{}\n", markdown_code(k.short_name), k.shape.empty() ? "" : ", " + markdown_text(k.shape));
    if (const std::string more = remarks(k); !more.empty()) out += fmt::format("\n{}.\n", markdown_text(more));
    if (k.numbers.empty() && k.lines.empty()) continue;
    out += "\n| | before | after | |\n|---|---:|---:|---|\n";
    size_t rows = 0;
    const auto row = [&](const std::string& what, const NumberChange& n) {
      if (++rows > kMostRows || out.size() > kMostMarkdown) return;
      const auto [before, after] = numbers_shown(n.before, n.after);
      out += fmt::format("| {} | {} | {} | {} |\n", what, before, after,
                         n.change == Change::kWorse ? "**worse**" : word(n.change));
    };
    for (const NumberChange& n : k.numbers) row(markdown_text(n.what), n);
    for (const LineChange& l : k.lines)
      for (const NumberChange& n : l.numbers)
        row(fmt::format("{} {} {}: {}", markdown_text(place(l)), markdown_cell(l.text), markdown_text(l.label),
                        markdown_text(n.what)),
            n);
    if (rows > kMostRows) out += fmt::format("\n... and {} more.\n", rows - kMostRows);
  }
  if (left != 0) out += fmt::format("\n... and {} more.\n", report::plural(left, "kernel shape"));
  return out;
}

}  // namespace warplens::gate
