// SPDX-License-Identifier: Apache-2.0
// Fault: the loop runs k / tile times, so what is left of k when the tile does not divide it is never added.
// Right: gallery/matmul/04_tiled_16.cu
// Expected: wrong results (no rule: nothing is accessed wrongly), exit code 1
#include "../matmul/matmul.h"

constexpr int kTile = 16;

__global__ void remainder_dropped(gallery::Matmul p) {
  __shared__ float a[kTile][kTile], b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int tile = 0; tile < p.k / kTile; ++tile) {  // must be (p.k + kTile - 1) / kTile
    const int k0 = tile * kTile;
    a[ty][tx] = row < p.m && k0 + tx < p.k ? p.a[size_t(row) * p.k + k0 + tx] : 0;
    b[ty][tx] = k0 + ty < p.k && col < p.n ? p.b[size_t(k0 + ty) * p.n + col] : 0;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += a[ty][k] * b[k][tx];
    __syncthreads();
  }
  if (row >= p.m || col >= p.n) return;
  float& c = p.c[size_t(row) * p.n + col];
  c = p.beta != 0 ? p.alpha * sum + p.beta * c : p.alpha * sum;
}

int main(int argc, char** argv) {
  return gallery::run_matmul(argc, argv, "faulty/remainder_dropped", [](const gallery::Matmul& p) {
    remainder_dropped<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(p);
  });
}
