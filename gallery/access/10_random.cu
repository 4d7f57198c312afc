// SPDX-License-Identifier: Apache-2.0
// Idea: neighbouring threads read far from each other: a constant stride so large, taken modulo n, that it looks
// random. Change: index times 2654435761, modulo n. Expected: nearly 32 sectors a request; whoever wants the rest of a
// sector comes when the caches have forgotten it. Measured on an H200: 333.8 us, 402 GB/s at size 16777216.
// Measured on an H200: 332.2 us, 404 GB/s at size 16777216.
#include "access.h"

__host__ __device__ inline size_t index_of(int i, int n) {
  return static_cast<unsigned>(i) * 2654435761u % static_cast<unsigned>(n);
}

__global__ void scattered(gallery::Access p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = p.in[index_of(i, p.n)] + 1.0f;
}

int main(int argc, char** argv) {
  return gallery::run_access(
      argc, argv, "access/10_random", 1, [](const gallery::Access& p) { scattered<<<(p.n + 255) / 256, 256>>>(p); },
      index_of);
}
