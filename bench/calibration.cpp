// SPDX-License-Identifier: Apache-2.0
#include "calibration.h"

#include <array>
#include <chrono>

namespace warplens::bench {
namespace {

constexpr int kVectors = 10, kLanes = 16;  // more than latency x ports: the loop waits for nothing
using Vector [[gnu::vector_size(4 * kLanes)]] = float;

}  // namespace

double fma_lanes_per_second() {
  constexpr int kRounds = 200'000;
  std::array<Vector, kVectors> sum{};
  Vector factor = Vector{} + 0.999f, term = Vector{} + 0.001f;
  asm volatile("" : "+m"(factor), "+m"(term));
  const Vector f = factor, t = term;
  const auto begin = std::chrono::steady_clock::now();
  for (int r = 0; r < kRounds; ++r)
    for (auto& s : sum) s = s * f + t;
  const auto end = std::chrono::steady_clock::now();
  for (auto& s : sum) asm volatile("" : : "m"(s));
  return double(kRounds) * kVectors * kLanes / std::chrono::duration<double>(end - begin).count();
}

}  // namespace warplens::bench
