// SPDX-License-Identifier: Apache-2.0
// Idea: odd lanes go the other way.
// Change: the condition differs inside each warp.
// Expected bottleneck: each warp walks both ways, one after the other, half of its lanes idle: the sum of both times,
// twice that of 02.
// Measured on an H200: 710.9 us, 3.02 Tstep/s at size 1048576.
#include "divergence.h"

__host__ __device__ inline gallery::Path path_of(int i, int steps) { return {i % 2 != 0, steps}; }

__global__ void by_lane(gallery::Walk w) {
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
      argc, argv, "divergence/03_by_lane", [](const gallery::Walk& w) { by_lane<<<(w.n + 255) / 256, 256>>>(w); },
      path_of);
}
