// SPDX-License-Identifier: Apache-2.0
// Idea: the same table, but every lane reads an entry of its own.
// Change: the lane is part of the index.
// Expected bottleneck: constant memory gives one word at a time, so 32 different ones take 32 turns.
// Measured on an H200: 8.48 ms, 127 Gload/s at size 1048576.
#include "hierarchy.h"

__constant__ float table[64];

__global__ void constant_divergent(gallery::Place p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int r = 0; r < p.rounds; ++r)
    for (int k = 0; k < 16; ++k) sum += table[(k + r + i) & 63];
  if (i < p.n) p.out[i] = sum;
}

int main(int argc, char** argv) {
  float host[64];
  for (int k = 0; k < 64; ++k) host[k] = gallery::number(k);
  gallery::must(cudaMemcpyToSymbol(table, host, sizeof(host)), "table");
  return gallery::run_places(
      argc, argv, "hierarchy/02_constant_divergent",
      [](const gallery::Place& p) { constant_divergent<<<(p.n + 255) / 256, 256>>>(p); },
      [](int i, int rounds) {
        double sum = 0;
        for (int r = 0; r < rounds; ++r)
          for (int k = 0; k < 16; ++k) sum += gallery::number((k + r + i) & 63);
        return sum;
      });
}
