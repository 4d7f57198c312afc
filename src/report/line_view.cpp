// SPDX-License-Identifier: Apache-2.0
#include "report/line_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/explain.h"
#include "report/kernel_view.h"
#include "report/number_text.h"
#include "report/source_text.h"
#include "report/text_table.h"

namespace warplens::report {
namespace {

bool has(const LineRow& row, bool shared) {
  return std::any_of(row.accesses.begin(), row.accesses.end(), [&](const AccessRow& a) {
    return a.memory != Memory::kConstant && (a.memory == Memory::kShared) == shared;
  });
}

std::string label_of(const LineRow& row, const AccessRow& access) {
  std::string label = access_label(access);
  if (access.memory == Memory::kLocal) label = "local " + label;
  const bool same_label = std::count_if(row.accesses.begin(), row.accesses.end(), [&](const AccessRow& a) {
                            return a.memory == access.memory && access_label(a) == access_label(access);
                          }) > 1;
  if (same_label && access.column != 0) label += fmt::format(" (column {})", access.column);
  return label;
}

/// Rows of one line in the table of sectors or of wavefronts.
void add_rows(TextTable& table, const LineRow& row, bool shared, bool sampled) {
  for (const AccessRow& a : row.accesses) {
    if (a.memory == Memory::kConstant || (a.memory == Memory::kShared) != shared) continue;
    const Traffic& t = a.traffic;
    const double waste = shared ? t.excess_wavefront_share() : t.excess_share();
    std::vector<Cell> cells = {{"  " + label_of(row, a)}, {counted(t.requests)}};
    if (shared) {
      cells.insert(cells.end(), {{counted(t.wavefronts)},
                                 {ratio_text(t.wavefronts_per_request())},
                                 {ratio_text(t.ideal_wavefronts_per_request())},
                                 {bytes_text(t.bytes_asked)}});
    } else {
      cells.insert(cells.end(), {{counted(t.sectors)},
                                 {ratio_text(t.sectors_per_request())},
                                 {ratio_text(t.ideal_sectors_per_request())},
                                 {counted(t.lines)},
                                 {bytes_text(t.bytes_asked)},
                                 {bytes_text(t.bytes_moved())}});
    }
    cells.push_back({percent_text(waste), tone_of_waste(waste)});
    const double error = shared ? t.wavefront_error_share() : t.sector_error_share();
    table.add(with_error(std::move(cells), sampled, error));
    if (!a.inside.empty()) table.add_heading("    in " + a.inside);
  }
}

std::string memory_lines(const LineTable& table, bool shared, size_t limit, const TextStyle& style) {
  TextTable text = shared ? wavefront_table("source line", table.sampled) : sector_table("source line", table.sampled);
  size_t shown = 0, left = 0;
  const AccessRow* worst = nullptr;
  for (const LineRow& row : table.rows) {
    if (!has(row, shared)) continue;
    if (shown == limit) {
      ++left;
      continue;
    }
    ++shown;
    text.add_heading(place_text(table, row) + (row.text.empty() ? "" : "  " + row.text));
    add_rows(text, row, shared, table.sampled);
    for (const AccessRow& a : row.accesses) {
      const auto excess = [&](const AccessRow& of) {
        return shared ? of.traffic.excess_wavefronts() : of.traffic.excess();
      };
      if ((a.memory == Memory::kShared) == shared && excess(a) > (worst ? excess(*worst) : 0)) worst = &a;
    }
  }
  if (text.empty()) return {};
  std::string out = text.render(style, 2);
  if (left != 0) out += fmt::format("  ... and {} more\n", plural(left, "line"));
  if (worst != nullptr) {
    const std::string subject = worst->parameter.empty() ? "" : worst->parameter + ": ";
    out += wrapped("-> " + subject + explain(*worst) + (table.sampled ? " (in the counted blocks)." : "."), style.width,
                   2);
  }
  return out;
}

std::string instruction_lines(const LineTable& table, size_t limit, const TextStyle& style) {
  std::vector<const LineRow*> rows;
  for (const LineRow& row : table.rows)
    if (row.instructions != 0) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(), [](const LineRow* a, const LineRow* b) {
    if (a->instructions != b->instructions) return a->instructions > b->instructions;
    return std::tie(a->file, a->line) < std::tie(b->file, b->line);
  });
  if (rows.size() > limit) rows.resize(limit);
  if (rows.empty()) return {};
  TextTable text({{"most instructions"}, {"PTX instructions"}, {"active threads of 32", 50}}, 24);
  for (const LineRow* row : rows) {
    const double lanes = Traffic::ratio(row->lanes, row->instructions);
    text.add({{place_text(table, *row)},
              {grouped(row->instructions)},
              {ratio_text(lanes), lanes < 16   ? Tone::kBad
                                  : lanes < 28 ? Tone::kFair
                                               : Tone::kPlain}});
  }
  return text.render(style, 2);
}

}  // namespace

std::string place_text(const LineTable& table, const LineRow& row) {
  if (table.from_ptx) return fmt::format("PTX line {}", row.line);
  if (row.line == 0) return "(no source line)";
  return fmt::format("{}:{}", file_name(row.file), row.line);
}

std::string lines_text(const LineTable& table, const LineLimits& limits, const TextStyle& style) {
  std::string out = memory_lines(table, false, limits.memory_lines, style);
  out += memory_lines(table, true, limits.memory_lines, style);
  if (limits.instruction_lines != 0) out += instruction_lines(table, limits.instruction_lines, style);
  if (table.from_ptx) {
    out += wrapped(
        "hint: the program has no line information, so lines are those of its PTX. "
        "Build it with -lineinfo (nvcc) or -gline-tables-only (clang) to see source lines.",
        style.width, 2);
  }
  return out;
}

}  // namespace warplens::report
