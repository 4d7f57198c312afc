// SPDX-License-Identifier: Apache-2.0
// The library's side of the record: runs inside the program under test, so it must be cheap (a launch line is formatted
// by hand; counts equal to those of an earlier launch of the same shape are a reference) and must not disturb the
// program (a failed write ends recording, not the program).
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "report/run_record.h"

namespace warplens::report {
namespace {

using nlohmann::json;

std::string json_string(std::string_view text) {
  return json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string dim_text(const events::Dim3& d) { return fmt::format("[{},{},{}]", d.x, d.y, d.z); }

json place_json(const events::Place& p) { return json::array({p.file, p.line, p.column}); }

std::map<uint32_t, std::string> access_lines(const events::KernelInfo& info, std::string_view ptx) {
  std::map<uint32_t, std::string> lines;
  for (const auto& site : info.sites)
    if (site.pc < info.pcs.size()) lines[info.pcs[site.pc].ptx_line];
  uint32_t number = 1;
  size_t begin = 0;
  for (auto& [wanted, text] : lines) {  // ascending: one pass over the PTX
    while (number < wanted && begin < ptx.size()) {
      const size_t end = ptx.find('\n', begin);
      if (end == std::string_view::npos) return lines;
      begin = end + 1;
      ++number;
    }
    if (number != wanted || begin >= ptx.size()) continue;
    std::string_view line = ptx.substr(begin, ptx.find('\n', begin) - begin);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    text = line.substr(0, 200);
  }
  return lines;
}

std::string kernel_line(int process, uint32_t index, const events::KernelInfo& info, std::string_view ptx) {
  json j = {{"t", "kernel"}, {"p", process}, {"k", index}, {"name", info.name}, {"files", info.files}};
  j["ptx_file"] = info.ptx_file;
  const PtxIdentity identity = ptx_identity(info, ptx);
  j["ptx"] = {identity.hash, identity.compiler};
  json& pcs = j["pcs"] = json::array();
  for (const auto& pc : info.pcs)
    pcs.push_back({pc.ptx_line, place_json(pc.place), place_json(pc.user_place), pc.inlined_function});
  json& sites = j["sites"] = json::array();
  for (const auto& s : info.sites)
    sites.push_back({s.pc, static_cast<int>(s.space), static_cast<int>(s.access), s.bytes, s.parameter, s.estimate});
  j["blocks"] = info.blocks;
  json& text = j["ptx_text"] = json::array();
  for (const auto& [line, words] : access_lines(info, ptx)) text.push_back({line, words});
  return j.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string head(const char* type, int process, uint32_t kernel, const LaunchEvent& e) {
  return fmt::format(
      R"({{"t":"{}","p":{},"id":{},"k":{},"grid":{},"block":{},"cluster":{},"static":{},"dynamic":{},"params":{})",
      type, process, e.id, kernel, dim_text(e.shape.grid), dim_text(e.shape.block), dim_text(e.shape.cluster),
      e.shape.static_shared_bytes, e.shape.dynamic_shared_bytes, e.param_bytes);
}

void add_counts(std::string& line, const events::LaunchCounts& counts) {
  auto out = std::back_inserter(line);
  line += ",\"sites\":[";
  const char* comma = "";
  for (const auto& s : counts.sites) {
    if (s == events::SiteCounts{}) {
      fmt::format_to(out, "{}0", comma);
    } else {
      fmt::format_to(out, "{}[{},{},{},{},{},{},{},{},{}]", comma, s.requests, s.lanes, s.sectors, s.lines,
                     s.ideal_sectors, s.wavefronts, s.ideal_wavefronts, s.repeated_sectors, s.empty_wavefronts);
    }
    comma = ",";
  }
  line += "],\"blocks\":[";
  comma = "";
  for (const auto& b : counts.blocks) {
    fmt::format_to(out, "{}[{},{}]", comma, b.warps, b.lanes);
    comma = ",";
  }
  line += "]";
}

template <size_t N>
void add_errors(std::string& line, const char* key, const std::vector<std::array<double, N>>& errors) {
  fmt::format_to(std::back_inserter(line), ",\"{}\":[", key);
  const char* comma = "";
  for (const std::array<double, N>& e : errors) {
    line += comma;
    if (e == std::array<double, N>{})
      line += "0";
    else
      fmt::format_to(std::back_inserter(line), "[{}]", fmt::join(e, ","));
    comma = ",";
  }
  line += "]";
}

void add_sample(std::string& line, const events::LaunchSample& s) {
  fmt::format_to(std::back_inserter(line),
                 ",\"sample\":{{\"share\":{},\"seed\":{},\"counted\":{},\"blocks\":{},\"scaled\":{}", s.choice.share,
                 s.choice.seed, s.counted_blocks, s.blocks, s.scaled);
  if (s.scaled) {
    add_errors(line, "site_errors", s.site_errors);
    add_errors(line, "block_errors", s.block_errors);
  }
  line += "}";
}

void add_findings(std::string& line, std::span<const events::Finding> findings) {
  json list = json::array();
  for (const auto& f : findings) {
    list.push_back({{"kind", static_cast<int>(f.kind)},
                    {"kernel", f.kernel},
                    {"pc", f.pc},
                    {"place", place_json(f.place)},
                    {"file", f.file},
                    {"block", f.block},
                    {"block_index", {f.block_index.x, f.block_index.y, f.block_index.z}},
                    {"thread_index", {f.thread_index.x, f.thread_index.y, f.thread_index.z}},
                    {"lane", f.lane},
                    {"address", f.address},
                    {"bytes", f.bytes},
                    {"message", f.message}});
  }
  line += ",\"findings\":" + list.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

KernelRecord kernel_record(const events::KernelInfo& info, std::string_view ptx) {
  return {info, access_lines(info, ptx), ptx_identity(info, ptx)};
}

Result<std::unique_ptr<RecordWriter>> RecordWriter::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return make_error(fmt::format("cannot write the record {}: {}", path, std::strerror(errno)));
  return std::unique_ptr<RecordWriter>(new RecordWriter(fd));
}

RecordWriter::~RecordWriter() { ::close(fd_); }

bool RecordWriter::ok() const {
  std::lock_guard lock(mutex_);
  return ok_;
}

void RecordWriter::append(std::string line) {
  if (!ok_) return;
  line += '\n';
  for (size_t done = 0; done < line.size();) {
    const ssize_t n = ::write(fd_, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      ok_ = false;
      return;
    }
    done += static_cast<size_t>(n);
  }
}

void RecordWriter::follow_fork() {
  if (process_ == ::getpid()) return;
  process_ = ::getpid();
  kernels_.clear();
  append(fmt::format(R"({{"t":"process","p":{},"program":{},"gpu":{}}})", process_, json_string(program_),
                     json_string(gpu_)));
}

RecordWriter::Known& RecordWriter::known(const LaunchEvent& event) {
  follow_fork();
  auto [it, fresh] = kernels_.try_emplace(event.kernel);
  if (fresh) {
    it->second.index = static_cast<uint32_t>(kernels_.size() - 1);
    append(kernel_line(process_, it->second.index, *event.kernel, event.ptx));
  }
  return it->second;
}

void RecordWriter::begin_process(std::string_view program, std::string_view gpu) {
  std::lock_guard lock(mutex_);
  program_ = program;
  gpu_ = gpu;
  follow_fork();
}

void RecordWriter::begin_launch(const LaunchEvent& event) {
  std::lock_guard lock(mutex_);
  const uint32_t kernel = known(event).index;
  append(head("begin", process_, kernel, event) + "}");
}

void RecordWriter::end_launch(const LaunchEvent& event) {
  std::lock_guard lock(mutex_);
  Known& kernel = known(event);
  std::string line = head("launch", process_, kernel.index, event);
  fmt::format_to(std::back_inserter(line), ",\"seconds\":{:.9f},\"complete\":{}", event.seconds, event.complete);
  if (!event.code.empty())
    fmt::format_to(std::back_inserter(line), ",\"code\":{},\"code_seconds\":{:.6f}", json_string(event.code),
                   event.code_seconds);
  if (event.occupancy) line += record_text(*event.occupancy);
  if (event.counts != nullptr) {
    Last* last = nullptr;
    for (auto& l : kernel.last)
      if (l.shape == event.shape) last = &l;
    std::optional<events::LaunchSample> sample;
    if (event.sample != nullptr) sample = *event.sample;
    if (last != nullptr && last->counts == *event.counts && last->sample == sample) {
      fmt::format_to(std::back_inserter(line), ",\"same\":{}", last->id);
    } else {
      add_counts(line, *event.counts);
      if (sample) add_sample(line, *sample);
      if (last == nullptr) last = &kernel.last.emplace_back();
      *last = {event.id, event.shape, *event.counts, std::move(sample)};
    }
  }
  if (!event.findings.empty()) add_findings(line, event.findings);
  append(line + "}");
}

void RecordWriter::notice(std::string_view kind, std::string_view text) {
  std::lock_guard lock(mutex_);
  follow_fork();
  append(fmt::format(R"({{"t":"notice","p":{},"kind":{},"text":{}}})", process_, json_string(kind), json_string(text)));
}

}  // namespace warplens::report
