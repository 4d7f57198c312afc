// SPDX-License-Identifier: Apache-2.0
// Idea: "more warps are faster", so the compiler is told to fit 8 blocks of 256 threads into an SM.
// Change: the second number of __launch_bounds__: at most 65,536 / (8 * 256) = 32 registers a thread.
// -maxrregcount 32 does the same for all kernels of a file.
// Expected bottleneck: local memory: two thirds of the numbers are spilled, stored and loaded again in each round. Full
// occupancy, and slower. Spills are made by the GPU's assembler; `warplens run` counts the PTX, which has none.
// Measured on an H200: 25.91 ms, 497 GFLOP/s at size 1048576.
#include "hierarchy.h"

constexpr int kHeld = 96;

/// One round: all numbers are needed all the time.
template <class T>
__host__ __device__ inline void mix(T (&v)[kHeld]) {
#pragma unroll
  for (int k = 0; k < kHeld; ++k) v[k] = T(0.5) * (v[k] + v[(k + 5) % kHeld]);
}

__global__ void __launch_bounds__(256, 8) registers_capped(gallery::Place p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v[kHeld];
#pragma unroll
  for (int k = 0; k < kHeld; ++k) v[k] = gallery::number(k * k + i);
#pragma unroll 1
  for (int r = 0; r < p.rounds; ++r) mix(v);
  if (i < p.n) p.out[i] = v[0];
}

int main(int argc, char** argv) {
  return gallery::run_places(
      argc, argv, "hierarchy/11_registers_capped",
      [](const gallery::Place& p) { registers_capped<<<(p.n + 255) / 256, 256>>>(p); },
      [](int i, int rounds) {
        double v[kHeld];
        for (int k = 0; k < kHeld; ++k) v[k] = gallery::number(k * k + i);
        for (int r = 0; r < rounds; ++r) mix(v);
        return v[0];
      },
      2 * kHeld, "GFLOP/s");
}
