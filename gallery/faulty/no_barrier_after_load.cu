// SPDX-License-Identifier: Apache-2.0
// Fault: a tiled product whose threads use the tile without waiting for those that load it.
// Right: gallery/matmul/04_tiled_16.cu
// Expected: wrong results (no rule: races are not looked for), exit code 1
#include "../matmul/matmul.h"

constexpr int kTile = 16;

__global__ void no_barrier_after_load(gallery::Matmul p) {
  __shared__ float a[kTile][kTile], b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int k0 = 0; k0 < p.k; k0 += kTile) {
    a[ty][tx] = row < p.m && k0 + tx < p.k ? p.a[size_t(row) * p.k + k0 + tx] : 0;
    b[ty][tx] = k0 + ty < p.k && col < p.n ? p.b[size_t(k0 + ty) * p.n + col] : 0;
    // __syncthreads() is missing
    for (int k = 0; k < kTile; ++k) sum += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  if (row >= p.m || col >= p.n) return;
  float& c = p.c[size_t(row) * p.n + col];
  c = p.beta != 0 ? p.alpha * sum + p.beta * c : p.alpha * sum;
}

int main(int argc, char** argv) {
  return gallery::run_matmul(argc, argv, "faulty/no_barrier_after_load", [](const gallery::Matmul& p) {
    no_barrier_after_load<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(p);
  });
}
