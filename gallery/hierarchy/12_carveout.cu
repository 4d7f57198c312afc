// SPDX-License-Identifier: Apache-2.0
// Idea: L1 and shared memory are one memory of 256 KiB; a kernel may say how much of it shared memory should have.
// Change: each block reads 16 KiB of its own over and over, 128 KiB for the 8 blocks of an SM: once with as little
// shared memory as possible (12_carveout0: they fit into L1), once with the most (12_carveout100: 28 KiB are left).
// Expected bottleneck: L1 for the first, L2 for the second. Requests and sectors are the same.
// Measured on an H200: 298.1 us, 3.60 Tload/s (12_carveout0); 479.7 us, 2.24 Tload/s (12_carveout100) at size
//   1048576.
#include "hierarchy.h"

constexpr int kWords = 4096, kBlocks = 132 * 8;  // a block's words; blocks that run at once, on an H200
__device__ float table[kBlocks * kWords];

__host__ __device__ inline int place(int block, int thread, int step) {
  return block % kBlocks * kWords + thread + 256 * (step & 15);
}

__global__ void carveout(gallery::Place p) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float sum = 0;
  for (int r = 0; r < p.rounds; ++r) {
#pragma unroll
    for (int k = 0; k < 16; ++k) sum += table[place(blockIdx.x, threadIdx.x, r + k)];
  }
  if (i < p.n) p.out[i] = sum;
}

int main(int argc, char** argv) {
  std::vector<float> host(kBlocks * kWords);
  for (int k = 0; k < kBlocks * kWords; ++k) host[k] = gallery::number(k);
  gallery::must(cudaMemcpyToSymbol(table, host.data(), host.size() * sizeof(float)), "table");
  int wrong = 0;
  for (const int percent : {0, 100}) {
    gallery::must(cudaFuncSetAttribute(carveout, cudaFuncAttributePreferredSharedMemoryCarveout, percent), "carve-out");
    wrong |= gallery::run_places(
        argc, argv, ("hierarchy/12_carveout" + std::to_string(percent)).c_str(),
        [](const gallery::Place& p) { carveout<<<(p.n + 255) / 256, 256>>>(p); },
        [](int i, int rounds) {
          double sum = 0;
          for (int k = 0; k < 16; ++k) sum += gallery::number(place(i / 256, i % 256, k));
          return sum * rounds;
        });
  }
  return wrong;
}
