// SPDX-License-Identifier: Apache-2.0
// From the counter words that generated code filled to counts by site and block: explicit words, plus what is known per
// run of a block.
#include "codegen/counter_layout.h"

#include "base/check.h"

namespace warplens::codegen {
namespace {

events::SiteCounts times(const events::SiteCounts& cost, uint64_t n) {
  return {cost.requests * n,        cost.lanes * n,      cost.sectors * n,          cost.lines * n,
          cost.ideal_sectors * n,   cost.wavefronts * n, cost.ideal_wavefronts * n, cost.repeated_sectors * n,
          cost.empty_wavefronts * n};
}

}  // namespace

void add_words(uint64_t* words, const events::SiteCounts& counts) {
  const uint64_t added[kWordsPerSite] = {
      counts.requests,        counts.lanes,      counts.sectors,          counts.lines,
      counts.ideal_sectors,   counts.wavefronts, counts.ideal_wavefronts, counts.repeated_sectors,
      counts.empty_wavefronts};
  for (size_t k = 0; k < kWordsPerSite; ++k) words[k] += added[k];
}

events::LaunchCounts counts_from_words(const CounterLayout& layout, const std::vector<uint64_t>& words,
                                       const std::vector<ConstantCost>& constants) {
  WL_CHECK(words.size() >= layout.words(), "{} counter words, {} wanted", words.size(), layout.words());
  events::LaunchCounts counts;
  counts.blocks.resize(layout.blocks);
  counts.sites.resize(layout.sites);
  for (size_t b = 0; b < layout.blocks; ++b)
    counts.blocks[b] = {words[layout.block_word(b, 0)], words[layout.block_word(b, 1)]};
  for (size_t s = 0; s < layout.sites; ++s) {
    const uint64_t* w = &words[layout.site_word(s, 0)];
    counts.sites[s] = {w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]};
  }
  for (const ConstantCost& c : constants) {
    if (c.per == ConstantCost::Per::kFullRun) {
      counts.sites[c.site] += times(c.cost, words[layout.block_word(c.block, 2)]);
    } else {
      counts.sites[c.site].requests += words[layout.block_word(c.block, 0)];
      counts.sites[c.site].lanes += words[layout.block_word(c.block, 1)];
    }
  }
  return counts;
}

}  // namespace warplens::codegen
