// SPDX-License-Identifier: Apache-2.0
// Idea: C = A^T B with A stored k x m: each thread loads the element of A that it would load in a tiled A B.
// Change: none, the first rung (matmul/05 with A the other way round).
// Expected bottleneck: a warp walks down a column of A: 32 sectors a load, 4 bytes of each used.
// Measured on an H200: 24.15 ms, 5.69 TFLOP/s at size 4096.
#include "../matmul/matmul.h"

constexpr int kTile = 32;

__global__ void straight(gallery::Matmul p) {
  __shared__ float a[kTile][kTile + 0], b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int k0 = 0; k0 < p.k; k0 += kTile) {
    a[ty][tx] = k0 + tx < p.k && row < p.m ? p.a[size_t(k0 + tx) * p.m + row] : 0;
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
  return gallery::run_matmul(
      argc, argv, "corner_turning/01_straight",
      [](const gallery::Matmul& p) {
        straight<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(p);
      },
      gallery::StoredA::KxM);
}
