// SPDX-License-Identifier: Apache-2.0
#include "report/json_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "report/finding_view.h"
#include "report/kernel_name.h"
#include "report/line_table.h"
#include "report/source_path.h"
#include "report/source_text.h"

namespace warplens::report {
namespace {

using json = nlohmann::ordered_json;

json dim_json(const events::Dim3& d) { return json::array({d.x, d.y, d.z}); }

json spread_json(const Spread& s) { return {{"min", s.min}, {"max", s.max}, {"sum", s.sum}}; }

/// The same for counts, which are whole numbers.
json count_spread_json(const Spread& s) {
  return {{"min", static_cast<uint64_t>(s.min)},
          {"max", static_cast<uint64_t>(s.max)},
          {"sum", static_cast<uint64_t>(s.sum)}};
}

/// What numbers stand for: all blocks, counted; all blocks, scaled from a sample; the counted blocks of a sample.
enum class Blocks { kAll, kScaled, kSome };

/// Shared memory has sectors where it is another block's.
bool has_sectors(Memory memory, const Traffic& t) {
  return memory == Memory::kShared ? t.sectors != 0 : memory != Memory::kConstant;
}

json errors_json(Memory memory, const Traffic& t) {
  const TrafficErrors& e = t.errors;
  json j = {{"requests", e.requests}, {"active_lanes", e.lanes}, {"bytes_asked", e.bytes_asked}};
  if (memory == Memory::kShared || memory == Memory::kConstant) {
    j["wavefronts"] = e.wavefronts;
    j["ideal_wavefronts"] = e.ideal_wavefronts;
  }
  if (has_sectors(memory, t)) {
    j["sectors"] = e.sectors;
    j["ideal_sectors"] = e.ideal_sectors;
    j["lines"] = e.lines;
    j["bytes_moved"] = e.sectors * static_cast<double>(kSectorBytes);
    if (t.repeated_sectors != 0) j["repeated_sectors"] = e.repeated_sectors;
  }
  return j;
}

json instruction_errors_json(double instructions, double lanes) {
  return {{"ptx_instructions", instructions}, {"active_lanes", lanes}};
}

json traffic_json(Memory memory, Kind kind, const Traffic& t, Blocks blocks) {
  const char* exactness = t.estimate ? "estimate" : blocks != Blocks::kAll ? "sampled" : "exact";
  json j = {{"memory", word(memory)}, {"kind", word(kind)},      {"exactness", exactness},
            {"requests", t.requests}, {"active_lanes", t.lanes}, {"bytes_asked", t.bytes_asked}};
  if (memory == Memory::kShared || memory == Memory::kConstant) {
    j["wavefronts"] = t.wavefronts;
    j["ideal_wavefronts"] = t.ideal_wavefronts;
    j["wavefronts_per_request"] = t.wavefronts_per_request();
  }
  if (t.empty_wavefronts != 0) j["empty_wavefronts"] = t.empty_wavefronts;
  if (has_sectors(memory, t)) {
    j["sectors"] = t.sectors;
    j["ideal_sectors"] = t.ideal_sectors;
    j["sectors_per_request"] = t.sectors_per_request();
    j["lines"] = t.lines;
    j["bytes_moved"] = t.bytes_moved();
    if (t.repeated_sectors != 0) j["repeated_sectors"] = t.repeated_sectors;
  }
  if (blocks == Blocks::kScaled) j["standard_error"] = errors_json(memory, t);
  return j;
}

json totals_json(const Totals& totals, Blocks blocks) {
  json memory = json::array();
  for (int m = 0; m < kMemories; ++m)
    for (int k = 0; k < kKinds; ++k)
      if (totals.by[m][k].requests != 0)
        memory.push_back(traffic_json(static_cast<Memory>(m), static_cast<Kind>(k), totals.by[m][k], blocks));
  json j = {{"memory", memory}, {"ptx_instructions", totals.instructions}, {"active_lanes", totals.lanes}};
  if (blocks == Blocks::kScaled)
    j["standard_error"] = instruction_errors_json(totals.instructions_error, totals.lanes_error);
  return j;
}

json line_json(const LineRow& row, bool from_ptx, Blocks blocks, PathsFromRoot& shown) {
  json accesses = json::array();
  for (const AccessRow& a : row.accesses) {
    json j = traffic_json(a.memory, a.kind, a.traffic, blocks);
    j["column"] = a.column;
    j["bytes_per_lane"] = a.bytes;
    j["parameter"] = a.parameter;
    j["inlined_from"] = a.inside;
    j["ptx_line"] = a.ptx_line;
    j["copies"] = a.copies;
    accesses.push_back(std::move(j));
  }
  json j = {{"file", from_ptx ? "" : shown(row.file)},
            {"line", from_ptx ? 0 : row.line},
            {"ptx_line", from_ptx ? row.line : 0},
            {"text", row.text},
            {"ptx_instructions", row.instructions},
            {"active_lanes", row.lanes},
            {"accesses", accesses}};
  if (blocks == Blocks::kScaled) j["standard_error"] = instruction_errors_json(row.instructions_error, row.lanes_error);
  return j;
}

json finding_json(const events::Finding& f, const events::KernelInfo& kernel, PathsFromRoot& shown) {
  std::string kind = word(f.kind);
  std::replace(kind.begin(), kind.end(), ' ', '_');
  return {{"kind", kind},
          {"message", message_text(f, &kernel)},
          {"file", shown(f.file)},
          {"line", f.place.line},
          {"column", f.place.column},
          {"block_index", dim_json(f.block_index)},
          {"thread_index", dim_json(f.thread_index)},
          {"address", f.address},
          {"bytes", f.bytes}};
}

json sample_json(const events::LaunchSample& s) {
  return {{"share", s.choice.share},
          {"seed", s.choice.seed},
          {"counted_blocks", s.counted_blocks},
          {"blocks", s.blocks},
          {"scaled", s.scaled}};
}

json launch_json(const KernelRecord& kernel, const FoldedLaunch& g, PathsFromRoot& shown) {
  json j = {{"first_launch", g.first_id},
            {"launches", g.launches},
            {"complete", g.complete},
            {"counted", g.counted},
            {"grid", dim_json(g.shape.grid)},
            {"block", dim_json(g.shape.block)},
            {"cluster", dim_json(g.shape.cluster)},
            {"static_shared_bytes", g.shape.static_shared_bytes},
            {"dynamic_shared_bytes", g.shape.dynamic_shared_bytes},
            {"parameter_bytes", g.param_bytes},
            {"host_seconds", spread_json(g.seconds)}};
  if (g.occupancy) j["occupancy"] = occupancy_json(*g.occupancy);
  json findings = json::array();
  for (const auto& f : g.findings) findings.push_back(finding_json(f, kernel.info, shown));
  if (g.counted) {
    j["per_launch"] = {{"global_requests", count_spread_json(g.requests)},
                       {"global_sectors", count_spread_json(g.sectors)},
                       {"shared_wavefronts", count_spread_json(g.wavefronts)}};
    const Blocks blocks = !g.sample ? Blocks::kAll : g.sample->scaled ? Blocks::kScaled : Blocks::kSome;
    if (g.sample) j["sample"] = sample_json(*g.sample);
    j["totals"] = totals_json(g.totals, blocks);
    const LineTable table = line_table(kernel, g.counts, g.sampled());
    j["line_information"] = !table.from_ptx;
    json lines = json::array();
    for (const LineRow& row : table.rows) lines.push_back(line_json(row, table.from_ptx, blocks, shown));
    j["lines"] = std::move(lines);
  }
  j["findings"] = std::move(findings);
  return j;
}

/// Kernels that this run compiled, and those whose code was on disk.
json code_json(const RunRecord& run) {
  uint64_t compiled = 0, cached = 0;
  double seconds = 0;
  for (const LaunchRecord& l : run.launches) {
    compiled += l.code == "compiled";
    cached += l.code == "cache";
    seconds += l.code_seconds;
  }
  return {{"compiled", compiled}, {"from_cache", cached}, {"seconds", seconds}};
}

/// The files of a kernel's lines, without those of the compiler and the system, which another compiler brings anew.
std::set<std::string> user_files(const events::KernelInfo& info) {
  std::set<std::string> files;
  for (const events::PcInfo& pc : info.pcs)
    for (const events::Place& place : {pc.place, pc.user_place})
      if (place.line != 0) files.insert(info.files[place.file]);
  std::erase_if(files, [](const std::string& file) {
    return file.empty() || file.starts_with("/usr/") || file.starts_with("/opt/") ||
           file.find("/lib/clang/") != std::string::npos || file.find("/lib/warplens/") != std::string::npos;
  });
  return files;
}

}  // namespace

std::string json_text(const RunRecord& run, Folding folding, const JsonMore& more) {
  json j = {{"schema_version", kSchemaVersion},
            {"generator", {{"name", "warplens"}, {"version", WARPLENS_VERSION}}},
            {"program", run.program},
            {"command", run.command},
            {"gpu", run.gpu},
            {"end",
             {{"exit_code", run.end.exit_code},
              {"signal", run.end.signal},
              {"timed_out", run.end.timed_out},
              {"interrupted", run.end.interrupted}}},
            {"record_complete", run.damaged_lines == 0}};
  json kernels = json::array();
  const std::vector<FoldedLaunch> groups = fold(run, folding);
  PathsFromRoot shown(more.source_root);
  for (size_t k = 0; k < run.kernels.size(); ++k) {
    const std::string& name = run.kernels[k].info.name;
    json launches = json::array();
    for (const FoldedLaunch& g : groups)
      if (g.kernel == k) launches.push_back(launch_json(run.kernels[k], g, shown));
    kernels.push_back({{"name", name},
                       {"demangled", demangled(name)},
                       {"short_name", short_name(name)},
                       {"ptx", {{"hash", run.kernels[k].ptx.hash}, {"compiler", run.kernels[k].ptx.compiler}}},
                       {"source_hash", source_hash(user_files(run.kernels[k].info))},
                       {"launch_groups", std::move(launches)}});
  }
  j["kernels"] = std::move(kernels);
  j["code"] = code_json(run);
  json notices = json::array();
  for (const Notice& n : run.notices) notices.push_back({{"kind", n.kind}, {"text", n.text}});
  j["notices"] = std::move(notices);
  if (!more.limits.empty()) j["limits"] = json::parse(more.limits);
  if (!more.faults.empty()) j["faults"] = more.faults;
  return j.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace warplens::report
