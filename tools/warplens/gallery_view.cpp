// SPDX-License-Identifier: Apache-2.0
#include "warplens/gallery_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/kernel_view.h"
#include "report/number_text.h"
#include "report/text_table.h"

namespace warplens::cli {
namespace {

using report::Cell;
using report::Memory;
using report::Tone;
using report::Traffic;

constexpr size_t kColumns = 12;

/// The row of `topic` with the highest rate, in the unit that most of its rows have; null: nothing was measured. Rungs
/// that time fewer elements than others (an atomic for each) have a low rate, so that rows of different sizes can be
/// compared by it. Latencies are no rates.
const std::pair<const std::string, MeasuredRow>* fastest(const Topic& topic, const MeasuredGallery& measured) {
  const auto belongs = [&](const auto& row) {
    return row.first.starts_with(topic.name + "/") && row.second.unit.starts_with('G');
  };
  std::map<std::string, size_t> rows_of;
  for (const auto& row : measured.rows)
    if (belongs(row)) ++rows_of[row.second.unit];
  const auto usual =
      std::ranges::max_element(rows_of, {}, [](const auto& unit) { return unit.second; });  // of equal ones the first
  const std::pair<const std::string, MeasuredRow>* best = nullptr;
  for (const auto& row : measured.rows)
    if (belongs(row) && row.second.unit == usual->first && (best == nullptr || row.second.figure > best->second.figure))
      best = &row;
  return best;
}

/// "~" marks what is modelled.
std::string with_mark(const std::string& text, bool estimate) { return estimate ? "~" + text : text; }

Cell verified_cell(const RungResult& result) {
  if (result.exit_code == 0) return {"yes", Tone::kGood};
  // A call failed, such as one that this GPU does not have (a cluster on an L4).
  return {result.exit_code == 1 ? "no" : "failed", Tone::kBad};
}

std::vector<Cell> time_cells(const MeasuredRow* measured) {
  if (measured == nullptr) return {{"not measured", Tone::kFaint}, {""}};
  // What is only seen (an error, a count) takes no time.
  return {{measured->us == 0 ? "" : report::duration_text(measured->us)},
          {report::figure_text(measured->figure, measured->unit)}};
}

std::vector<Cell> kernel_cells(const RungForm& form, const report::FoldedLaunch& group) {
  const Traffic global = group.totals.all(Memory::kGlobal), shared = group.totals.all(Memory::kShared),
                local = group.totals.all(Memory::kLocal);
  const double excess = shared.excess_wavefront_share();
  return {{report::shown_name(form.record, group.kernel)},
          {},
          {report::counted(global.requests + shared.requests)},
          {with_mark(report::counted(global.sectors), global.estimate)},
          {report::ratio_text(global.sectors_per_request())},
          {with_mark(report::counted(shared.wavefronts), shared.estimate)},
          {report::counted(shared.excess_wavefronts()), report::tone_of_waste(excess)},
          {with_mark(report::counted(local.sectors), local.sectors != 0)},
          {report::bytes_text(global.bytes_moved())},
          {group.occupancy ? report::percent_text(group.occupancy->of.share) : "-"}};
}

void add_form(report::TextTable& table, const RungResult& result, const RungForm& form,
              const MeasuredGallery& measured) {
  bool first = true;
  for (const report::FoldedLaunch& group : form.groups) {
    std::vector<Cell> cells = kernel_cells(form, group);
    cells[1] = first ? verified_cell(result) : Cell{};
    const std::vector<Cell> time = first ? time_cells(measured.find(form.name)) : std::vector<Cell>(2);
    cells.insert(cells.end(), time.begin(), time.end());
    table.add(std::move(cells));
    first = false;
  }
}

void add_rung(report::TextTable& table, const RungResult& result, const MeasuredGallery& measured,
              const report::TextStyle& style) {
  const std::string idea = result.rung.idea.empty() ? "" : ": " + result.rung.idea;
  table.add_heading(report::fitted(result.rung.name + idea, style.width - 2));
  for (const RungForm& form : result.forms) {
    if (form.name != result.rung.full_name()) table.add_heading(form.name.substr(form.name.find('/') + 1));
    add_form(table, result, form, measured);
  }
  if (!result.forms.empty()) return;
  std::vector<Cell> cells(kColumns, {"-"});
  cells[0] = {"not counted"};
  cells[1] = verified_cell(result);
  const std::vector<Cell> time = time_cells(measured.find(result.rung.full_name()));
  std::copy(time.begin(), time.end(), cells.end() - 2);
  table.add(std::move(cells));
}

/// The sizes of rows, the usual one first: "4096", "67,108,864 (01_atomic_each: 1,048,576)".
std::string sizes_text(const std::map<std::string, uint64_t>& sizes) {
  std::map<uint64_t, size_t> times;
  for (const auto& [name, size] : sizes) ++times[size];
  uint64_t usual = 0;
  for (const auto& [size, n] : times)
    if (usual == 0 || n > times[usual]) usual = size;
  std::string others;
  for (const auto& [name, size] : sizes)
    if (size != usual) others += fmt::format("{}{}: {}", others.empty() ? "" : ", ", name, report::grouped(size));
  return report::grouped(usual) + (others.empty() ? "" : " (" + others + ")");
}

bool any_local(const std::vector<RungResult>& results) {
  for (const RungResult& result : results)
    for (const RungForm& form : result.forms)
      for (const report::FoldedLaunch& group : form.groups)
        if (group.totals.all(Memory::kLocal).requests != 0) return true;
  return false;
}

/// What the numbers are, and whence.
std::string legend(const std::vector<RungResult>& results, const MeasuredGallery& measured) {
  std::map<std::string, uint64_t> here, there;
  std::string date;
  for (const RungResult& result : results) {
    for (const RungForm& form : result.forms) {
      const std::string name = form.name.substr(form.name.find('/') + 1);
      here[name] = form.size;
      if (const MeasuredRow* row = measured.find(form.name)) {
        there[name] = row->size;
        date = std::max(date, row->date);
      }
    }
  }
  std::string text;
  if (!here.empty()) text = fmt::format("Counted here, one launch of each kernel, at size {}. ", sizes_text(here));
  if (!there.empty())
    text += fmt::format("Time and rate: measured, {}, {}, at size {}. ", measured.gpu, date, sizes_text(there));
  return text +
         "Requests are of global and shared memory, sectors and bytes of global memory; wavefronts are passes through "
         "shared memory, excess those that better addresses would save; ~ marks an estimate.";
}

}  // namespace

std::string gallery_list_text(const std::vector<Topic>& topics, const MeasuredGallery& measured,
                              const report::TextStyle& style) {
  size_t names = 5, bests = 16;
  std::vector<std::string> best;
  for (const Topic& topic : topics) {
    const auto* row = fastest(topic, measured);
    best.push_back(row == nullptr ? "not measured"
                                  : fmt::format("{}, {}", row->first.substr(topic.name.size() + 1),
                                                report::figure_text(row->second.figure, row->second.unit)));
    names = std::max(names, topic.name.size());
    bests = std::max(bests, best.back().size());
  }
  const auto line = [&](const std::string& name, const std::string& rungs, const std::string& fast,
                        const std::string& what) {
    const std::string start = fmt::format("{:<{}}  {:>5}  {:<{}}  ", name, names, rungs, fast, bests);
    const size_t left = style.width > start.size() + 20 ? style.width - start.size() : 20;
    std::string text = report::wrapped(what, start.size() + left, start.size());
    return text.replace(0, start.size(), start);
  };
  std::string text = line("topic", "rungs", "fastest measured", "what the rungs compute");
  for (size_t i = 0; i < topics.size(); ++i)
    text += line(topics[i].name, fmt::format("{}", topics[i].rungs.size()), best[i], topics[i].summary);
  if (!measured.gpu.empty()) text += "Measured: " + measured.gpu + ". ";
  return text + "Next: warplens gallery " + (topics.empty() ? "TOPIC" : topics[0].name) + "\n";
}

std::string gallery_text(const Topic& topic, const std::vector<RungResult>& results, const MeasuredGallery& measured,
                         const report::TextStyle& style) {
  report::TextTable table({{"kernel"},
                           {"verified"},
                           {"requests", 40},
                           {"sectors", 50},
                           {"per request", 95},
                           {"wavefronts", 60},
                           {"excess", 90},
                           {"local sectors", any_local(results) ? 85u : 10u},
                           {"moved", 30},
                           {"occupancy", 80},
                           {"time"},
                           {"rate"}},
                          20);
  for (const RungResult& result : results) add_rung(table, result, measured, style);
  return report::painted(style, Tone::kHeading, topic.name) + ": " + topic.summary + "\n\n" + table.render(style, 0) +
         "\n" + report::wrapped(legend(results, measured), style.width, 0);
}

}  // namespace warplens::cli
