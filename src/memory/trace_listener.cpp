// SPDX-License-Identifier: Apache-2.0
#include "memory/trace_listener.h"

#include <fmt/format.h>

#include <iterator>

#include "base/bits.h"

namespace warplens::memory {
namespace {

std::string_view name_of(events::Space space) {
  switch (space) {
    case events::Space::kGlobal: return "global";
    case events::Space::kShared: return "shared";
    case events::Space::kLocal: return "local";
    case events::Space::kConst: return "const";
    case events::Space::kParam: return "param";
    case events::Space::kSharedCluster: return "shared::cluster";
  }
  return "?";
}

}  // namespace

void TraceListener::on_launch_begin(const events::LaunchInfo& launch) {
  const std::lock_guard lock(mutex_);
  launch_ = launch.id;
  heads_[launch.id] =
      fmt::format("launch {} kernel={} grid={}x{}x{} block={}x{}x{}\n", launch.id, launch.kernel->name, launch.grid.x,
                  launch.grid.y, launch.grid.z, launch.block.x, launch.block.y, launch.block.z);
}

void TraceListener::append(uint64_t block, uint32_t warp, std::string line) {
  const std::lock_guard lock(mutex_);
  streams_[{launch_, block, warp}] += line;
}

void TraceListener::on_access(unsigned, const events::WarpAccess& access) {
  std::string line;
  auto out = std::back_inserter(line);
  fmt::format_to(out, "access site={} space={} block={} warp={} mask={:08x} addresses=", access.site,
                 name_of(access.space), access.block, access.warp, access.mask);
  const bool absolute = access.space == events::Space::kGlobal || access.space == events::Space::kConst;
  const char* separator = "";
  for_each_lane(access.mask, [&](int lane) {
    fmt::format_to(out, "{}{:x}", separator, (*access.address)[lane] - (absolute ? address_base_ : 0));
    separator = ",";
  });
  append(access.block, access.warp, line + "\n");
}

void TraceListener::on_block_run(unsigned, const events::BlockRun& run) {
  append(
      run.block, run.warp,
      fmt::format("run block_index={} block={} warp={} mask={:08x}\n", run.block_index, run.block, run.warp, run.mask));
}

void TraceListener::on_barrier(unsigned, const events::BarrierArrive& arrive) {
  append(arrive.block, arrive.warp,
         fmt::format("barrier pc={} barrier={} block={} warp={} mask={:08x}\n", arrive.pc, arrive.barrier, arrive.block,
                     arrive.warp, arrive.mask));
}

std::string TraceListener::text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  auto stream = streams_.begin();
  for (const auto& [launch, head] : heads_) {
    text += head;
    for (; stream != streams_.end() && std::get<0>(stream->first) <= launch; ++stream) text += stream->second;
  }
  return text;
}

}  // namespace warplens::memory
