// SPDX-License-Identifier: Apache-2.0
// What the last rungs of hierarchy/ run: each warp goes from line to line of a table that only L2 holds (1 MiB), each
// line naming the next, and out[i] is where it ended. A load's latency is open for its warp, so what counts is how many
// warps an SM holds: the launches differ in that only.
#pragma once
#include "hierarchy.h"

namespace gallery {

constexpr unsigned kLines = 8192;
static __device__ unsigned lines[kLines * 32];

__host__ __device__ inline unsigned next_line(unsigned line) { return (line * 1664525u + 1013904223u) % kLines; }

static __global__ void from_line_to_line(Place p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= p.n) return;
  unsigned line = i / 32 % kLines;
  for (int k = 0; k < 16 * p.rounds; ++k) line = lines[line * 32 + i % 32];
  p.out[i] = static_cast<float>(line);
}

inline int run_residents(int argc, char** argv, const char* name, int threads, int shared_bytes) {
  std::vector<unsigned> table(kLines * 32);
  for (unsigned k = 0; k < kLines * 32; ++k) table[k] = next_line(k / 32);
  must(cudaMemcpyToSymbol(lines, table.data(), 4 * table.size()), "table");
  must(cudaFuncSetAttribute(from_line_to_line, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes), "shared");
  return run_places(
      argc, argv, name,
      [=](const Place& p) { from_line_to_line<<<(p.n + threads - 1) / threads, threads, shared_bytes>>>(p); },
      [](int i, int rounds) {
        unsigned line = i / 32 % kLines;
        for (int k = 0; k < 16 * rounds; ++k) line = next_line(line);
        return double(line);
      });
}

}  // namespace gallery
