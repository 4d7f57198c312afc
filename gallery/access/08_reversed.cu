// SPDX-License-Identifier: Apache-2.0
// Idea: lanes read their line backwards.
// Change: index xor 31.
// Expected: as 01.
// Measured on an H200: 55.8 us, 2.40 TB/s at size 16777216.
#include "access.h"

__host__ __device__ inline size_t index_of(int i, int n) { return (i ^ 31) + 0 * n; }

__global__ void reversed(gallery::Access p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = p.in[index_of(i, p.n)] + 1.0f;
}

int main(int argc, char** argv) {
  return gallery::run_access(
      argc, argv, "access/08_reversed", 1, [](const gallery::Access& p) { reversed<<<(p.n + 255) / 256, 256>>>(p); },
      index_of);
}
