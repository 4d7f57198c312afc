// SPDX-License-Identifier: Apache-2.0
// Idea: a thread makes 8 x 8 elements: 16 numbers from shared memory give 64 multiplications.
// Change: tile 128 x 128, 8 deep, 256 threads, each loading four numbers of A and four of B, one by one.
// Expected bottleneck: the loads of A's column (rows 8 words apart: lanes with different rows meet in one bank) and of
// B's row (8 words apart), then the latency of the global loads, which nothing hides.
// Measured on an H200: 6.93 ms, 19.83 TFLOP/s at size 4096.
#include "matmul.h"

constexpr int kTile = 128, kDeep = 8, kOut = 8, kThreads = 256;

__global__ void __launch_bounds__(kThreads) square_of_outputs(gallery::Matmul p) {
  __shared__ float a[kTile][kDeep], b[kDeep][kTile];
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[kOut][kOut] = {};
  for (int k0 = 0; k0 < p.k; k0 += kDeep) {
    for (int at = threadIdx.x; at < kTile * kDeep; at += kThreads) {
      const int ar = at / kDeep, ak = at % kDeep, bk = at / kTile, bc = at % kTile;
      a[ar][ak] = row0 + ar < p.m && k0 + ak < p.k ? p.a[size_t(row0 + ar) * p.k + k0 + ak] : 0;
      b[bk][bc] = k0 + bk < p.k && col0 + bc < p.n ? p.b[size_t(k0 + bk) * p.n + col0 + bc] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDeep; ++k) {
      float fa[kOut], fb[kOut];
#pragma unroll
      for (int i = 0; i < kOut; ++i) fa[i] = a[ty * kOut + i][k], fb[i] = b[k][tx * kOut + i];
#pragma unroll
      for (int i = 0; i < kOut; ++i)
#pragma unroll
        for (int j = 0; j < kOut; ++j) sum[i][j] += fa[i] * fb[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kOut; ++i)
#pragma unroll
    for (int j = 0; j < kOut; ++j) {
      const int row = row0 + ty * kOut + i, col = col0 + tx * kOut + j;
      if (row >= p.m || col >= p.n) continue;
      float& c = p.c[size_t(row) * p.n + col];
      c = p.beta != 0 ? p.alpha * sum[i][j] + p.beta * c : p.alpha * sum[i][j];
    }
}

int main(int argc, char** argv) {
  return gallery::run_matmul(argc, argv, "matmul/11_square_of_outputs", [](const gallery::Matmul& p) {
    square_of_outputs<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), kThreads>>>(p);
  });
}
