// SPDX-License-Identifier: Apache-2.0
// Idea: the latency of shared memory: each load gives the index of the next.
// Change: one thread, one load at a time; nothing is hidden.
// Expected: some 30 cycles a load; the same whatever the order.
// Measured on an H200: 981.0 us, 15.0 ns/load at size 65536.
#include "chase.h"

constexpr int kPlaces = 1024;

__global__ void chase_shared(gallery::Chase c) {
  __shared__ unsigned ring[kPlaces];
  for (int k = 0; k < kPlaces; ++k) ring[k] = c.next[k];
  unsigned at = static_cast<unsigned>(c.state[0]);
  for (int k = 0; k < c.loads; ++k) at = ring[at];
  c.state[0] = at;
  c.state[1] += c.loads;
}

int main(int argc, char** argv) {
  return gallery::run_chase(
      argc, argv, "hierarchy/17_chase_shared", gallery::random_ring(kPlaces), 0,
      [](const gallery::Chase& c) { chase_shared<<<1, 1>>>(c); },
      [](unsigned long long at) { return static_cast<unsigned>(at); });
}
