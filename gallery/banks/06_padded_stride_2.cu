// SPDX-License-Identifier: Apache-2.0
// Idea: "rows of 33 words cure stride 2 too". They do not: padding moves rows, and a warp that reads every second word
// of one row stays in the even banks.
// Change: 04 with a pitch of 33.
// Expected: 2 passes a load.
// Measured on an H200: 1.07 ms, 16.54 TB/s at size 512.
#include "banks.h"

__global__ void padded_stride_2(int rounds, float* out) {
  __shared__ float s[1088];
  const int lane = threadIdx.x;
  for (int i = threadIdx.y * 32 + lane; i < 1088; i += 256) s[i] = static_cast<float>(i);
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 32; ++step)
      sum += (step + 1) * reinterpret_cast<volatile float*>(s)[(step * 33 + lane * 2) % 1088];
  }
  out[(blockIdx.x * 8 + threadIdx.y) * 32 + lane] = sum;
}

int main(int argc, char** argv) {
  return gallery::run_banks(argc, argv, "banks/06_padded_stride_2", padded_stride_2,
                            [](int lane, int step) { return (step * 33 + lane * 2) % 1088; });
}
