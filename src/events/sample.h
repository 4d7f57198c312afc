// SPDX-License-Identifier: Apache-2.0
// Counting a share of a launch's blocks: what is asked for, and how sure the numbers are that came of it. Only when a
// user asks; all blocks run either way. How blocks are chosen and counts are scaled: exec/block_sample.h.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warplens::events {

struct SampleChoice {
  double share = 1;   ///< of the blocks, above 0; 1: all of them, and counts are exact
  uint64_t seed = 0;  ///< another seed chooses other blocks
  bool all() const { return share >= 1; }
  bool valid() const { return share > 0 && share <= 1; }  // false for NaN
  friend bool operator==(const SampleChoice&, const SampleChoice&) = default;
};

/// Of a launch whose blocks were not all counted.
struct LaunchSample {
  SampleChoice choice;
  uint64_t counted_blocks = 0, blocks = 0;
  /// The launch's counts are estimates for all its blocks. False when the launch was cut short: then they are sums over
  /// the `counted_blocks` blocks that were counted until then, and there are no errors.
  bool scaled = false;
  /// Standard errors of LaunchCounts' numbers, in the order of SiteCounts' and BlockCounts' members.
  std::vector<std::array<double, 8>> site_errors;
  std::vector<std::array<double, 2>> block_errors;
  friend bool operator==(const LaunchSample&, const LaunchSample&) = default;
};

/// Null: the number is exact, or has no error because it was not scaled.
inline const std::array<double, 8>* site_errors(const LaunchSample* sample, size_t site) {
  return sample != nullptr && site < sample->site_errors.size() ? &sample->site_errors[site] : nullptr;
}
inline const std::array<double, 2>* block_errors(const LaunchSample* sample, size_t block) {
  return sample != nullptr && block < sample->block_errors.size() ? &sample->block_errors[block] : nullptr;
}

}  // namespace warplens::events
