// SPDX-License-Identifier: Apache-2.0
// Idea: a thread that holds 96 numbers at once, in registers.
// Change: 03 with six times as many.
// Expected bottleneck: the arithmetic, although 178 registers a thread (96 numbers, and those that a round makes) leave
// room for 1 block of 256 threads, an eighth of the warps that an SM could hold: independent numbers keep it busy.
// Measured on an H200: 456.4 us, 28.23 TFLOP/s at size 1048576.
#include "hierarchy.h"

constexpr int kHeld = 96;

/// One round: all numbers are needed all the time.
template <class T>
__host__ __device__ inline void mix(T (&v)[kHeld]) {
#pragma unroll
  for (int k = 0; k < kHeld; ++k) v[k] = T(0.5) * (v[k] + v[(k + 5) % kHeld]);
}

__global__ void __launch_bounds__(256) registers(gallery::Place p) {
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
      argc, argv, "hierarchy/10_registers", [](const gallery::Place& p) { registers<<<(p.n + 255) / 256, 256>>>(p); },
      [](int i, int rounds) {
        double v[kHeld];
        for (int k = 0; k < kHeld; ++k) v[k] = gallery::number(k * k + i);
        for (int r = 0; r < rounds; ++r) mix(v);
        return v[0];
      },
      2 * kHeld, "GFLOP/s");
}
