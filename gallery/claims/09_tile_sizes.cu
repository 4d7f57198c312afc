// SPDX-License-Identifier: Apache-2.0
// Idea: one code, four tiles: 256 threads make 1, 2 x 2, 4 x 4 or 8 x 8 elements each, so tiles of 16, 32, 64 or 128.
// Change: matmul/11 with the size of the tile as a parameter, timed at 512, where tiles of 128 are only 16 blocks.
// Expected bottleneck: of small tiles the shared loads, of large ones that most SMs have no block.
// Measured on an H200: 94.5 us, 2.84 TFLOP/s (09_tile_sizes128); 80.1 us, 3.35 TFLOP/s (09_tile_sizes16); 43.5 us,
//   6.16 TFLOP/s (09_tile_sizes32); 64.5 us, 4.16 TFLOP/s (09_tile_sizes64) at size 512.
#include "../matmul/matmul.h"

template <int kOut>
__global__ void __launch_bounds__(256) tile_size(gallery::Matmul p) {
  constexpr int kTile = 16 * kOut, kDeep = 16;
  __shared__ float a[kTile][kDeep + 1], b[kDeep][kTile];
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[kOut][kOut] = {};
  for (int k0 = 0; k0 < p.k; k0 += kDeep) {
    for (int at = threadIdx.x; at < kTile * kDeep; at += 256) {
      const int ar = at / kDeep, ak = at % kDeep, bk = at / kTile, bc = at % kTile;
      a[ar][ak] = row0 + ar < p.m && k0 + ak < p.k ? p.a[size_t(row0 + ar) * p.k + k0 + ak] : 0;
      b[bk][bc] = k0 + bk < p.k && col0 + bc < p.n ? p.b[size_t(k0 + bk) * p.n + col0 + bc] : 0;
    }
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < kDeep; ++k)
#pragma unroll
      for (int i = 0; i < kOut; ++i)
#pragma unroll
        for (int j = 0; j < kOut; ++j) sum[i][j] += a[ty + 16 * i][k] * b[k][tx + 16 * j];
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < kOut; ++i)
#pragma unroll
    for (int j = 0; j < kOut; ++j) {
      const int row = row0 + ty + 16 * i, col = col0 + tx + 16 * j;
      if (row >= p.m || col >= p.n) continue;
      float& c = p.c[size_t(row) * p.n + col];
      c = p.beta != 0 ? p.alpha * sum[i][j] + p.beta * c : p.alpha * sum[i][j];
    }
}

template <int kOut>
int run_tile(int argc, char** argv) {
  constexpr int kTile = 16 * kOut;
  return gallery::run_matmul(
      argc, argv, ("claims/09_tile_sizes" + std::to_string(kTile)).c_str(),
      [](const gallery::Matmul& p) {
        tile_size<kOut><<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), 256>>>(p);
      },
      gallery::StoredA::MxK, 512);
}

int main(int argc, char** argv) {
  return run_tile<1>(argc, argv) | run_tile<2>(argc, argv) | run_tile<4>(argc, argv) | run_tile<8>(argc, argv);
}
