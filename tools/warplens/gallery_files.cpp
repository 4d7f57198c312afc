// SPDX-License-Identifier: Apache-2.0
// The gallery's two files, of gallery_view.h: a row or an object for each kernel of a form of a rung, with the numbers
// that `warplens run --csv` has.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/kernel_name.h"
#include "report/metrics.h"
#include "warplens/gallery_view.h"

namespace warplens::cli {
namespace {

using json = nlohmann::ordered_json;

/// Metrics of launches that were added up.
report::MetricInput input_of(const RungForm& form, const report::FoldedLaunch& group) {
  report::LaunchRecord launch;
  launch.kernel = group.kernel;
  launch.shape = group.shape;
  launch.occupancy = group.occupancy;
  launch.counts = std::make_shared<events::LaunchCounts>(group.counts);
  return report::metric_input(form.record.kernels[group.kernel], launch);
}

json number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<int64_t>(value);
  return value;
}

json kernel_json(const RungForm& form, const report::FoldedLaunch& group) {
  const report::MetricInput input = input_of(form, group);
  json values = json::object();
  for (const report::Metric& m : report::metrics())
    if (const auto value = m.value(input)) values[std::string(m.name)] = number(*value);
  const auto dim = [](const events::Dim3& d) { return json::array({d.x, d.y, d.z}); };
  return {{"kernel", report::demangled(form.record.kernels[group.kernel].info.name)},
          {"launches", group.launches},
          {"grid", dim(group.shape.grid)},
          {"block", dim(group.shape.block)},
          {"metrics", std::move(values)}};
}

json measured_json(const MeasuredGallery& measured, const std::string& name) {
  const MeasuredRow* row = measured.find(name);
  if (row == nullptr) return nullptr;
  return {{"gpu", measured.gpu}, {"date", row->date},     {"size", row->size},
          {"us", row->us},       {"figure", row->figure}, {"unit", row->unit}};
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string line_of(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + quoted(cell);
  return line + "\n";
}

/// The row's first cells, of which a rung that was not counted has no more than these.
std::vector<std::string> csv_start(const RungResult& result, const std::string& name, const std::string& size,
                                   const std::string& kernel, const std::string& launches,
                                   const MeasuredGallery& measured) {
  const MeasuredRow* row = measured.find(name);
  return {name,
          result.exit_code == 0 ? "yes" : "no",
          size,
          kernel,
          launches,
          row ? measured.gpu : "",
          row ? fmt::format("{}", row->size) : "",
          row ? fmt::format("{}", row->us) : "",
          row ? fmt::format("{}", row->figure) : "",
          row ? row->unit : "",
          result.not_counted};
}

std::string csv_row(const RungResult& result, const RungForm& form, const report::FoldedLaunch& group,
                    const MeasuredGallery& measured) {
  const json kernel = kernel_json(form, group);
  std::vector<std::string> cells = csv_start(result, form.name, fmt::format("{}", form.size), kernel["kernel"],
                                             fmt::format("{}", group.launches), measured);
  for (const report::Metric& m : report::metrics()) {
    const auto value = kernel["metrics"].find(std::string(m.name));
    cells.push_back(value == kernel["metrics"].end() ? "" : value->dump());
  }
  return line_of(cells);
}

}  // namespace

std::string gallery_json(const Topic& topic, const std::vector<RungResult>& results, const MeasuredGallery& measured) {
  json rungs = json::array();
  for (const RungResult& result : results) {
    json forms = json::array();
    for (const RungForm& form : result.forms) {
      json kernels = json::array();
      for (const report::FoldedLaunch& group : form.groups) kernels.push_back(kernel_json(form, group));
      forms.push_back({{"name", form.name},
                       {"size", form.size},
                       {"kernels", std::move(kernels)},
                       {"measured", measured_json(measured, form.name)}});
    }
    rungs.push_back({{"rung", result.rung.full_name()},
                     {"idea", result.rung.idea},
                     {"verified", result.exit_code == 0},
                     {"exit_code", result.exit_code},
                     {"not_counted", result.not_counted.empty() ? json() : json(result.not_counted)},
                     {"forms", std::move(forms)}});
  }
  const json all = {{"generator", {{"name", "warplens"}, {"version", WARPLENS_VERSION}}},
                    {"topic", topic.name},
                    {"summary", topic.summary},
                    {"rungs", std::move(rungs)}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string gallery_csv(const std::vector<RungResult>& results, const MeasuredGallery& measured) {
  std::vector<std::string> names = {"rung",         "verified",      "size",        "kernel",          "launches",
                                    "measured gpu", "measured size", "measured us", "measured figure", "measured unit",
                                    "not counted"};
  for (const report::Metric& m : report::metrics()) names.emplace_back(m.name);
  std::string text = line_of(names);
  for (const RungResult& result : results) {
    if (!result.not_counted.empty()) {
      std::vector<std::string> cells = csv_start(result, result.rung.full_name(), "", "", "", measured);
      cells.resize(names.size());
      text += line_of(cells);
    }
    for (const RungForm& form : result.forms)
      for (const report::FoldedLaunch& group : form.groups) text += csv_row(result, form, group, measured);
  }
  return text;
}

}  // namespace warplens::cli
