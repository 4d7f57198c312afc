// SPDX-License-Identifier: Apache-2.0
// Idea: lanes n and n + 1 read the same 16 bytes.
// Change: 12 with half as many different addresses.
// Expected: 2 passes a load: when each pair of lanes agrees, two passes become one. What register tiles are numbered
// for.
// Measured on an H200: 1.30 ms, 54.52 TB/s at size 512.
#include "banks.h"

__global__ void quads_shared_by_two(int rounds, float* out) {
  __shared__ __align__(16) float s[4096];
  const int lane = threadIdx.x;
  for (int i = threadIdx.y * 32 + lane; i < 4096; i += 256) s[i] = static_cast<float>(i);
  __syncthreads();
  float sum = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 32; ++step) {
      const float4 v = reinterpret_cast<const float4*>(
          s)[(step * 32 + lane / 2) ^ (round >> 30)];  // the round keeps the load in its loop
      sum += (step + 1) * ((v.x + v.y) + (v.z + v.w));
    }
  }
  out[(blockIdx.x * 8 + threadIdx.y) * 32 + lane] = sum;
}

int main(int argc, char** argv) {
  const auto words = [](int lane, int step) {
    const int first = (step * 32 + lane / 2) * 4;
    double sum = 0;
    for (int w = 0; w < 4; ++w) sum += first + w;
    return sum;
  };
  return gallery::run_banks(argc, argv, "banks/13_quads_shared_by_two", quads_shared_by_two, words, 4 * 4);
}
