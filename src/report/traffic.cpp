// SPDX-License-Identifier: Apache-2.0
#include "report/traffic.h"

namespace warplens::report {

Traffic& Traffic::operator+=(const Traffic& o) {
  requests += o.requests;
  lanes += o.lanes;
  bytes_asked += o.bytes_asked;
  sectors += o.sectors;
  ideal_sectors += o.ideal_sectors;
  lines += o.lines;
  wavefronts += o.wavefronts;
  ideal_wavefronts += o.ideal_wavefronts;
  return *this;
}

const char* word(Memory memory) {
  switch (memory) {
    case Memory::kGlobal: return "global";
    case Memory::kShared: return "shared";
    case Memory::kLocal: return "local";
    case Memory::kConstant: return "constant";
  }
  return "";
}

const char* word(Kind kind) {
  switch (kind) {
    case Kind::kRead: return "read";
    case Kind::kWrite: return "write";
    case Kind::kAtomic: return "atomic";
  }
  return "";
}

Memory memory_of(const events::AccessSite& site) {
  switch (site.space) {
    case events::Space::kShared:
    case events::Space::kSharedCluster: return Memory::kShared;
    case events::Space::kLocal: return Memory::kLocal;
    case events::Space::kConst:
    case events::Space::kParam: return Memory::kConstant;
    case events::Space::kGlobal: break;
  }
  return Memory::kGlobal;
}

Kind kind_of(const events::AccessSite& site) {
  switch (site.access) {
    case events::Access::kLoad: return Kind::kRead;
    case events::Access::kStore: return Kind::kWrite;
    case events::Access::kReduction:
    case events::Access::kAtomic: return Kind::kAtomic;
  }
  return Kind::kRead;
}

Traffic traffic_of(const events::AccessSite& site, const events::SiteCounts& counts) {
  Traffic t;
  t.requests = counts.requests;
  t.lanes = counts.lanes;
  t.bytes_asked = counts.lanes * site.bytes;
  t.sectors = counts.sectors;
  t.ideal_sectors = counts.ideal_sectors;
  t.lines = counts.lines;
  t.wavefronts = counts.wavefronts;
  t.ideal_wavefronts = counts.ideal_wavefronts;
  return t;
}

bool is_estimate(Memory memory, Kind kind) {
  return kind == Kind::kAtomic || memory == Memory::kLocal || memory == Memory::kConstant;
}

Traffic Totals::all(Memory m) const {
  Traffic sum;
  for (const Traffic& t : by[static_cast<int>(m)]) sum += t;
  return sum;
}

Totals& Totals::operator+=(const Totals& o) {
  for (int m = 0; m < kMemories; ++m)
    for (int k = 0; k < kKinds; ++k) by[m][k] += o.by[m][k];
  instructions += o.instructions;
  lanes += o.lanes;
  return *this;
}

Totals totals_of(const events::KernelInfo& kernel, const events::LaunchCounts& counts) {
  Totals t;
  for (size_t i = 0; i < kernel.sites.size() && i < counts.sites.size(); ++i)
    t.at(memory_of(kernel.sites[i]), kind_of(kernel.sites[i])) += traffic_of(kernel.sites[i], counts.sites[i]);
  for (size_t b = 0; b < kernel.blocks.size() && b < counts.blocks.size(); ++b) {
    t.instructions += counts.blocks[b].warps * kernel.blocks[b].second;
    t.lanes += counts.blocks[b].lanes * kernel.blocks[b].second;
  }
  return t;
}

}  // namespace warplens::report
