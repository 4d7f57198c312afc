// SPDX-License-Identifier: Apache-2.0
// The tool's side of the record. The file was written by a process that may have died at any moment, so every line
// stands alone: one that does not parse, or lacks a field, is counted as damaged and skipped.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/run_record.h"

namespace warplens::report {
namespace {

using nlohmann::json;

events::Dim3 to_dim(const json& j) {
  return {j.at(0).get<uint32_t>(), j.at(1).get<uint32_t>(), j.at(2).get<uint32_t>()};
}

events::Place to_place(const json& j) {
  return {j.at(0).get<uint32_t>(), j.at(1).get<uint32_t>(), j.at(2).get<uint32_t>()};
}

KernelRecord to_kernel(const json& j) {
  KernelRecord k;
  k.info.name = j.at("name").get<std::string>();
  k.info.files = j.at("files").get<std::vector<std::string>>();
  k.info.ptx_file = j.at("ptx_file").get<std::string>();
  for (const auto& pc : j.at("pcs"))
    k.info.pcs.push_back(
        {pc.at(0).get<uint32_t>(), to_place(pc.at(1)), to_place(pc.at(2)), pc.at(3).get<std::string>()});
  for (const auto& s : j.at("sites")) {
    k.info.sites.push_back({s.at(0).get<uint32_t>(), static_cast<events::Space>(s.at(1).get<int>()),
                            static_cast<events::Access>(s.at(2).get<int>()), s.at(3).get<uint8_t>(),
                            s.at(4).get<std::string>()});
    k.info.sites.back().estimate = s.at(5).get<bool>();
  }
  k.info.blocks = j.at("blocks").get<std::vector<std::pair<uint32_t, uint32_t>>>();
  if (j.contains("ptx")) k.ptx = {j["ptx"].at(0).get<std::string>(), j["ptx"].at(1).get<std::string>()};
  for (const auto& line : j.at("ptx_text")) k.ptx_text[line.at(0).get<uint32_t>()] = line.at(1).get<std::string>();
  return k;
}

std::shared_ptr<const events::LaunchCounts> to_counts(const json& j) {
  auto counts = std::make_shared<events::LaunchCounts>();
  for (const auto& s : j.at("sites")) {
    events::SiteCounts& c = counts->sites.emplace_back();
    if (!s.is_array()) continue;
    uint64_t* const fields[] = {&c.requests,        &c.lanes,      &c.sectors,          &c.lines,
                                &c.ideal_sectors,   &c.wavefronts, &c.ideal_wavefronts, &c.repeated_sectors,
                                &c.empty_wavefronts};
    for (size_t i = 0; i < std::size(fields); ++i) *fields[i] = s.at(i).get<uint64_t>();
  }
  for (const auto& b : j.at("blocks")) counts->blocks.push_back({b.at(0).get<uint64_t>(), b.at(1).get<uint64_t>()});
  return counts;
}

template <size_t N>
std::vector<std::array<double, N>> to_errors(const json& j) {
  std::vector<std::array<double, N>> errors;
  for (const auto& e : j) {
    std::array<double, N>& to = errors.emplace_back();
    if (!e.is_array()) continue;
    for (size_t i = 0; i < N; ++i) to[i] = e.at(i).get<double>();
  }
  return errors;
}

std::shared_ptr<const events::LaunchSample> to_sample(const json& j) {
  auto sample = std::make_shared<events::LaunchSample>();
  sample->choice = {j.at("share").get<double>(), j.at("seed").get<uint64_t>()};
  sample->counted_blocks = j.at("counted").get<uint64_t>();
  sample->blocks = j.at("blocks").get<uint64_t>();
  sample->scaled = j.at("scaled").get<bool>();
  if (sample->scaled) {
    sample->site_errors = to_errors<8>(j.at("site_errors"));
    sample->block_errors = to_errors<2>(j.at("block_errors"));
  }
  return sample;
}

events::Finding to_finding(const json& j) {
  events::Finding f;
  f.kind = static_cast<events::FindingKind>(j.at("kind").get<int>());
  f.kernel = j.at("kernel").get<std::string>();
  f.pc = j.at("pc").get<uint32_t>();
  f.place = to_place(j.at("place"));
  f.file = j.at("file").get<std::string>();
  f.block = j.at("block").get<uint64_t>();
  f.block_index = to_dim(j.at("block_index"));
  f.thread_index = to_dim(j.at("thread_index"));
  f.lane = j.at("lane").get<uint32_t>();
  f.address = j.at("address").get<uint64_t>();
  f.bytes = j.at("bytes").get<uint32_t>();
  f.message = j.at("message").get<std::string>();
  return f;
}

/// Whether every index that reports follow stays inside the kernel's tables.
bool consistent(const events::KernelInfo& k) {
  for (const auto& pc : k.pcs)
    if (std::max(pc.place.file, pc.user_place.file) >= std::max<size_t>(k.files.size(), 1)) return false;
  for (const auto& s : k.sites)
    if (s.pc >= k.pcs.size() || s.space > events::Space::kSharedCluster || s.access > events::Access::kAtomic)
      return false;
  for (const auto& [first, count] : k.blocks)
    if (uint64_t{first} + count > k.pcs.size()) return false;
  return true;
}

class Reader {
 public:
  void add_line(std::string_view line) {
    try {  // stays inside this file: the JSON library reports every missing or wrong field by throwing
      add(json::parse(line));
    } catch (const json::exception&) {
      ++run_.damaged_lines;
    }
  }
  RunRecord finish() {
    for (auto& [key, launch] : begun_) run_.launches.push_back(std::move(launch));
    return std::move(run_);
  }

 private:
  using Key = std::pair<uint32_t, uint64_t>;  // process, number within it

  void add(const json& j) {
    const auto type = j.at("t").get<std::string>();
    const auto process = j.at("p").get<uint32_t>();
    if (type == "process") {
      if (run_.program.empty()) run_.program = j.at("program").get<std::string>();
      if (run_.gpu.empty()) run_.gpu = j.at("gpu").get<std::string>();
    } else if (type == "kernel") {
      add_kernel(j, {process, j.at("k").get<uint64_t>()});
    } else if (type == "begin" || type == "launch") {
      add_launch(j, process, type == "launch");
    } else if (type == "notice") {
      Notice notice{j.at("kind").get<std::string>(), j.at("text").get<std::string>()};
      if (std::find(run_.notices.begin(), run_.notices.end(), notice) == run_.notices.end())
        run_.notices.push_back(std::move(notice));
    } else {
      ++run_.damaged_lines;
    }
  }

  void add_kernel(const json& j, Key key) {
    KernelRecord kernel = to_kernel(j);
    if (!consistent(kernel.info)) {
      ++run_.damaged_lines;
      return;
    }
    kernel_of_[key] = run_.kernels.size();
    run_.kernels.push_back(std::move(kernel));
  }

  void add_launch(const json& j, uint32_t process, bool ended) {
    LaunchRecord l;
    l.id = j.at("id").get<uint64_t>();
    l.process = process;
    const auto kernel = kernel_of_.find({process, j.at("k").get<uint64_t>()});
    if (kernel == kernel_of_.end()) {
      ++run_.damaged_lines;
      return;
    }
    l.kernel = kernel->second;
    l.shape = {to_dim(j.at("grid")), to_dim(j.at("block")), to_dim(j.at("cluster")), j.at("static").get<uint32_t>(),
               j.at("dynamic").get<uint32_t>()};
    l.param_bytes = j.at("params").get<uint64_t>();
    const Key key{process, l.id};
    if (!ended) {
      begun_[key] = std::move(l);
      return;
    }
    l.seconds = j.at("seconds").get<double>();
    l.complete = j.at("complete").get<bool>();
    l.code = j.value("code", l.code);
    l.code_seconds = j.value("code_seconds", l.code_seconds);
    if (j.contains("occupancy")) l.occupancy = read_occupancy(j.at("occupancy"));
    if (j.contains("same")) {
      const auto same = counts_.find({process, j.at("same").get<uint64_t>()});
      if (same == counts_.end()) {
        ++run_.damaged_lines;
      } else {
        l.counts = same->second.counts;
        l.sample = same->second.sample;
      }
    } else if (j.contains("sites")) {
      l.counts = to_counts(j);
      if (j.contains("sample")) l.sample = to_sample(j.at("sample"));
      const auto& info = run_.kernels[l.kernel].info;
      if (l.counts->sites.size() != info.sites.size() || l.counts->blocks.size() != info.blocks.size())
        l.counts = nullptr;
      counts_[key] = {l.counts, l.sample};
    }
    if (j.contains("findings"))
      for (const auto& f : j.at("findings")) l.findings.push_back(to_finding(f));
    begun_.erase(key);
    run_.launches.push_back(std::move(l));
  }

  RunRecord run_;
  std::map<Key, size_t> kernel_of_;
  std::map<Key, LaunchRecord> begun_;
  struct Counted {
    std::shared_ptr<const events::LaunchCounts> counts;
    std::shared_ptr<const events::LaunchSample> sample;
  };
  std::map<Key, Counted> counts_;
};

}  // namespace

RunRecord parse_record(std::string_view text) {
  Reader reader;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (!line.empty()) reader.add_line(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return reader.finish();
}

Result<RunRecord> read_record(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return RunRecord{};
    return make_error(fmt::format("cannot read the record {}: {}", path, std::strerror(errno)));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return parse_record(text.view());
}

}  // namespace warplens::report
