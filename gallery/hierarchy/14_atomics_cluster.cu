// SPDX-License-Identifier: Apache-2.0
// Idea: the blocks of a cluster would have to agree, too.
// Change: the scope, in PTX: C++ has no name for this one.
// Expected bottleneck: order among several SMs: what a thread wrote must be in L2 before its atomic.
// Measured on an H200: 878.0 us, 306 Gatomic/s at size 1048576.
#include "hierarchy.h"

__global__ void atomics_cluster(gallery::Place p) {
  const int t = threadIdx.x, first = blockIdx.x * 256, words = min(256, p.n - first);  // the block's own words
  if (t < words) p.out[first + t] = 0;
  __syncthreads();
  if (t >= words) return;
  for (int r = 0; r < p.rounds; ++r)
    for (int k = 0; k < 4; ++k) {
      float& word = p.out[first + (t + 32 * k + r) % words];
      float before;
      asm volatile("atom.acq_rel.cluster.add.f32 %0, [%1], 1.0;" : "=f"(before) : "l"(&word) : "memory");
    }
}

int main(int argc, char** argv) {
  return gallery::run_places(
      argc, argv, "hierarchy/14_atomics_cluster",
      [](const gallery::Place& p) { atomics_cluster<<<(p.n + 255) / 256, 256>>>(p); },
      [](int, int rounds) { return 4.0 * rounds; }, 4, "Gatomic/s");
}
