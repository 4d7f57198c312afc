// SPDX-License-Identifier: Apache-2.0
// Idea: the numbers of A that a thread multiplies at one time lie side by side in shared memory, as those of B do.
// Change: 11 with A's tile turned when it is stored: a[k][row]. Rows are 132 words apart: with 128, the 8 lanes that
// store numbers of one row of A would meet in one bank; with 132 a warp's stores lie in 32 banks.
// Expected bottleneck: B's row: threads 8 words apart read 16 bytes, so half of the banks do all the work, in 8 passes
// instead of 4. As many passes as in 11, where the assembler joins A's loads along k; but there it must keep numbers of
// four k at once, in 158 registers a thread instead of 128 (ncu): one block an SM instead of two.
// Measured on an H200: 4.51 ms, 30.45 TFLOP/s at size 4096.
#include "matmul.h"

constexpr int kTile = 128, kDeep = 8, kOut = 8, kThreads = 256, kPitch = kTile + 4;

__global__ void __launch_bounds__(kThreads) turned_a(gallery::Matmul p) {
  __shared__ float a[kDeep][kPitch], b[kDeep][kTile];
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[kOut][kOut] = {};
  for (int k0 = 0; k0 < p.k; k0 += kDeep) {
    for (int at = threadIdx.x; at < kTile * kDeep; at += kThreads) {
      const int ar = at / kDeep, ak = at % kDeep, bk = at / kTile, bc = at % kTile;
      a[ak][ar] = row0 + ar < p.m && k0 + ak < p.k ? p.a[size_t(row0 + ar) * p.k + k0 + ak] : 0;
      b[bk][bc] = k0 + bk < p.k && col0 + bc < p.n ? p.b[size_t(k0 + bk) * p.n + col0 + bc] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDeep; ++k) {
      float fa[kOut], fb[kOut];
#pragma unroll
      for (int i = 0; i < kOut; ++i) fa[i] = a[k][ty * kOut + i], fb[i] = b[k][tx * kOut + i];
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
  return gallery::run_matmul(argc, argv, "matmul/12_turned_a", [](const gallery::Matmul& p) {
    turned_a<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), kThreads>>>(p);
  });
}
