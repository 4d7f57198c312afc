// SPDX-License-Identifier: Apache-2.0
// Idea: one way, but loops of different length: lane l takes (l + 1) / 32 of the steps.
// Change: no branch, only the number of steps.
// Expected bottleneck: a warp is as slow as its longest lane: half the work in the time of 01. (The figure counts all
// steps.)
// Measured on an H200: 286.5 us, 7.50 Tstep/s at size 1048576.
#include "divergence.h"

__host__ __device__ inline gallery::Path path_of(int i, int steps) { return {i < 0, steps * (i % 32 + 1) / 32}; }

__global__ void lengths(gallery::Walk w) {
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
      argc, argv, "divergence/04_lengths", [](const gallery::Walk& w) { lengths<<<(w.n + 255) / 256, 256>>>(w); },
      path_of);
}
