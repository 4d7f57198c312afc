// SPDX-License-Identifier: Apache-2.0
// Which blocks of a launch are counted when only a share of them is (`--sample`), and what follows for all of them.
//
// Kernels treat the rim of a grid apart (partial tiles, the tail of an array), and blocks near each other do similar
// work. So the grid is cut into its interior, faces, edges and corners, and each of these into strata of neighbouring
// blocks, from each of which a hash of seed and stratum chooses two: stratified sampling with two units a stratum
// (Cochran, Sampling Techniques, chapter 5). From two units x, y of N the stratum's sum is N (x + y) / 2, and the
// variance of that is estimated by N (N - 2) (x - y)^2 / 4, finite population correction included; both are without
// bias, and strata add up. Where all blocks of each stratum do the same the result is exact, and the error 0.
//
// A block stands for its whole cluster here: the blocks of a cluster are counted, or not, together.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "events/events.h"
#include "events/sample.h"

namespace warplens::exec {

class BlockSample {
 public:
  /// `grid`: in clusters.
  BlockSample(const events::Dim3& grid, const events::SampleChoice& choice);

  struct Stratum {
    uint64_t id = 0;
    uint64_t units = 0;  ///< that it has; two of them are counted, or its only one
  };
  /// The stratum that cluster number `unit` is counted for; none when it is not counted.
  std::optional<Stratum> counted(uint64_t unit) const;
  /// Clusters that are counted.
  uint64_t counted_units() const { return counted_units_; }
  uint64_t units() const { return grid_.count(); }

 private:
  /// First, inner and last coordinates of one dimension.
  struct Axis {
    std::array<uint64_t, 3> begin{}, extent{};
    unsigned part_of(uint64_t coordinate) const;
  };
  struct Part {
    uint64_t units = 0, strata = 0, first_stratum = 0;
  };

  events::Dim3 grid_;
  uint64_t seed_;
  uint64_t counted_units_ = 0;
  std::array<Axis, 3> axes_;
  std::array<Part, 27> parts_{};  ///< by part of x + 3 x (part of y + 3 x part of z)
};

/// Adds up what the chosen blocks counted. Called from several threads.
class SampleSums {
 public:
  void add(const BlockSample::Stratum& stratum, const events::LaunchCounts& counts);
  /// Estimates of all blocks' counts. Once every chosen block was added.
  events::LaunchCounts estimates() const;
  void give_errors(events::LaunchSample& sample) const;
  /// Of the chosen blocks alone, as far as they were added, and how many that were.
  events::LaunchCounts sums() const;
  uint64_t added() const { return added_; }

 private:
  using Words = std::vector<uint64_t>;
  events::LaunchCounts counts_of(const Words& words) const;

  std::mutex mutex_;
  size_t sites_ = 0, blocks_ = 0;
  uint64_t added_ = 0;
  Words sums_;
  Words twice_estimates_;  ///< N (x + y): whole numbers, so that nothing is lost
  std::vector<double> variances_;
  /// Strata of which one block came: at most one that the workers have come to in each of the grid's 27 parts, and
  /// those of the blocks that run now.
  std::map<uint64_t, Words> halves_;
};

}  // namespace warplens::exec
