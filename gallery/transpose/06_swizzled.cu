// SPDX-License-Identifier: Apache-2.0
// Idea: no padding: element (r, c) lies at column c xor r, which is a permutation of each row and spreads a column
// over all banks.
// Change: 05 with xor for the 33rd column; a tile is 4096 bytes sharp.
// Expected bottleneck: as 05.
// Measured on an H200: 157.6 us, 3.41 TB/s at size 8192.
#include "transpose.h"

__global__ void swizzled(gallery::Transpose p) {
  __shared__ float tile[32][32];
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (row + j < p.rows && col < p.cols)
      tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = p.in[size_t(row + j) * p.cols + col];
  __syncthreads();
  const int out_col = blockIdx.y * 32 + threadIdx.x, out_row = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (out_row + j < p.cols && out_col < p.rows)
      p.out[size_t(out_row + j) * p.rows + out_col] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x];
}

int main(int argc, char** argv) {
  return gallery::run_transpose(argc, argv, "transpose/06_swizzled", [](const gallery::Transpose& p) {
    swizzled<<<dim3((p.cols + 31) / 32, (p.rows + 31) / 32), dim3(32, 8)>>>(p);
  });
}
