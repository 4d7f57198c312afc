// SPDX-License-Identifier: Apache-2.0
// Idea: a block loads a tile of A and of B to shared memory once and uses every number 16 times.
// Change: two barriers a tile (one after loading, one after use); edges are filled with zeros, so any k is right.
// Expected bottleneck: global traffic falls by 16; each multiplication still needs two loads from shared memory.
// Measured on an H200: 17.05 ms, 8.06 TFLOP/s at size 4096.
#include "matmul.h"

constexpr int kTile = 16, kPad = 0;

__global__ void tiled_16(gallery::Matmul p) {
  __shared__ float a[kTile][kTile + kPad], b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int k0 = 0; k0 < p.k; k0 += kTile) {
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
  return gallery::run_matmul(argc, argv, "matmul/04_tiled_16", [](const gallery::Matmul& p) {
    tiled_16<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(p);
  });
}
