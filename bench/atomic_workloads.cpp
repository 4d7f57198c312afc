// SPDX-License-Identifier: Apache-2.0
// Atomics, by where they go and what they are: each as many threads, rounds and sums, so that their times compare. Sums
// are whole numbers small enough for floats, so any order gives the same.
#include <algorithm>
#include <vector>

#include "workloads.h"

namespace warplens::bench {
namespace {

constexpr uint32_t kThreads = 1 << 15, kBlock = 256;
constexpr int kRounds = 32;

uint32_t next_number(uint32_t v) { return v * 1664525u + 1013904223u; }

/// Calls add(thread, number) as the kernels do.
template <typename F>
void for_each_number(F&& add) {
  for (uint32_t i = 0; i < kThreads; ++i) {
    uint32_t v = i;
    for (int r = 0; r < kRounds; ++r) add(i, v = next_number(v));
  }
}

}  // namespace

void Workloads::add_atomics() {
  const auto add = [&]<typename T>(const std::string& name, const std::string& entry, T* sums, std::vector<T> want) {
    EngineKernel& k = kernel(*kernels_, entry, {kThreads / kBlock, 1, 1}, {kBlock, 1, 1});
    k.argument(kRounds).argument(sums);
    all_[name] = {&k, 0, [=] { return std::equal(want.begin(), want.end(), sums); },
                  [=, size = want.size()] { std::fill_n(sums, size, T{}); }, double{kThreads} / 32 * kRounds};
  };
  std::vector<uint32_t> spread(kThreads), bins(kThreads), one(1);
  float ones = 0;
  for_each_number([&](uint32_t i, uint32_t v) {
    spread[i] += v >> 24;
    one[0] += v >> 24;
    ones += static_cast<float>(v >> 31);
    bins[i / kBlock * kBlock + (v >> 24)] += v >> 16 & 7;
  });
  auto* sums = kernels_->array<uint32_t>(kThreads);
  auto* float_sums = kernels_->array<float>(kThreads);
  add("atomics_spread", "_Z14atomics_spreadiPj", sums, spread);
  add("atomics_one_place", "_Z17atomics_one_placeiPj", sums, one);
  add("atomics_one_place_float", "_Z23atomics_one_place_floatiPf", float_sums, std::vector<float>{ones});
  add("atomics_shared", "_Z14atomics_sharediPj", sums, bins);
  add("atomics_shared_float", "_Z20atomics_shared_floatiPf", float_sums, std::vector<float>(bins.begin(), bins.end()));
  add("atomics_shared_cas", "_Z18atomics_shared_casiPj", sums, bins);
}

}  // namespace warplens::bench
