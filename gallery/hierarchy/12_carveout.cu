// SPDX-License-Identifier: Apache-2.0
// Idea: L1 and shared memory are one memory of 256 KiB; a kernel may say how much of it shared memory should have.
// Change: all blocks read a table of 96 KiB, over and over: once with as little shared memory as possible
// (12_carveout0, the table fits into L1), once with as much as possible (12_carveout100, 28 KiB of L1 are left).
// Expected bottleneck: L1 for the first, L2 for the second. Requests and sectors are the same.
// Not measured yet.
#include "hierarchy.h"

constexpr int kWords = 24576;
__device__ float table[kWords];

__global__ void carveout(gallery::Place p) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float sum = 0;
  for (int r = 0; r < p.rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += table[(threadIdx.x + 256 * (16 * r + k)) % kWords];
  }
  if (i < p.n) p.out[i] = sum;
}

int main(int argc, char** argv) {
  std::vector<float> host(kWords);
  for (int k = 0; k < kWords; ++k) host[k] = gallery::number(k);
  gallery::must(cudaMemcpyToSymbol(table, host.data(), kWords * sizeof(float)), "table");
  int wrong = 0;
  for (const int percent : {0, 100}) {
    gallery::must(cudaFuncSetAttribute(carveout, cudaFuncAttributePreferredSharedMemoryCarveout, percent), "carve-out");
    wrong |= gallery::run_places(
        argc, argv, ("hierarchy/12_carveout" + std::to_string(percent)).c_str(),
        [](const gallery::Place& p) { carveout<<<(p.n + 255) / 256, 256>>>(p); },
        [](int i, int rounds) {
          double sum = 0;
          for (int k = 0; k < 16 * rounds; ++k) sum += gallery::number((i % 256 + 256 * k) % kWords);
          return sum;
        });
  }
  return wrong;
}
