// SPDX-License-Identifier: Apache-2.0
// Idea: one thread makes one element of C; threadIdx.x walks down the ROWS. What a translation of the formula gives.
// Change: none, the first rung.
// Expected bottleneck: a warp's 32 threads lie in 32 rows, so a load of A and a store to C touch 32 sectors of 32
// bytes and use 4 bytes of each; the load/store unit is busy with sectors nobody wants.
// Measured on an H200: 275.85 ms, 498 GFLOP/s at size 4096.
#include "matmul.h"

__global__ void rows_on_x(gallery::Matmul p) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= p.m || col >= p.n) return;
  float sum = 0;
  for (int k = 0; k < p.k; ++k) sum += p.a[size_t(row) * p.k + k] * p.b[size_t(k) * p.n + col];
  float& c = p.c[size_t(row) * p.n + col];
  c = p.beta != 0 ? p.alpha * sum + p.beta * c : p.alpha * sum;
}

int main(int argc, char** argv) {
  return gallery::run_matmul(argc, argv, "matmul/01_rows_on_x", [](const gallery::Matmul& p) {
    rows_on_x<<<dim3((p.m + 31) / 32, (p.n + 31) / 32), dim3(32, 32)>>>(p);
  });
}
