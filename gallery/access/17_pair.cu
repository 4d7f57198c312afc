// SPDX-License-Identifier: Apache-2.0
// Idea: the pair as the articles time it: a hundred launches between two events, contiguous (17_pair1) and with
// neighbours n / 32 words apart (17_pair32).
// Change: 01 and 06 in one source, the distance a number known when compiling. The time is that of a hundred launches.
// Expected: 4 and 32 sectors a request. Behind the first launch the words come from the same memory as before: 128 MB
// are more than L2 holds.
// Measured on an H200: 5.21 ms, 2.58 TB/s (17_pair1); 7.84 ms, 1.71 TB/s (17_pair32) at size 16777216.
#include "access.h"

template <int s>
__host__ __device__ inline size_t index_of(int i, int n) {
  return size_t(i % s) * (n / s) + i / s;
}

template <int s>
__global__ void pair(gallery::Access p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = p.in[index_of<s>(i, p.n)] + 1.0f;
}

template <int s>
int run_pair(int argc, char** argv) {
  return gallery::run_values(
      argc, argv, ("access/17_pair" + std::to_string(s)).c_str(), 1,
      [](const gallery::Access& p) { pair<s><<<(p.n + 255) / 256, 256>>>(p); },
      [](const float* in, int i, int n) { return in[index_of<s>(i, n)] + 1.0f; }, 8, 100);
}

int main(int argc, char** argv) { return run_pair<1>(argc, argv) | run_pair<32>(argc, argv); }
