// SPDX-License-Identifier: Apache-2.0
// Idea: a structure of 128 bytes, handed by address to a function that is not inlined.
// Change: all its places are known when compiling, as in 03; but what has an address cannot lie in registers.
// Expected bottleneck: as 04: each access is one of local memory.
// Measured on an H200: 280.6 us, 957 Gload/s at size 1048576.
#include "hierarchy.h"

struct Large {
  float v[32];
};

__device__ __noinline__ float add_up(Large& large) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) sum += large.v[8 * k]++;
  return sum;
}

__global__ void large_structure(gallery::Place p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float base = gallery::number(i);
  Large mine;
#pragma unroll
  for (int k = 0; k < 32; ++k) mine.v[k] = base + k;
  float sum = 0;
  for (int r = 0; r < p.rounds; ++r) sum += add_up(mine);
  if (i < p.n) p.out[i] = sum;
}

int main(int argc, char** argv) {
  return gallery::run_places(
      argc, argv, "hierarchy/09_large_structure",
      [](const gallery::Place& p) { large_structure<<<(p.n + 255) / 256, 256>>>(p); },
      [](int i, int rounds) {
        double sum = 0;
        for (int r = 0; r < rounds; ++r)
          for (int k = 0; k < 4; ++k) sum += gallery::number(i) + 8 * k + r;
        return sum;
      },
      4);
}
