// SPDX-License-Identifier: Apache-2.0
#include "report/traffic.h"

namespace warplens::report {

TrafficErrors& TrafficErrors::operator+=(const TrafficErrors& o) {
  requests += o.requests;
  lanes += o.lanes;
  bytes_asked += o.bytes_asked;
  sectors += o.sectors;
  ideal_sectors += o.ideal_sectors;
  lines += o.lines;
  wavefronts += o.wavefronts;
  ideal_wavefronts += o.ideal_wavefronts;
  repeated_sectors += o.repeated_sectors;
  return *this;
}

Traffic& Traffic::operator+=(const Traffic& o) {
  requests += o.requests;
  lanes += o.lanes;
  bytes_asked += o.bytes_asked;
  sectors += o.sectors;
  ideal_sectors += o.ideal_sectors;
  lines += o.lines;
  wavefronts += o.wavefronts;
  ideal_wavefronts += o.ideal_wavefronts;
  repeated_sectors += o.repeated_sectors;
  empty_wavefronts += o.empty_wavefronts;
  estimate = estimate || o.estimate;
  errors += o.errors;
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

Traffic traffic_of(const events::AccessSite& site, const events::SiteCounts& counts,
                   const std::array<double, 8>* errors) {
  Traffic t;
  t.requests = counts.requests;
  t.lanes = counts.lanes;
  t.bytes_asked = counts.lanes * site.bytes;
  t.sectors = counts.sectors;
  t.ideal_sectors = counts.ideal_sectors;
  t.lines = counts.lines;
  t.wavefronts = counts.wavefronts;
  t.ideal_wavefronts = counts.ideal_wavefronts;
  t.repeated_sectors = counts.repeated_sectors;
  t.empty_wavefronts = counts.empty_wavefronts;
  // Which accesses to local memory there are is the GPU's assembler's choice.
  t.estimate = counts.requests != 0 && (site.estimate || memory_of(site) == Memory::kLocal);
  if (errors != nullptr) {
    const std::array<double, 8>& e = *errors;
    t.errors = {e[0], e[1], e[1] * site.bytes, e[2], e[4], e[3], e[5], e[6], e[7]};
  }
  return t;
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
  instructions_error += o.instructions_error;
  lanes_error += o.lanes_error;
  return *this;
}

Totals totals_of(const events::KernelInfo& kernel, const events::LaunchCounts& counts,
                 const events::LaunchSample* sample) {
  Totals t;
  for (size_t i = 0; i < kernel.sites.size() && i < counts.sites.size(); ++i) {
    const events::AccessSite& site = kernel.sites[i];
    t.at(memory_of(site), kind_of(site)) += traffic_of(site, counts.sites[i], events::site_errors(sample, i));
  }
  for (size_t b = 0; b < kernel.blocks.size() && b < counts.blocks.size(); ++b) {
    t.instructions += counts.blocks[b].warps * kernel.blocks[b].second;
    t.lanes += counts.blocks[b].lanes * kernel.blocks[b].second;
    if (const std::array<double, 2>* errors = events::block_errors(sample, b)) {
      t.instructions_error += (*errors)[0] * kernel.blocks[b].second;
      t.lanes_error += (*errors)[1] * kernel.blocks[b].second;
    }
  }
  return t;
}

}  // namespace warplens::report
