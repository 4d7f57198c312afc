// SPDX-License-Identifier: Apache-2.0
#include "events/events.h"

namespace warplens::events {

SiteCounts& SiteCounts::operator+=(const SiteCounts& o) {
  requests += o.requests;
  lanes += o.lanes;
  sectors += o.sectors;
  lines += o.lines;
  ideal_sectors += o.ideal_sectors;
  wavefronts += o.wavefronts;
  ideal_wavefronts += o.ideal_wavefronts;
  repeated_sectors += o.repeated_sectors;
  empty_wavefronts += o.empty_wavefronts;
  return *this;
}

BlockCounts& BlockCounts::operator+=(const BlockCounts& o) {
  warps += o.warps;
  lanes += o.lanes;
  return *this;
}

}  // namespace warplens::events
