// SPDX-License-Identifier: Apache-2.0
// Idea: the latency of global memory, by the size of the ring: 16 KiB stay in L1, 8 MiB in L2, 256 MiB in neither.
// Change: 17 in global memory; each place holds the address of the next, so that no arithmetic lies between the loads.
// The number at a form's name is KiB; a launch goes on where the last one stopped, so the third finds nothing again.
// Expected: some 35 cycles from L1, 280 from L2, 600 and more from memory.
// Measured on an H200: 1.09 ms, 16.7 ns/load (18_chase_global16); 21.82 ms, 332.9 ns/load (18_chase_global262144);
//   9.32 ms, 142.2 ns/load (18_chase_global8192) at size 65536.
#include "chase.h"

constexpr int kApart = 16;  // addresses from place to place: 128 bytes

__global__ void chase_global(gallery::Chase c) {
  unsigned long long at = c.state[0];
  for (int k = 0; k < c.loads; ++k) asm volatile("ld.global.u64 %0, [%0];" : "+l"(at) : : "memory");
  c.state[0] = at;
  c.state[1] += c.loads;
}

int main(int argc, char** argv) {
  int wrong = 0;
  for (const unsigned kib : {16u, 8192u, 262144u}) {
    const unsigned places = kib * 1024 / 128;
    const std::vector<unsigned> next = gallery::random_ring(places);
    gallery::Buffer<unsigned long long> ring(size_t(places) * kApart);
    const unsigned long long first = reinterpret_cast<unsigned long long>(ring.get());
    std::vector<unsigned long long> addresses(size_t(places) * kApart);
    for (unsigned k = 0; k < places; ++k) addresses[size_t(k) * kApart] = first + 8ull * kApart * next[k];
    gallery::must(cudaMemcpy(ring.get(), addresses.data(), 8 * addresses.size(), cudaMemcpyHostToDevice), "ring");
    wrong |= gallery::run_chase(
        argc, argv, ("hierarchy/18_chase_global" + std::to_string(kib)).c_str(), next, first,
        [](const gallery::Chase& c) { chase_global<<<1, 1>>>(c); },
        [first](unsigned long long at) { return static_cast<unsigned>((at - first) / (8 * kApart)); });
  }
  return wrong;
}
