// SPDX-License-Identifier: Apache-2.0
// Idea: the same bytes, read once and written once, in the order in which they lie: what 02 to 04 are measured against,
// which move their bytes as this rung does. (05 to 07 keep more bytes in flight and are faster than this copy.)
// Change: none, the first rung.
// Expected bottleneck: DRAM; with 4 bytes a thread, blocks of 1024 threads keep too few bytes in flight for all of it.
// Measured on an H200: 267.7 us, 2.01 TB/s at size 8192.
#include "transpose.h"

__global__ void copy(gallery::Transpose p) {
  const int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  if (row < p.rows && col < p.cols) p.out[size_t(row) * p.cols + col] = p.in[size_t(row) * p.cols + col];
}

int main(int argc, char** argv) {
  return gallery::run_transpose(
      argc, argv, "transpose/01_copy",
      [](const gallery::Transpose& p) { copy<<<dim3((p.cols + 31) / 32, (p.rows + 31) / 32), dim3(32, 32)>>>(p); },
      gallery::Kind::Copy);
}
