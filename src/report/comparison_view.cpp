// SPDX-License-Identifier: Apache-2.0
#include "report/comparison_view.h"

#include <fmt/format.h>

#include "report/explain.h"
#include "report/kernel_view.h"
#include "report/line_view.h"
#include "report/number_text.h"
#include "report/text_table.h"

namespace warplens::report {
namespace {

std::string factor(double a, double b) {
  if (a == b) return "the same";
  if (a == 0 || b == 0) return "";
  const double more = std::max(a, b) / std::min(a, b);
  return more < 1.005 ? "about the same" : fmt::format("{:.1f} x", more);
}

void add_counts(TextTable& table, const char* label, uint64_t a, uint64_t b) {
  table.add({{label}, {counted(a, 12)}, {counted(b, 12)}, {factor(static_cast<double>(a), static_cast<double>(b))}});
}

/// The access of `side` with the largest excess, with its line; null members when nothing is wasted.
struct Worst {
  LineTable table;
  const LineRow* row = nullptr;
  const AccessRow* access = nullptr;
};

Worst worst_of(const Side& side) {
  Worst w;
  w.table = line_table(side.run->kernels[side.group.kernel], side.group.counts, side.group.sampled());
  for (const LineRow& row : w.table.rows) {
    for (const AccessRow& a : row.accesses) {
      if (a.traffic.excess() <= (w.access != nullptr ? w.access->traffic.excess() : 0)) continue;
      w.row = &row;
      w.access = &a;
    }
  }
  return w;
}

std::string reason(const Side& more, const Side& less, const TextStyle& style) {
  const std::string name = shown_name(*more.run, more.group.kernel);
  const Worst w = worst_of(more);
  const Traffic a = more.group.totals.all(Memory::kGlobal), b = less.group.totals.all(Memory::kGlobal);
  if (w.access == nullptr || w.access->memory == Memory::kShared || a.sectors == b.sectors) return {};
  const double share = Traffic::ratio(w.access->traffic.excess_sectors(), a.sectors - b.sectors);
  const std::string subject = w.access->parameter.empty()
                                  ? ""
                                  : (w.access->kind == Kind::kRead ? ", reading " : ", writing ") + w.access->parameter;
  std::string text =
      fmt::format("Why: {}{}. In {}, {}.", place_text(w.table, *w.row), subject, name, explain(*w.access));
  if (share >= 0.5)
    text += fmt::format(" That alone is {} needless sectors of the {} more.",
                        counted(w.access->traffic.excess_sectors(), 12), counted(a.sectors - b.sectors, 12));
  return wrapped(text, style.width, 0);
}

}  // namespace

bool pick_side(const RunRecord& run, Side& side) {
  side.run = nullptr;
  for (FoldedLaunch& g : fold(run, Folding::kByShape)) {
    if (!g.counted) continue;
    if (side.run != nullptr && g.totals.all(Memory::kGlobal).sectors <= side.group.totals.all(Memory::kGlobal).sectors)
      continue;
    side.run = &run;
    side.group = std::move(g);
  }
  return side.run != nullptr;
}

std::string comparison_text(const Side& a, const Side& b, const TextStyle& style) {
  const Traffic x = a.group.totals.all(Memory::kGlobal), y = b.group.totals.all(Memory::kGlobal);
  const Traffic s = a.group.totals.all(Memory::kShared), t = b.group.totals.all(Memory::kShared);
  TextTable table(
      {{"global memory"}, {shown_name(*a.run, a.group.kernel)}, {shown_name(*b.run, b.group.kernel)}, {"", 50}}, 20);
  add_counts(table, "requests", x.requests, y.requests);
  add_counts(table, "sectors", x.sectors, y.sectors);
  add_counts(table, "ideal sectors", x.ideal_sectors, y.ideal_sectors);
  table.add({{"sectors per request"},
             {ratio_text(x.sectors_per_request())},
             {ratio_text(y.sectors_per_request())},
             {factor(x.sectors_per_request(), y.sectors_per_request())}});
  table.add({{"bytes asked"},
             {bytes_text(x.bytes_asked)},
             {bytes_text(y.bytes_asked)},
             {factor(static_cast<double>(x.bytes_asked), static_cast<double>(y.bytes_asked))}});
  table.add({{"bytes moved"},
             {bytes_text(x.bytes_moved())},
             {bytes_text(y.bytes_moved())},
             {factor(static_cast<double>(x.sectors), static_cast<double>(y.sectors)), Tone::kHeading}});
  table.add({{"wasted"},
             {percent_text(x.excess_share()), tone_of_waste(x.excess_share())},
             {percent_text(y.excess_share()), tone_of_waste(y.excess_share())},
             {""}});
  if (s.wavefronts + t.wavefronts != 0) add_counts(table, "shared wavefronts", s.wavefronts, t.wavefronts);
  std::string out = table.render(style, 0);
  for (const Side* side : {&a, &b})
    if (side->group.sample)
      out += wrapped(fmt::format("{}: estimates from {} of {} blocks.", shown_name(*side->run, side->group.kernel),
                                 grouped(side->group.sample->counted_blocks), grouped(side->group.sample->blocks)),
                     style.width, 0);
  return out + (x.sectors >= y.sectors ? reason(a, b, style) : reason(b, a, style));
}

}  // namespace warplens::report
