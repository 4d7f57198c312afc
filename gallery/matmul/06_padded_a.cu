// SPDX-License-Identifier: Apache-2.0
// Idea: "the column a[ty][k] conflicts, pad it". It does not: a warp is 32 wide here, all its threads read one word of
// A.
// Change: the tile of A has rows of 33 words.
// Expected bottleneck: as 05, and worse: rows that begin at odd words keep the compiler from joining four neighbouring
// loads of A into one of 16 bytes.
// Measured on an H200: 19.93 ms, 6.90 TFLOP/s at size 4096.
#include "matmul.h"

constexpr int kTile = 32, kPad = 1;

__global__ void padded_a(gallery::Matmul p) {
  __shared__ float a[kTile][kTile + kPad], b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0;
  for (int k0 = 0; k0 < p.k; k0 += kTile) {
    a[ty][tx] = row < p.m && k0 + tx < p.k ? p.a[size_t(row) * p.k + k0 + tx] : 0;
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
  return gallery::run_matmul(argc, argv, "matmul/06_padded_a", [](const gallery::Matmul& p) {
    padded_a<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(p);
  });
}
