// SPDX-License-Identifier: Apache-2.0
// Idea: the same warps as in 02, written with a two-dimensional block.
// Change: threadIdx.x is the column, threadIdx.y the row; blockIdx.x walks along columns. Does the shape of the block
// matter? The warps are the same; the order of the blocks, and so what the caches hold, is not.
// Expected bottleneck: as 02.
// Measured on an H200: 23.36 ms, 5.88 TFLOP/s at size 4096.
#include "matmul.h"

__global__ void coalesced_2d(gallery::Matmul p) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= p.m || col >= p.n) return;
  float sum = 0;
  for (int k = 0; k < p.k; ++k) sum += p.a[size_t(row) * p.k + k] * p.b[size_t(k) * p.n + col];
  float& c = p.c[size_t(row) * p.n + col];
  c = p.beta != 0 ? p.alpha * sum + p.beta * c : p.alpha * sum;
}

int main(int argc, char** argv) {
  return gallery::run_matmul(argc, argv, "matmul/03_coalesced_2d", [](const gallery::Matmul& p) {
    coalesced_2d<<<dim3((p.n + 31) / 32, (p.m + 31) / 32), dim3(32, 32)>>>(p);
  });
}
