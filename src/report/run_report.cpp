// SPDX-License-Identifier: Apache-2.0
#include "report/run_report.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "report/finding_view.h"
#include "report/kernel_view.h"
#include "report/line_table.h"
#include "report/number_text.h"

namespace warplens::report {
namespace {

constexpr size_t kMostTableRows = 40, kMostFindings = 10;

std::string head(const RunRecord& run, size_t groups, const TextStyle& style) {
  uint64_t counted = 0, sampled = 0;
  for (const auto& l : run.launches) {
    counted += l.counts != nullptr ? 1 : 0;
    sampled += l.sample != nullptr ? 1 : 0;
  }
  std::string text = fmt::format("warplens: {}", run.program);
  if (!run.gpu.empty()) text += " on a virtual " + run.gpu;
  text += fmt::format(": {}", plural(run.launches.size(), "launch"));
  if (groups != run.launches.size()) text += fmt::format(" of {}", plural(groups, "kernel shape"));
  if (counted != run.launches.size()) text += fmt::format(", {} counted", grouped(counted));
  if (sampled != 0)
    text += fmt::format(", {} by a sample of {} blocks", grouped(sampled), sampled == 1 ? "its" : "their");
  std::string lines = wrapped(text, style.width, 0);
  lines.pop_back();
  return painted(style, Tone::kHeading, lines) + "\n";
}

std::string end_text(const RunRecord& run) {
  std::string out;
  if (run.end.timed_out)
    out += "note: the time limit ended the program; the report is what was counted until then\n";
  else if (run.end.interrupted)
    out += "note: the program was interrupted; the report is what was counted until then\n";
  else if (run.end.signal != 0)
    out += fmt::format("note: the program was ended by signal {} ({})\n", run.end.signal, strsignal(run.end.signal));
  if (run.damaged_lines != 0)
    out += fmt::format("warning: {} of the record could not be read; the report may be incomplete\n",
                       plural(run.damaged_lines, "line"));
  return out;
}

std::string findings_text(const RunRecord& run, const TextStyle& style) {
  std::string out;
  std::vector<const events::Finding*> shown;
  size_t left = 0;
  for (const auto& l : run.launches) {
    for (const auto& f : l.findings) {
      if (std::ranges::any_of(shown, [&](const events::Finding* earlier) { return is_repeated(f, *earlier); }))
        continue;
      if (shown.size() == kMostFindings) {
        ++left;
        continue;
      }
      shown.push_back(&f);
      out += finding_text(f, style, &run.kernels[l.kernel].info);
    }
  }
  if (left != 0) out += fmt::format("... and {} more\n", plural(left, "finding"));
  return out;
}

std::string legend(const std::vector<FoldedLaunch>& groups, const TextStyle& style) {
  bool estimates = false, sectors = false, wavefronts = false, sampled = false;
  for (const auto& g : groups) {
    sectors |= g.totals.all(Memory::kGlobal).requests != 0;
    wavefronts |= g.totals.all(Memory::kShared).requests != 0;
    sampled |= g.sample.has_value();
    for (int m = 0; m < kMemories; ++m)
      for (int k = 0; k < kKinds; ++k) estimates |= g.totals.by[m][k].estimate;
  }
  std::string text = "A request is one memory instruction of a warp (32 threads).";
  if (sectors)
    text +=
        " A sector is 32 bytes, the unit in which memory is moved. Ideal is what a request would need if its "
        "addresses lay side by side; wasted is the share above that. Moved is counted where warps ask (at the L1 "
        "cache); caches may spare memory a part of it.";
  if (wavefronts)
    text +=
        " A wavefront is one pass through shared memory; threads that need different words of one bank need more "
        "passes.";
  if (estimates && !sampled) text += " Rows marked ~ are estimates; all others are exact.";
  if (sampled) {
    text +=
        " Where a sample of the blocks was counted, all numbers are estimates: an error is that of a sum's parts, "
        "added "
        "up, and does not know of rare blocks that the sample missed.";
    if (estimates) text += " Rows marked ~ are modelled; all others are exact for the blocks that were counted.";
  }
  std::string out = "\n";
  std::string body = wrapped(text, style.width, 0);
  body.pop_back();
  return out + painted(style, Tone::kFaint, body) + "\n";
}

}  // namespace

std::string run_text(const RunRecord& run, const TextOptions& options) {
  const std::vector<FoldedLaunch> groups = fold(run, options.folding);
  const std::vector<size_t> order = worst_first(groups);
  std::string out = head(run, groups.size(), options.style);
  for (const Notice& n : run.notices) out += wrapped("note: " + n.text, options.style.width, 0);
  out += end_text(run) + findings_text(run, options.style);
  if (groups.empty()) return out + "The program launched no kernel.\n";
  if (groups.size() > 1) {
    const std::vector<size_t> top(order.begin(),
                                  order.begin() + static_cast<long>(std::min(order.size(), kMostTableRows)));
    out += "\n" + kernels_text(run, groups, top, options.style);
    if (order.size() > top.size())
      out += fmt::format("... and {} more (--json lists all)\n", order.size() - top.size());
  }
  size_t shown = 0, counted = 0;
  for (size_t i : order) {
    const FoldedLaunch& group = groups[i];
    if (!group.counted && groups.size() > 1) continue;
    if (group.counted) ++counted;
    if (shown == options.kernels) continue;
    ++shown;
    out += "\n" + kernel_text(run, group, options.style);
    if (!group.counted) continue;
    const std::string lines =
        lines_text(line_table(run.kernels[group.kernel], group.counts, group.sampled()), options.lines, options.style);
    if (!lines.empty()) out += "\n" + lines;
  }
  if (counted > shown)
    out += fmt::format("\n{} more without lines here: --kernel REGEX selects, --json FILE has all.\n", counted - shown);
  if (options.legend && counted != 0) out += legend(groups, options.style);
  return out;
}

}  // namespace warplens::report
