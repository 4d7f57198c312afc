// SPDX-License-Identifier: Apache-2.0
// Idea: three floats a thread, which no single load can take: three loads 12 bytes apart from thread to thread.
// Change: structures of three.
// Expected: 12 sectors for each of three requests; two thirds come from L1.
// Measured on an H200: 75.3 us, 3.56 TB/s at size 16777216.
#include "access.h"

__global__ void triples(gallery::Access p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = (p.in[3 * size_t(i)] + p.in[3 * size_t(i) + 1]) + p.in[3 * size_t(i) + 2];
}

int main(int argc, char** argv) {
  return gallery::run_values(
      argc, argv, "access/14_float3", 3, [](const gallery::Access& p) { triples<<<(p.n + 255) / 256, 256>>>(p); },
      [](const float* in, int i, int n) {
        return (in[3 * size_t(i)] + in[3 * size_t(i) + 1]) + in[3 * size_t(i) + 2] + 0 * n;
      },
      12 + 4);
}
