// SPDX-License-Identifier: Apache-2.0
// Idea: 16-byte accesses wherever there are four numbers in a row: global loads, shared loads, stores of C.
// Change: 12 with float4 for what lies in memory, too. A thread's rows and columns are two groups of four, 64 apart, so
// that a warp's 16-byte loads lie side by side. Where sizes are no multiple of four or pointers none of 16 bytes, the
// numbers go one by one. A's rows are 128 words apart again.
// Expected bottleneck: 4 shared loads for 64 multiplications; the turned stores take 2 passes, and the global loads'
// latency is still open.
// Measured on an H200: 3.60 ms, 38.23 TFLOP/s at size 4096.
#include "matmul.h"

constexpr int kTile = 128, kDeep = 8, kOut = 8, kThreads = 256;

__device__ float4 four(const float* row, int left, bool aligned) {
  if (left >= 4 && aligned) return *reinterpret_cast<const float4*>(row);
  return {left > 0 ? row[0] : 0, left > 1 ? row[1] : 0, left > 2 ? row[2] : 0, left > 3 ? row[3] : 0};
}

__global__ void __launch_bounds__(kThreads) vectors(gallery::Matmul p) {
  __shared__ __align__(16) float a[kDeep][kTile], b[kDeep][kTile];
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile, t = threadIdx.x;
  const int tx = t % 16, ty = t / 16, ar = t / 2, ak = t % 2 * 4, bk = t / 32, bc = t % 32 * 4;
  const bool aligned_a = p.k % 4 == 0 && gallery::aligned_for<float4>(p.a);
  const bool aligned_b = p.n % 4 == 0 && gallery::aligned_for<float4>(p.b);
  const bool aligned_c = p.n % 4 == 0 && gallery::aligned_for<float4>(p.c);
  float sum[kOut][kOut] = {};
  for (int k0 = 0; k0 < p.k; k0 += kDeep) {
    const float4 from_a = four(p.a + size_t(row0 + ar) * p.k + k0 + ak, row0 + ar < p.m ? p.k - k0 - ak : 0, aligned_a);
    const float4 from_b = four(p.b + size_t(k0 + bk) * p.n + col0 + bc, k0 + bk < p.k ? p.n - col0 - bc : 0, aligned_b);
    a[ak][ar] = from_a.x, a[ak + 1][ar] = from_a.y, a[ak + 2][ar] = from_a.z, a[ak + 3][ar] = from_a.w;
    *reinterpret_cast<float4*>(&b[bk][bc]) = from_b;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDeep; ++k) {
      float fa[kOut], fb[kOut];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        *reinterpret_cast<float4*>(fa + 4 * half) = *reinterpret_cast<const float4*>(&a[k][ty * 4 + 64 * half]);
        *reinterpret_cast<float4*>(fb + 4 * half) = *reinterpret_cast<const float4*>(&b[k][tx * 4 + 64 * half]);
      }
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
    for (int j = 0; j < kOut; j += 4) {
      const int row = row0 + ty * 4 + i % 4 + i / 4 * 64, col = col0 + tx * 4 + j / 4 * 64;
      if (row >= p.m) continue;
      float* const c = p.c + size_t(row) * p.n + col;
      float4 v = {p.alpha * sum[i][j], p.alpha * sum[i][j + 1], p.alpha * sum[i][j + 2], p.alpha * sum[i][j + 3]};
      if (p.beta != 0) {
        const float4 old = four(c, p.n - col, aligned_c);
        v.x += p.beta * old.x, v.y += p.beta * old.y, v.z += p.beta * old.z, v.w += p.beta * old.w;
      }
      if (p.n - col >= 4 && aligned_c) {
        *reinterpret_cast<float4*>(c) = v;
      } else {
        if (p.n - col > 0) c[0] = v.x;
        if (p.n - col > 1) c[1] = v.y;
        if (p.n - col > 2) c[2] = v.z;
        if (p.n - col > 3) c[3] = v.w;
      }
    }
}

int main(int argc, char** argv) {
  return gallery::run_matmul(argc, argv, "matmul/13_vectors", [](const gallery::Matmul& p) {
    vectors<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), kThreads>>>(p);
  });
}
