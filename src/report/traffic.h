// SPDX-License-Identifier: Apache-2.0
// What a group of memory accesses did, in the terms of the report. SiteCounts (what execution delivers) are per access
// site; the report adds them up by source line, by kernel, by kind of memory. All numbers are exact sums; ratios are
// computed only when shown.
#pragma once
#include <cstdint>

#include "events/events.h"
#include "report/run_record.h"

namespace warplens::report {

constexpr uint64_t kSectorBytes = 32;

struct Traffic {
  uint64_t requests = 0;     ///< warp instructions with at least one active lane
  uint64_t lanes = 0;        ///< active lanes, summed
  uint64_t bytes_asked = 0;  ///< lanes x bytes per lane
  uint64_t sectors = 0, ideal_sectors = 0, lines = 0;
  uint64_t wavefronts = 0, ideal_wavefronts = 0;

  uint64_t bytes_moved() const { return sectors * kSectorBytes; }
  uint64_t excess_sectors() const { return sectors - ideal_sectors; }
  uint64_t excess_wavefronts() const { return wavefronts - ideal_wavefronts; }
  /// For ordering: what could be saved, in passes or sectors.
  uint64_t excess() const { return excess_sectors() + excess_wavefronts(); }
  double sectors_per_request() const { return ratio(sectors, requests); }
  double ideal_sectors_per_request() const { return ratio(ideal_sectors, requests); }
  double wavefronts_per_request() const { return ratio(wavefronts, requests); }
  double ideal_wavefronts_per_request() const { return ratio(ideal_wavefronts, requests); }
  /// Share of the sectors (or passes) that better addresses would not need, 0..1.
  double excess_share() const { return ratio(excess_sectors(), sectors); }
  double excess_wavefront_share() const { return ratio(excess_wavefronts(), wavefronts); }

  Traffic& operator+=(const Traffic& o);
  friend bool operator==(const Traffic&, const Traffic&) = default;
  static double ratio(uint64_t a, uint64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }
};

/// The kinds of memory that the report keeps apart. Generic accesses count as what their addresses turned out to be.
enum class Memory : uint8_t { kGlobal, kShared, kLocal, kConstant };
constexpr int kMemories = 4;
/// The kinds of access: reads, writes, and atomics (with or without a result).
enum class Kind : uint8_t { kRead, kWrite, kAtomic };
constexpr int kKinds = 3;

const char* word(Memory memory);  ///< "global", ...
const char* word(Kind kind);      ///< "read", "write", "atomic"

Memory memory_of(const events::AccessSite& site);
Kind kind_of(const events::AccessSite& site);
Traffic traffic_of(const events::AccessSite& site, const events::SiteCounts& counts);
/// Counts of this kind are modelled and not yet shown equal to a GPU's.
bool is_estimate(Memory memory, Kind kind);

/// One launch, or several added up.
struct Totals {
  Traffic by[kMemories][kKinds];
  uint64_t instructions = 0;  ///< PTX instructions executed by warps
  uint64_t lanes = 0;         ///< of these, active lanes summed
  const Traffic& at(Memory m, Kind k) const { return by[static_cast<int>(m)][static_cast<int>(k)]; }
  Traffic& at(Memory m, Kind k) { return by[static_cast<int>(m)][static_cast<int>(k)]; }
  /// Reads, writes and atomics together.
  Traffic all(Memory m) const;
  double active_lanes() const { return Traffic::ratio(lanes, instructions); }
  Totals& operator+=(const Totals& o);
};
Totals totals_of(const events::KernelInfo& kernel, const events::LaunchCounts& counts);

}  // namespace warplens::report
