// SPDX-License-Identifier: Apache-2.0
// Idea: a row that begins at an odd word.
// Change: 01 plus one.
// Expected: 1 pass a load: shared memory has no lines to straddle.
// Measured on an H200: 539.4 us, 32.85 TB/s at size 512.
#include "banks.h"

__global__ void shifted(int rounds, float* out) {
  __shared__ float s[1056];
  const int lane = threadIdx.x;
  for (int i = threadIdx.y * 32 + lane; i < 1056; i += 256) s[i] = static_cast<float>(i);
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 32; ++step)
      sum += (step + 1) * reinterpret_cast<volatile float*>(s)[step * 32 + lane + 1];
  }
  out[(blockIdx.x * 8 + threadIdx.y) * 32 + lane] = sum;
}

int main(int argc, char** argv) {
  return gallery::run_banks(argc, argv, "banks/08_shifted", shifted,
                            [](int lane, int step) { return step * 32 + lane + 1; });
}
