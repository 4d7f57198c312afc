// SPDX-License-Identifier: Apache-2.0
// What a group of memory accesses did, in the terms of the report. SiteCounts (what execution delivers) are per access
// site; the report adds them up by source line, by kernel, by kind of memory. All numbers are exact sums; ratios are
// computed only when shown.
#pragma once
#include <array>
#include <cstdint>

#include "events/events.h"
#include "report/run_record.h"

namespace warplens::report {

constexpr uint64_t kSectorBytes = 32;

/// Standard errors of Traffic's numbers when they were scaled from a sample of blocks, else 0. The error of a sum is
/// taken to be the sum of its parts' errors: never less than it is, and equal when the parts grow and shrink together.
struct TrafficErrors {
  double requests = 0, lanes = 0, bytes_asked = 0, sectors = 0, ideal_sectors = 0, lines = 0, wavefronts = 0,
         ideal_wavefronts = 0, repeated_sectors = 0;
  TrafficErrors& operator+=(const TrafficErrors& o);
  friend bool operator==(const TrafficErrors&, const TrafficErrors&) = default;
};

struct Traffic {
  uint64_t requests = 0;     ///< warp instructions with at least one active lane
  uint64_t lanes = 0;        ///< active lanes, summed
  uint64_t bytes_asked = 0;  ///< lanes x bytes per lane
  uint64_t sectors = 0, ideal_sectors = 0, lines = 0;
  uint64_t wavefronts = 0, ideal_wavefronts = 0;
  uint64_t repeated_sectors = 0;  ///< of `sectors`: those of atomics whose threads share a place
  uint64_t empty_wavefronts = 0;  ///< of `wavefronts`: of atomics, that serve no thread (events::SiteCounts)
  bool estimate = false;          ///< some of it is modelled and not shown equal to a GPU's
  TrafficErrors errors = {};

  uint64_t bytes_moved() const { return sectors * kSectorBytes; }
  uint64_t excess_sectors() const { return sectors - ideal_sectors; }
  /// Passes as the profiler counts them by source line: those that serve somebody.
  uint64_t serving_wavefronts() const { return wavefronts - empty_wavefronts; }
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
  /// Of the sectors, or passes, as a share of them.
  double sector_error_share() const { return sectors == 0 ? 0 : errors.sectors / static_cast<double>(sectors); }
  double wavefront_error_share() const {
    return wavefronts == 0 ? 0 : errors.wavefronts / static_cast<double>(wavefronts);
  }

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
/// `errors`: LaunchSample::site_errors of the site, or null.
Traffic traffic_of(const events::AccessSite& site, const events::SiteCounts& counts,
                   const std::array<double, 8>* errors = nullptr);

/// One launch, or several added up.
struct Totals {
  Traffic by[kMemories][kKinds];
  uint64_t instructions = 0;                       ///< PTX instructions executed by warps
  uint64_t lanes = 0;                              ///< of these, active lanes summed
  double instructions_error = 0, lanes_error = 0;  ///< as TrafficErrors
  const Traffic& at(Memory m, Kind k) const { return by[static_cast<int>(m)][static_cast<int>(k)]; }
  Traffic& at(Memory m, Kind k) { return by[static_cast<int>(m)][static_cast<int>(k)]; }
  /// Reads, writes and atomics together.
  Traffic all(Memory m) const;
  double active_lanes() const { return Traffic::ratio(lanes, instructions); }
  Totals& operator+=(const Totals& o);
};
/// `sample`: what the counts are estimates of, or null.
Totals totals_of(const events::KernelInfo& kernel, const events::LaunchCounts& counts,
                 const events::LaunchSample* sample = nullptr);

}  // namespace warplens::report
