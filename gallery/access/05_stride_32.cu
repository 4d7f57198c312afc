// SPDX-License-Identifier: Apache-2.0
// Idea: every 32nd word: each lane has a line of 128 bytes of its own.
// Change: index times 32.
// Expected: 32 sectors a request as with stride 8; DRAM delivers more than a sector at a time, so time still grows.
// Measured on an H200: 300.3 us, 447 GB/s at size 16777216.
#include "access.h"

__host__ __device__ inline size_t index_of(int i, int n) { return size_t(32) * i + 0 * n; }

__global__ void stride_32(gallery::Access p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = p.in[index_of(i, p.n)] + 1.0f;
}

int main(int argc, char** argv) {
  return gallery::run_access(
      argc, argv, "access/05_stride_32", 32, [](const gallery::Access& p) { stride_32<<<(p.n + 255) / 256, 256>>>(p); },
      index_of);
}
