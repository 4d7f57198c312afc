// SPDX-License-Identifier: Apache-2.0
// Idea: odd warps go the other way.
// Change: the condition is the same for all lanes of a warp.
// Expected bottleneck: as 01, but for the second chain, which takes two instructions a step instead of one: warps are
// independent, so a branch between them is free.
// Measured on an H200: 358.8 us, 5.98 Tstep/s at size 1048576.
#include "divergence.h"

__host__ __device__ inline gallery::Path path_of(int i, int steps) { return {i / 32 % 2 != 0, steps}; }

__global__ void by_warp(gallery::Walk w) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w.n) return;
  const gallery::Path path = path_of(i, w.steps);
  unsigned x = i;
  if (path.second) {
#pragma unroll 1
    for (int s = 0; s < path.steps; ++s) x = gallery::second_step(x);
  } else {
#pragma unroll 1
    for (int s = 0; s < path.steps; ++s) x = gallery::first_step(x);
  }
  w.out[i] = x;
}

int main(int argc, char** argv) {
  return gallery::run_walks(
      argc, argv, "divergence/02_by_warp", [](const gallery::Walk& w) { by_warp<<<(w.n + 255) / 256, 256>>>(w); },
      path_of);
}
