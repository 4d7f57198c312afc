// SPDX-License-Identifier: Apache-2.0
// Idea: the same array with an index known only when it runs, the same for all lanes.
// Change: the index depends on the round.
// Expected bottleneck: registers cannot be indexed, so the array moves to local memory: in memory, but interleaved by
// lane, so that one index in all lanes is one line of 128 bytes, from L1.
// Measured on an H200: 396.8 us, 2.71 Tload/s at size 1048576.
#include "hierarchy.h"

__global__ void array_same_index(gallery::Place p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float mine[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) mine[k] = gallery::number(k + i);
  float sum = 0;
  for (int r = 0; r < p.rounds; ++r) {
#pragma unroll 1
    for (int k = 0; k < 16; ++k) sum += mine[(k * 5 + r) & 15];
  }
  if (i < p.n) p.out[i] = sum;
}

int main(int argc, char** argv) {
  return gallery::run_places(
      argc, argv, "hierarchy/04_array_same_index",
      [](const gallery::Place& p) { array_same_index<<<(p.n + 255) / 256, 256>>>(p); },
      [](int i, int rounds) {
        double sum = 0;
        for (int r = 0; r < rounds; ++r)
          for (int k = 0; k < 16; ++k) sum += gallery::number(((k * 5 + r) & 15) + i);
        return sum;
      });
}
