// SPDX-License-Identifier: Apache-2.0
#include "report/kernel_view.h"

#include <fmt/format.h>

#include "report/kernel_name.h"
#include "report/number_text.h"
#include "report/text_table.h"

namespace warplens::report {
namespace {

/// "numbers are sums over 3 launches, each the same" or with the range of the headline figure.
std::string sum_note(const FoldedLaunch& group) {
  if (group.launches == 1) return {};
  const Spread& headline = group.sectors.max > 0 ? group.sectors : group.wavefronts;
  if (headline.min == headline.max && group.requests.min == group.requests.max)
    return fmt::format("Numbers are sums over {}, each alike.", plural(group.launches, "launch"));
  return fmt::format("Numbers are sums over {}; one launch has {} to {} {}.", plural(group.launches, "launch"),
                     grouped(static_cast<uint64_t>(headline.min)), grouped(static_cast<uint64_t>(headline.max)),
                     group.sectors.max > 0 ? "sectors" : "wavefronts");
}

/// What numbers stand for when not every block was counted.
std::string sample_note(const FoldedLaunch& group) {
  if (!group.sample) return {};
  const events::LaunchSample& s = *group.sample;
  const std::string counted_blocks = fmt::format("{} of {} blocks", grouped(s.counted_blocks), grouped(s.blocks));
  if (!s.scaled) return "Sampled: numbers are those of the " + counted_blocks + " that were counted until then.";
  const std::string few = s.counted_blocks < 30 * group.launches ? " Errors of so few blocks are rough." : "";
  return fmt::format(
      "Estimates: {} were counted ({:.3g} %), and stand for the others. An error is the standard error of the number "
      "to "
      "its left.{}",
      counted_blocks, 100 * Traffic::ratio(s.counted_blocks, s.blocks), few);
}

std::string row_label(Memory m, Kind k, const Traffic& t) {
  return fmt::format("{} {}{}", word(m), word(k), t.estimate ? " ~" : "");
}

std::string sector_rows(const Totals& totals, bool sampled, const TextStyle& style) {
  TextTable table = sector_table("memory", sampled);
  for (Memory m : {Memory::kGlobal, Memory::kLocal}) {
    for (Kind k : {Kind::kRead, Kind::kWrite, Kind::kAtomic}) {
      const Traffic& t = totals.at(m, k);
      if (t.requests == 0) continue;
      table.add(with_error({{row_label(m, k, t)},
                            {counted(t.requests)},
                            {counted(t.sectors)},
                            {ratio_text(t.sectors_per_request())},
                            {ratio_text(t.ideal_sectors_per_request())},
                            {counted(t.lines)},
                            {bytes_text(t.bytes_asked)},
                            {bytes_text(t.bytes_moved())},
                            {percent_text(t.excess_share()), tone_of_waste(t.excess_share())}},
                           sampled, t.sector_error_share()));
    }
  }
  return table.empty() ? std::string() : table.render(style, 2);
}

std::string wavefront_rows(const Totals& totals, bool sampled, const TextStyle& style) {
  TextTable table = wavefront_table("memory", sampled);
  for (Kind k : {Kind::kRead, Kind::kWrite, Kind::kAtomic}) {
    const Traffic& t = totals.at(Memory::kShared, k);
    if (t.requests == 0) continue;
    table.add(with_error({{row_label(Memory::kShared, k, t)},
                          {counted(t.requests)},
                          {counted(t.wavefronts)},
                          {ratio_text(t.wavefronts_per_request())},
                          {ratio_text(t.ideal_wavefronts_per_request())},
                          {bytes_text(t.bytes_asked)},
                          {percent_text(t.excess_wavefront_share()), tone_of_waste(t.excess_wavefront_share())}},
                         sampled, t.wavefront_error_share()));
  }
  return table.empty() ? std::string() : table.render(style, 2);
}

}  // namespace

TextTable sector_table(const char* what, bool sampled) {
  return TextTable(with_error({{what},
                               {"requests", 60},
                               {"sectors"},
                               {"per request"},
                               {"ideal"},
                               {"lines", 20},
                               {"asked", 40},
                               {"moved", 80},
                               {"wasted"}},
                              sampled),
                   14);
}

TextTable wavefront_table(const char* what, bool sampled) {
  return TextTable(
      with_error({{what}, {"requests", 60}, {"wavefronts"}, {"per request"}, {"ideal"}, {"asked", 40}, {"wasted"}},
                 sampled),
      14);
}

std::vector<Column> with_error(std::vector<Column> columns, bool sampled) {
  if (sampled) columns.insert(columns.begin() + kErrorColumn, {"error"});
  return columns;
}

std::vector<Cell> with_error(std::vector<Cell> cells, bool sampled, double share) {
  if (sampled) cells.insert(cells.begin() + kErrorColumn, {error_text(share)});
  return cells;
}

std::string dim_text(const events::Dim3& d) {
  if (d.z != 1) return fmt::format("{} x {} x {}", d.x, d.y, d.z);
  if (d.y != 1) return fmt::format("{} x {}", d.x, d.y);
  return fmt::format("{}", d.x);
}

std::string shape_text(const FoldedLaunch& group) {
  std::string text = fmt::format("grid {}, block {}", dim_text(group.shape.grid), dim_text(group.shape.block));
  if (group.shape.cluster.count() > 1) text += ", cluster " + dim_text(group.shape.cluster);
  const uint64_t shared = uint64_t{group.shape.static_shared_bytes} + group.shape.dynamic_shared_bytes;
  if (shared != 0) text += fmt::format(", shared {}", bytes_text(shared));
  return text + ", " + plural(group.launches, "launch");
}

Tone tone_of_waste(double share) { return share >= 0.5 ? Tone::kBad : share >= 0.1 ? Tone::kFair : Tone::kGood; }

std::string shown_name(const RunRecord& run, size_t index) {
  const std::string& name = run.kernels[index].info.name;
  const std::string text = short_name(name);
  for (const KernelRecord& other : run.kernels)
    if (other.info.name != name && short_name(other.info.name) == text) return demangled(name);
  return text;
}

std::string kernels_text(const RunRecord& run, const std::vector<FoldedLaunch>& groups,
                         const std::vector<size_t>& order, const TextStyle& style) {
  TextTable table({{"kernel"},
                   {"launches"},
                   {"grid", 50},
                   {"block", 50},
                   {"requests", 40},
                   {"sectors", 90},
                   {"per request"},
                   {"moved", 80},
                   {"wavefronts", 30},
                   {"wasted"}},
                  16);
  for (size_t i : order) {
    const FoldedLaunch& g = groups[i];
    std::vector<Cell> row = {
        {shown_name(run, g.kernel)}, {grouped(g.launches)}, {dim_text(g.shape.grid)}, {dim_text(g.shape.block)}};
    if (g.counted) {
      if (g.sample) row[0].text += " (sampled)";
      const Traffic t = g.totals.all(Memory::kGlobal), shared = g.totals.all(Memory::kShared);
      const double waste = Traffic::ratio(t.excess() + shared.excess(), t.sectors + shared.sectors + shared.wavefronts);
      row.insert(row.end(), {{counted(t.requests)},
                             {counted(t.sectors)},
                             {ratio_text(t.sectors_per_request())},
                             {bytes_text(t.bytes_moved())},
                             {counted(shared.wavefronts)},
                             {percent_text(waste), tone_of_waste(waste)}});
    } else {
      row.insert(row.end(),
                 {{"-"}, {"-"}, {"-"}, {"-"}, {"-"}, {g.complete ? "not counted" : "not finished", Tone::kFaint}});
    }
    table.add(std::move(row));
  }
  return table.render(style, 0);
}

std::string kernel_text(const RunRecord& run, const FoldedLaunch& group, const TextStyle& style) {
  const std::string shape = shape_text(group);
  std::string name = shown_name(run, group.kernel);
  std::string out;
  if (columns(name) + 2 + columns(shape) <= style.width) {
    out = painted(style, Tone::kHeading, name) + "  " + shape + "\n";
  } else {
    out = painted(style, Tone::kHeading, fitted_middle(name, style.width)) + "\n" + wrapped(shape, style.width, 2);
  }
  const std::string occupancy =
      group.occupancy ? wrapped(sentence(*group.occupancy, group.shape.block), style.width, 2) : std::string();
  if (!group.counted)
    return out + occupancy + (group.complete ? "  not counted\n" : "  did not run to its end; not counted\n");
  if (!group.complete) out += "  did not run to its end; the numbers are what was counted until then\n";
  if (const std::string note = sum_note(group); !note.empty()) out += wrapped(note, style.width, 2);
  if (const std::string note = sample_note(group); !note.empty()) out += wrapped(note, style.width, 2);
  const bool sampled = group.sample && group.sample->scaled;
  out += sector_rows(group.totals, sampled, style);
  out += wavefront_rows(group.totals, sampled, style);
  if (const Traffic constant = group.totals.all(Memory::kConstant); constant.requests != 0)
    out +=
        fmt::format("  constant memory{} {} requests, {} passes: {} a request, {} with all threads at one place\n",
                    constant.estimate ? " ~" : "", grouped(constant.requests), grouped(constant.wavefronts),
                    ratio_text(constant.wavefronts_per_request()), ratio_text(constant.ideal_wavefronts_per_request()));
  if (group.totals.instructions == 0) return out + occupancy + "  no warp ran to its end, so nothing was counted\n";
  const double instructions = static_cast<double>(group.totals.instructions);
  const std::string error =
      sampled ? fmt::format(" (error {})", error_text(group.totals.instructions_error / instructions)) : "";
  out += wrapped(fmt::format("{} PTX instructions by warps{}, on average {} of 32 threads active.",
                             grouped(group.totals.instructions), error, ratio_text(group.totals.active_lanes())),
                 style.width, 2);
  return out + occupancy;
}

}  // namespace warplens::report
