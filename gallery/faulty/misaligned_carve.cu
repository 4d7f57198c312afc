// SPDX-License-Identifier: Apache-2.0
// Fault: dynamic shared memory carved into 127 shorts and floats right behind them, at byte 254: no multiple of 4.
// Right: gallery/hierarchy/06_carved_shared.cu
// Expected finding: misaligned at line 15, exit code 2
#include "../hierarchy/hierarchy.h"

constexpr int kShorts = 127;

__global__ void misaligned_carve(gallery::Place p) {
  extern __shared__ __align__(16) unsigned char carved[];
  short* const small = reinterpret_cast<short*>(carved);
  float* const large = reinterpret_cast<float*>(small + kShorts);  // must be rounded up to a multiple of 4 bytes
  const int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (t < kShorts) small[t] = static_cast<short>(t);
  large[t] = gallery::number(i);
  __syncthreads();
  if (i < p.n) p.out[i] = p.rounds * (large[t] + small[t % kShorts]);
}

int main(int argc, char** argv) {
  return gallery::run_places(
      argc, argv, "faulty/misaligned_carve",
      [](const gallery::Place& p) { misaligned_carve<<<(p.n + 255) / 256, 256, kShorts * 2 + 256 * 4>>>(p); },
      [](int i, int rounds) { return rounds * (gallery::number(i) + double(i % 256 % kShorts)); });
}
