// SPDX-License-Identifier: Apache-2.0
// Both directions of the session file, so that tool and library cannot disagree about a key.
#include "report/session_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace warplens::report {

using nlohmann::json;

Result<SessionFile> read_session_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return make_error(fmt::format("cannot read the session file {}: {}", path, std::strerror(errno)));
  SessionFile s;
  try {  // the JSON library reports a wrong type by throwing; it stays in here
    const json j = json::parse(file);
    s.record = j.value("record", s.record);
    s.count = j.value("count", s.count);
    s.kernel_regex = j.value("kernel_regex", s.kernel_regex);
    s.launch_skip = j.value("launch_skip", s.launch_skip);
    s.launch_count = j.value("launch_count", s.launch_count);
    s.profile_from_start = j.value("profile_from_start", s.profile_from_start);
    s.nvtx_regex = j.value("nvtx_regex", s.nvtx_regex);
    s.executor = j.value("executor", s.executor);
    s.level = j.value("level", s.level);
    s.counting = j.value("counting", s.counting);
    s.sample.share = j.value("sample", s.sample.share);
    s.sample.seed = j.value("sample_seed", s.sample.seed);
    s.workers = j.value("workers", s.workers);
    s.cache = j.value("cache", s.cache);
    s.gpu = j.value("gpu", s.gpu);
    s.trace = j.value("trace", s.trace);
    s.progress = j.value("progress", s.progress);
    s.registers = j.value("registers", s.registers);
  } catch (const json::exception& e) {
    return make_error(fmt::format("the session file {} is not valid: {}", path, e.what()));
  }
  if (s.executor != "jit" && s.executor != "interpreter")
    return make_error(fmt::format("the session file {} names an unknown executor '{}'", path, s.executor));
  if (s.level != "machine" && s.level != "ptx")
    return make_error(fmt::format("the session file {} names an unknown level '{}'", path, s.level));
  if (s.counting != "fast" && s.counting != "oracle")
    return make_error(fmt::format("the session file {} names an unknown way of counting '{}'", path, s.counting));
  if (!s.sample.valid())
    return make_error(
        fmt::format("the session file {}: a sample is a share above 0 and up to 1, not {}", path, s.sample.share));
  if (!s.sample.all() && s.counting == "oracle")
    return make_error(fmt::format("the session file {}: the oracle counts all blocks; it takes no sample", path));
  return s;
}

Status write_session_file(const std::string& path, const SessionFile& s) {
  json j = {{"record", s.record},
            {"count", s.count},
            {"kernel_regex", s.kernel_regex},
            {"launch_skip", s.launch_skip},
            {"profile_from_start", s.profile_from_start},
            {"nvtx_regex", s.nvtx_regex},
            {"executor", s.executor},
            {"level", s.level},
            {"counting", s.counting},
            {"sample", s.sample.share},
            {"sample_seed", s.sample.seed},
            {"workers", s.workers},
            {"cache", s.cache},
            {"gpu", s.gpu},
            {"trace", s.trace},
            {"progress", s.progress},
            {"registers", s.registers}};
  if (s.launch_count != SessionFile{}.launch_count) j["launch_count"] = s.launch_count;
  std::ofstream file(path, std::ios::trunc);
  file << j.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  file.close();
  if (!file) return make_error(fmt::format("cannot write the session file {}: {}", path, std::strerror(errno)));
  return Done{};
}

}  // namespace warplens::report
