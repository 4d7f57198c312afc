// SPDX-License-Identifier: Apache-2.0
// Fault: C = A^T B with A's tile turned on the way to shared memory, a[row][k], but read as if it were not: a[k][row].
// Right: gallery/corner_turning/02_turned.cu
// Expected: wrong results (no rule: every index lies inside of its array), exit code 1
#include "../matmul/matmul.h"

constexpr int kTile = 16;

__global__ void misindexed_turned_tile(gallery::Matmul p) {
  __shared__ float a[kTile][kTile], b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int k0 = 0; k0 < p.k; k0 += kTile) {
    const int m = blockIdx.y * kTile + tx;
    a[tx][ty] = k0 + ty < p.k && m < p.m ? p.a[size_t(k0 + ty) * p.m + m] : 0;
    b[ty][tx] = k0 + ty < p.k && col < p.n ? p.b[size_t(k0 + ty) * p.n + col] : 0;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += a[k][ty] * b[k][tx];  // must be a[ty][k]
    __syncthreads();
  }
  if (row >= p.m || col >= p.n) return;
  float& c = p.c[size_t(row) * p.n + col];
  c = p.beta != 0 ? p.alpha * sum + p.beta * c : p.alpha * sum;
}

int main(int argc, char** argv) {
  return gallery::run_matmul(
      argc, argv, "faulty/misindexed_turned_tile",
      [](const gallery::Matmul& p) {
        misindexed_turned_tile<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(p);
      },
      gallery::StoredA::KxM);
}
