// SPDX-License-Identifier: Apache-2.0
// Idea: no turning at all. With outputs in registers a thread wants a row of A's tile and one of B's for each k, and
// that is how A lies in memory here.
// Change: the tiles and lanes of matmul/14; both matrices are loaded in the same way, in rows of k.
// Expected bottleneck: the latency of the global loads, which are waited for. No store to shared memory conflicts.
// Measured on an H200: 3.88 ms, 35.41 TFLOP/s at size 4096.
#include "../matmul/matmul.h"

constexpr int kTile = 128, kDeep = 8, kOut = 8, kThreads = 256;

__device__ float4 four(const float* row, int left, bool aligned) {
  if (left >= 4 && aligned) return *reinterpret_cast<const float4*>(row);
  return {left > 0 ? row[0] : 0, left > 1 ? row[1] : 0, left > 2 ? row[2] : 0, left > 3 ? row[3] : 0};
}

__global__ void __launch_bounds__(kThreads) register_tiles(gallery::Matmul p) {
  __shared__ __align__(16) float a[kDeep][kTile], b[kDeep][kTile];
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile, t = threadIdx.x;
  const int at = t / 32, four_at = t % 32 * 4;  // what a thread loads of both: row and column in a slice
  const int lane_row = (t >> 1 & 1) | (t >> 2 & 6), lane_col = (t & 1) | (t >> 1 & 2);
  const int row1 = t / 128 * 64 + lane_row * 4, col1 = t / 32 % 4 * 32 + lane_col * 4;
  const bool aligned_a = p.m % 4 == 0 && gallery::aligned_for<float4>(p.a);
  const bool aligned_b = p.n % 4 == 0 && gallery::aligned_for<float4>(p.b);
  const bool aligned_c = p.n % 4 == 0 && gallery::aligned_for<float4>(p.c);
  float sum[kOut][kOut] = {};
  for (int k0 = 0; k0 < p.k; k0 += kDeep) {
    const bool in = k0 + at < p.k;
    const int in_a = row0 + four_at, in_b = col0 + four_at;
    *reinterpret_cast<float4*>(&a[at][four_at]) =
        four(p.a + size_t(k0 + at) * p.m + in_a, in ? p.m - in_a : 0, aligned_a);
    *reinterpret_cast<float4*>(&b[at][four_at]) =
        four(p.b + size_t(k0 + at) * p.n + in_b, in ? p.n - in_b : 0, aligned_b);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kDeep; ++k) {
      float fa[kOut], fb[kOut];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        *reinterpret_cast<float4*>(fa + 4 * half) = *reinterpret_cast<const float4*>(&a[k][row1 + 32 * half]);
        *reinterpret_cast<float4*>(fb + 4 * half) = *reinterpret_cast<const float4*>(&b[k][col1 + 16 * half]);
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
      const int row = row0 + row1 + i % 4 + i / 4 * 32, col = col0 + col1 + j / 4 * 16;
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
  return gallery::run_matmul(
      argc, argv, "corner_turning/04_register_tiles",
      [](const gallery::Matmul& p) {
        register_tiles<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), kThreads>>>(p);
      },
      gallery::StoredA::KxM);
}
