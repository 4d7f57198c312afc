// SPDX-License-Identifier: Apache-2.0
#include "exec/block_sample.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace warplens::exec {
namespace {

constexpr size_t kSiteWords = 9, kBlockWords = 2;

/// The finaliser of splitmix64: every bit of the result depends on every bit of `x`.
uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// `strata` runs of neighbours, as equal as can be, the longer ones first; which one `index` is in, and its place
/// there.
struct Position {
  uint64_t stratum, units, place;
};
Position position_of(uint64_t index, uint64_t units, uint64_t strata) {
  const uint64_t small = units / strata, longer = units % strata;
  if (index < longer * (small + 1)) return {index / (small + 1), small + 1, index % (small + 1)};
  index -= longer * (small + 1);
  return {longer + index / small, small, index % small};
}

}  // namespace

unsigned BlockSample::Axis::part_of(uint64_t coordinate) const {
  return coordinate == 0 ? 0 : coordinate < begin[2] ? 1 : 2;
}

BlockSample::BlockSample(const events::Dim3& grid, const events::SampleChoice& choice)
    : grid_(grid), seed_(choice.seed) {
  WL_CHECK(choice.valid() && grid.count() != 0);
  const std::array<uint64_t, 3> extents = {grid.x, grid.y, grid.z};
  for (size_t a = 0; a < 3; ++a) {
    const uint64_t inner = extents[a] > 2 ? extents[a] - 2 : 0;
    axes_[a].begin = {0, 1, 1 + inner};
    axes_[a].extent = {1, inner, extents[a] > 1 ? 1u : 0u};
  }
  uint64_t strata = 0;
  for (size_t p = 0; p < parts_.size(); ++p) {
    Part& part = parts_[p];
    part.units = axes_[0].extent[p % 3] * axes_[1].extent[p / 3 % 3] * axes_[2].extent[p / 9];
    if (part.units == 0) continue;
    const double pairs = std::round(choice.share * static_cast<double>(part.units) / 2);
    part.strata = std::clamp<uint64_t>(static_cast<uint64_t>(pairs), 1, std::max<uint64_t>(part.units / 2, 1));
    part.first_stratum = strata;
    strata += part.strata;
    counted_units_ += std::min(part.units, 2 * part.strata);
  }
}

std::optional<BlockSample::Stratum> BlockSample::counted(uint64_t unit) const {
  const std::array<uint64_t, 3> at = {unit % grid_.x, unit / grid_.x % grid_.y, unit / grid_.x / grid_.y};
  uint64_t index = 0, which = 0;
  for (size_t a = 3; a-- > 0;) {
    const unsigned p = axes_[a].part_of(at[a]);
    index = index * axes_[a].extent[p] + (at[a] - axes_[a].begin[p]);
    which = which * 3 + p;
  }
  const Part& part = parts_[which];
  const Position here = position_of(index, part.units, part.strata);
  const Stratum stratum{part.first_stratum + here.stratum, here.units};
  if (here.units <= 2) return stratum;
  const uint64_t bits = mixed(seed_ ^ mixed(stratum.id));
  const uint64_t first = bits % here.units;
  uint64_t second = mixed(bits) % (here.units - 1);
  if (second >= first) ++second;
  if (here.place != first && here.place != second) return std::nullopt;
  return stratum;
}

void SampleSums::add(const BlockSample::Stratum& stratum, const events::LaunchCounts& counts) {
  Words words;
  words.reserve(counts.sites.size() * kSiteWords + counts.blocks.size() * kBlockWords);
  for (const events::SiteCounts& c : counts.sites)
    words.insert(words.end(), {c.requests, c.lanes, c.sectors, c.lines, c.ideal_sectors, c.wavefronts,
                               c.ideal_wavefronts, c.repeated_sectors, c.empty_wavefronts});
  for (const events::BlockCounts& c : counts.blocks) words.insert(words.end(), {c.warps, c.lanes});

  const std::lock_guard lock(mutex_);
  if (added_++ == 0) {
    sites_ = counts.sites.size();
    blocks_ = counts.blocks.size();
    sums_.assign(words.size(), 0);
    twice_estimates_.assign(words.size(), 0);
    variances_.assign(words.size(), 0);
  }
  WL_CHECK(words.size() == sums_.size());
  for (size_t i = 0; i < words.size(); ++i) sums_[i] += words[i];
  if (stratum.units == 1) {
    for (size_t i = 0; i < words.size(); ++i) twice_estimates_[i] += 2 * words[i];
    return;
  }
  auto half = halves_.find(stratum.id);
  if (half == halves_.end()) {
    halves_.emplace(stratum.id, std::move(words));
    return;
  }
  const Words& other = half->second;
  const double weight = static_cast<double>(stratum.units) * static_cast<double>(stratum.units - 2) / 4;
  for (size_t i = 0; i < words.size(); ++i) {
    twice_estimates_[i] += stratum.units * (words[i] + other[i]);
    const double difference = static_cast<double>(words[i]) - static_cast<double>(other[i]);
    variances_[i] += weight * difference * difference;
  }
  halves_.erase(half);
}

events::LaunchCounts SampleSums::counts_of(const Words& words) const {
  events::LaunchCounts counts;
  if (words.empty()) return counts;
  const uint64_t* w = words.data();
  for (size_t i = 0; i < sites_; ++i, w += kSiteWords)
    counts.sites.push_back({w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]});
  for (size_t i = 0; i < blocks_; ++i, w += kBlockWords) counts.blocks.push_back({w[0], w[1]});
  return counts;
}

events::LaunchCounts SampleSums::estimates() const {
  WL_CHECK(halves_.empty(), "{} strata lack a block", halves_.size());
  Words halved = twice_estimates_;
  for (uint64_t& word : halved) word = word / 2 + word % 2;
  return counts_of(halved);
}

events::LaunchCounts SampleSums::sums() const { return counts_of(sums_); }

void SampleSums::give_errors(events::LaunchSample& sample) const {
  const double* v = variances_.data();
  for (size_t i = 0; i < sites_;
       ++i, v += kSiteWords) {  // a part of the passes, the last word, has no error of its own
    auto& errors = sample.site_errors.emplace_back();
    for (size_t k = 0; k < errors.size(); ++k) errors[k] = std::sqrt(v[k]);
  }
  for (size_t i = 0; i < blocks_; ++i)
    for (double& error : sample.block_errors.emplace_back()) error = std::sqrt(*v++);
}

}  // namespace warplens::exec
