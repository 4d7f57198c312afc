// SPDX-License-Identifier: Apache-2.0
// Idea: a thread's own array of structures, three numbers each.
// Change: 04 with structures. In global memory an array of structures spreads a warp's loads (access/11).
// Expected bottleneck: as 04, L1: local memory is interleaved word by word, so the same field of the same structure in
// all lanes is still one line of 128 bytes.
// Measured on an H200: 612.6 us, 5.26 Tload/s at size 1048576.
#include "hierarchy.h"

struct Point {
  float x, y, z;
};

__global__ void structures_in_array(gallery::Place p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Point mine[16];
#pragma unroll
  for (int k = 0; k < 16; ++k) mine[k] = {gallery::number(k + i), gallery::number(k), gallery::number(i)};
  float sum = 0;
  for (int r = 0; r < p.rounds; ++r) {
#pragma unroll 1
    for (int k = 0; k < 16; ++k) {
      const Point& one = mine[(k * 5 + r) & 15];
      sum += one.x + one.y - one.z;
    }
  }
  if (i < p.n) p.out[i] = sum;
}

int main(int argc, char** argv) {
  return gallery::run_places(
      argc, argv, "hierarchy/08_structures_in_array",
      [](const gallery::Place& p) { structures_in_array<<<(p.n + 255) / 256, 256>>>(p); },
      [](int i, int rounds) {
        double sum = 0;  // a round reads each structure once
        for (int k = 0; k < 16; ++k) sum += gallery::number(k + i) + gallery::number(k) - gallery::number(i);
        return sum * rounds;
      },
      48);
}
