// SPDX-License-Identifier: Apache-2.0
#include "report/fold.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "report/finding_view.h"

namespace warplens::report {
namespace {

using Key = std::tuple<size_t, std::array<uint32_t, 11>, bool, bool, bool, uint64_t>;

Key key_of(const LaunchRecord& l, Folding folding, uint64_t number) {
  const LaunchShape& s = l.shape;
  return {l.kernel,
          {s.grid.x, s.grid.y, s.grid.z, s.block.x, s.block.y, s.block.z, s.cluster.x, s.cluster.y, s.cluster.z,
           s.static_shared_bytes, s.dynamic_shared_bytes},
          l.counts != nullptr,
          l.sample != nullptr,
          l.complete,
          folding == Folding::kNone ? number : 0};
}

void widen(Spread& spread, double value, bool first) {
  spread.min = first ? value : std::min(spread.min, value);
  spread.max = first ? value : std::max(spread.max, value);
  spread.sum += value;
}

void add_counts(events::LaunchCounts& sum, const events::LaunchCounts& one) {
  sum.sites.resize(one.sites.size());
  sum.blocks.resize(one.blocks.size());
  for (size_t i = 0; i < one.sites.size(); ++i) sum.sites[i] += one.sites[i];
  for (size_t i = 0; i < one.blocks.size(); ++i) sum.blocks[i] += one.blocks[i];
}

template <size_t N>
void add_errors(std::vector<std::array<double, N>>& sum, const std::vector<std::array<double, N>>& one) {
  sum.resize(std::max(sum.size(), one.size()));
  for (size_t i = 0; i < one.size(); ++i)
    for (size_t k = 0; k < N; ++k) sum[i][k] += one[i][k];
}

/// Launches are sampled at the same places, so their errors may be alike: they add up.
void add_sample(std::optional<events::LaunchSample>& sum, const events::LaunchSample& one) {
  if (!sum) {
    sum = one;
    return;
  }
  sum->counted_blocks += one.counted_blocks;
  sum->blocks += one.blocks;
  sum->scaled &= one.scaled;
  add_errors(sum->site_errors, one.site_errors);
  add_errors(sum->block_errors, one.block_errors);
}

void add(FoldedLaunch& group, const LaunchRecord& l, const events::KernelInfo& kernel) {
  const bool first = group.launches == 0;
  if (first) {
    group.kernel = l.kernel;
    group.shape = l.shape;
    group.first_id = l.id;
    group.param_bytes = l.param_bytes;
    group.counted = l.counts != nullptr;
    group.complete = l.complete;
    group.occupancy = l.occupancy;
  }
  widen(group.seconds, l.seconds, first);
  if (l.counts != nullptr) {
    const Totals t = totals_of(kernel, *l.counts, l.sample.get());
    widen(group.requests, static_cast<double>(t.all(Memory::kGlobal).requests), first);
    widen(group.sectors, static_cast<double>(t.all(Memory::kGlobal).sectors), first);
    widen(group.wavefronts, static_cast<double>(t.all(Memory::kShared).wavefronts), first);
    add_counts(group.counts, *l.counts);
    if (l.sample != nullptr) add_sample(group.sample, *l.sample);
    group.totals += t;
  }
  for (const events::Finding& f : l.findings)
    if (std::ranges::none_of(group.findings, [&](const events::Finding& earlier) { return is_repeated(f, earlier); }))
      group.findings.push_back(f);
  ++group.launches;
}

}  // namespace

std::vector<FoldedLaunch> fold(const RunRecord& run, Folding folding) {
  std::vector<FoldedLaunch> groups;
  std::map<Key, size_t> group_of;
  for (uint64_t number = 0; number < run.launches.size(); ++number) {
    const LaunchRecord& l = run.launches[number];
    const auto [it, fresh] = group_of.try_emplace(key_of(l, folding, number), groups.size());
    if (fresh) groups.emplace_back();
    add(groups[it->second], l, run.kernels[l.kernel].info);
  }
  return groups;
}

std::vector<size_t> worst_first(const std::vector<FoldedLaunch>& groups) {
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto badness = [&](size_t i) {
    const Traffic global = groups[i].totals.all(Memory::kGlobal), shared = groups[i].totals.all(Memory::kShared);
    return std::tuple(global.excess() + shared.excess(), global.sectors, groups[i].launches, groups.size() - i);
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return badness(a) > badness(b); });
  return order;
}

}  // namespace warplens::report
