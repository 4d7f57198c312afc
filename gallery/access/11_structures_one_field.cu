// SPDX-License-Identifier: Apache-2.0
// Idea: an array of structures of four floats, of which a kernel needs one field.
// Change: 01 with 16 bytes from thread to thread.
// Expected: 16 sectors a request, a quarter of each used. The cure is an array for each field, which is 01 again.
// Measured on an H200: 87.2 us, 1.54 TB/s at size 16777216.
#include "access.h"

struct Particle {
  float x, y, z, w;
};

__global__ void structures_one_field(gallery::Access p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) p.out[i] = reinterpret_cast<const Particle*>(p.in)[i].x + 1.0f;
}

int main(int argc, char** argv) {
  return gallery::run_values(
      argc, argv, "access/11_structures_one_field", 4,
      [](const gallery::Access& p) { structures_one_field<<<(p.n + 255) / 256, 256>>>(p); },
      [](const float* in, int i, int n) { return in[4 * size_t(i)] + 1.0f + 0 * n; });
}
