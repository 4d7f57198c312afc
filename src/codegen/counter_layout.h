// SPDX-License-Identifier: Apache-2.0
// The words behind WarpContext::counters, one array a worker. Generated code adds to them at the end of each warp; the
// sums over all workers are turned into LaunchCounts by `counts_from_words`.
//
//   [block * 4 + 0]  runs of the basic block with at least one lane; generated code leaves out those of words 2 and 3,
//                    and the executor adds them before it collects
//   [block * 4 + 1]  active lanes over those runs, likewise
//   [block * 4 + 2]  runs in the full-mask clone (all 32 lanes active)
//   [block * 4 + 3]  runs in the copy of a loop for equal lanes (all 32 lanes active, too)
//   then 9 words a site, in the order of events::SiteCounts: what generated code counted explicitly.
//
// A site whose cost under a full mask is a compile-time constant has no code in the full-mask clone: its counts are
// (full runs of its block) x constant, kept in ConstantCost and added when collecting. Copies for equal lanes count
// what they cost themselves, since addresses have other classes there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "events/events.h"

namespace warplens::codegen {

constexpr size_t kWordsPerBlock = 4;
constexpr size_t kWordsPerSite = 9;

struct CounterLayout {
  size_t blocks = 0, sites = 0;
  size_t block_word(size_t block, size_t k) const { return block * kWordsPerBlock + k; }
  size_t site_word(size_t site, size_t k) const { return blocks * kWordsPerBlock + site * kWordsPerSite + k; }
  size_t words() const { return blocks * kWordsPerBlock + sites * kWordsPerSite; }
};

/// Adds to the words of one site.
void add_words(uint64_t* words, const events::SiteCounts& counts);

/// What a site costs without code of its own; `block` is where the site is.
struct ConstantCost {
  enum class Per : uint8_t {
    kFullRun,  ///< `cost` for each run of the block in the full-mask clone
    kRun,  ///< requests and lanes are the block's own, in all copies (an instruction without guard); `cost` is unused
  };
  uint32_t site = 0, block = 0;
  events::SiteCounts cost;
  Per per = Per::kFullRun;
};

events::LaunchCounts counts_from_words(const CounterLayout& layout, const std::vector<uint64_t>& words,
                                       const std::vector<ConstantCost>& constants);

}  // namespace warplens::codegen
