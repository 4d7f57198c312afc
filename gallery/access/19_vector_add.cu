// SPDX-License-Identifier: Apache-2.0
// Idea: the first CUDA program of them all: c[i] = a[i] + b[i], with the check that n needs which fills no last block.
// Change: 01 with a second vector (the next whole row behind the first).
// Expected: 4 sectors for each of three requests, all used: the bandwidth of memory.
// Measured on an H200: 63.8 us, 3.16 TB/s at size 16777216.
#include "access.h"

__global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char** argv) {
  const auto second = [](int n) { return size_t(gallery::row_count(n)) * 1024; };
  return gallery::run_values(
      argc, argv, "access/19_vector_add", 2,
      [&](const gallery::Access& p) { vector_add<<<(p.n + 255) / 256, 256>>>(p.in, p.in + second(p.n), p.out, p.n); },
      [&](const float* in, int i, int n) { return in[i] + in[second(n) + i]; }, 12);
}
