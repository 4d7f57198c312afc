// SPDX-License-Identifier: Apache-2.0
// Transpose of a matrix of 4-byte elements at the speed of a copy: out[c][r] = in[r][c].
//
// A block turns a 64 x 64 tile. A thread loads squares of 4 x 4 as 16-byte rows, turns them in registers and stores
// 16-byte columns to shared memory, where the pieces of a row are permuted by xor so that stores and loads both use all
// banks. Blocks that follow each other write neighbouring pieces of the same rows of the result; the other order was
// slower on the H200 on which this was written: DRAM minds scattered writes more than scattered reads. Shapes without
// 16-byte rows take a tile of words.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.cuh"

namespace warplens::kernels {

namespace transpose_detail {

struct Problem {
  int rows, cols;  // of `in`
  const float* in;
  int64_t ldi;
  float* out;
  int64_t ldo;
};

constexpr int kTile = 64, kThreads = 256;

/// For rows and columns that are multiples of 4 (with `Guard`) or of 64, and 16-byte aligned rows.
template <bool Guard>
__global__ void __launch_bounds__(kThreads) transpose_pieces(Problem p) {
  constexpr int kAcross = kTile / 4;  // pieces in a row of the tile
  __shared__ __align__(16) float tile[kTile * kTile];
  const int tiles_r = (p.rows - 1) / kTile + 1;
  const int r0 = blockIdx.x % tiles_r * kTile, c0 = blockIdx.x / tiles_r * kTile;
  const int c = threadIdx.x % kAcross * 4, r = threadIdx.x / kAcross * 4;
  if (!Guard || (r0 + r < p.rows && c0 + c < p.cols)) {
    const float* const from = p.in + (r0 + r) * p.ldi + c0 + c;
    float4 v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = *reinterpret_cast<const float4*>(from + j * p.ldi);
    float* const to = tile + c * kTile + (r / 4 ^ (c / 4 & 7)) * 4;
    *reinterpret_cast<float4*>(to) = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
    *reinterpret_cast<float4*>(to + kTile) = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
    *reinterpret_cast<float4*>(to + 2 * kTile) = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
    *reinterpret_cast<float4*>(to + 3 * kTile) = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int at = threadIdx.x + i * kThreads, piece = at % kAcross, col = at / kAcross;
    if (Guard && (r0 + piece * 4 >= p.rows || c0 + col >= p.cols)) continue;
    const float4 v = *reinterpret_cast<const float4*>(tile + col * kTile + (piece ^ (col / 4 & 7)) * 4);
    *reinterpret_cast<float4*>(p.out + (c0 + col) * p.ldo + r0 + piece * 4) = v;
  }
}

/// For any shape and alignment: rows of 65 words, so that a column lies in all banks. A thread has 8 loads in flight.
template <int Rows>  // of threads, 32 each
__global__ void __launch_bounds__(32 * Rows) transpose_words(Problem p) {
  __shared__ float tile[kTile][kTile + 1];
  const int tiles_r = (p.rows - 1) / kTile + 1;
  const int r0 = blockIdx.x % tiles_r * kTile, c0 = blockIdx.x / tiles_r * kTile;
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  float v[kTile / Rows][2];
#pragma unroll
  for (int j = 0; j < kTile / Rows; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = r0 + y + j * Rows, c = c0 + x + half * 32;
      if (r < p.rows && c < p.cols) v[j][half] = p.in[r * p.ldi + c];
    }
#pragma unroll
  for (int j = 0; j < kTile / Rows; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) tile[y + j * Rows][x + half * 32] = v[j][half];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kTile / Rows; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int c = c0 + y + j * Rows, r = r0 + x + half * 32;
      if (c < p.cols && r < p.rows) p.out[c * p.ldo + r] = tile[x + half * 32][y + j * Rows];
    }
}

inline int64_t tiles(const Problem& p) {
  return ((p.rows - 1) / kTile + int64_t{1}) * ((p.cols - 1) / kTile + int64_t{1});
}

}  // namespace transpose_detail

/// out[c][r] = in[r][c] for r < rows, c < cols. Row-major, `ldi` >= cols and `ldo` >= rows floats from row to row; the
/// two must not overlap. Device memory, any 4-byte alignment: rows on 16 bytes whose numbers are multiples of 4 are
/// faster. Sizes may be zero. No workspace. Errors: cudaErrorInvalidValue (negative size, leading dimension too small,
/// null or misaligned pointer), cudaErrorInvalidConfiguration (2^31 tiles of 64 x 64 or more), or those of the launch.
/// Asynchronous in `stream`.
inline cudaError_t transpose(int rows, int cols, const float* in, int64_t ldi, float* out, int64_t ldo,
                             cudaStream_t stream = nullptr) {
  using namespace transpose_detail;
  if (rows < 0 || cols < 0) return cudaErrorInvalidValue;
  if (rows == 0 || cols == 0) return cudaSuccess;
  if (in == nullptr || out == nullptr || ldi < cols || ldo < rows) return cudaErrorInvalidValue;
  if (!launch_detail::aligned_to_4(in) || !launch_detail::aligned_to_4(out)) return cudaErrorInvalidValue;
  const Problem p{rows, cols, in, ldi, out, ldo};
  const bool pieces = rows % 4 == 0 && cols % 4 == 0 && ldi % 4 == 0 && ldo % 4 == 0 &&
                      reinterpret_cast<uintptr_t>(in) % 16 == 0 && reinterpret_cast<uintptr_t>(out) % 16 == 0;
  const int64_t blocks = tiles(p);
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  if (!pieces) return launch_detail::launch(transpose_words<16>, blocks, 32 * 16, 0, stream, p);
  const bool whole = rows % kTile == 0 && cols % kTile == 0;
  return launch_detail::launch(whole ? transpose_pieces<false> : transpose_pieces<true>, blocks, kThreads, 0, stream,
                               p);
}

}  // namespace warplens::kernels
