// SPDX-License-Identifier: Apache-2.0
// Idea: every second word: lanes n and n + 16 meet.
// Change: the lane is multiplied by 2.
// Expected: 2 passes a load.
// Measured on an H200: 1.07 ms, 16.60 TB/s at size 512.
#include "banks.h"

__global__ void stride_2(int rounds, float* out) {
  __shared__ float s[1024];
  const int lane = threadIdx.x;
  for (int i = threadIdx.y * 32 + lane; i < 1024; i += 256) s[i] = static_cast<float>(i);
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 32; ++step)
      sum += (step + 1) * reinterpret_cast<volatile float*>(s)[(lane * 2 + step * 32) % 1024];
  }
  out[(blockIdx.x * 8 + threadIdx.y) * 32 + lane] = sum;
}

int main(int argc, char** argv) {
  return gallery::run_banks(argc, argv, "banks/04_stride_2", stride_2,
                            [](int lane, int step) { return (lane * 2 + step * 32) % 1024; });
}
