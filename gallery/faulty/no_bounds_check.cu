// SPDX-License-Identifier: Apache-2.0
// Fault: a vector addition without the check that the last block needs when n is no multiple of 256.
// Right: gallery/access/19_vector_add.cu
// Expected finding: out-of-bounds at line 9, exit code 2
#include "../access/access.h"

__global__ void no_bounds_check(gallery::Access p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  p.out[i] = p.in[i] + 1.0f;  // must be behind: if (i < p.n)
}

int main(int argc, char** argv) {
  return gallery::run_access(
      argc, argv, "faulty/no_bounds_check", 1,
      [](const gallery::Access& p) { no_bounds_check<<<(p.n + 255) / 256, 256>>>(p); },
      [](int i, int) { return size_t(i); });
}
