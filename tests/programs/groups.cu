// SPDX-License-Identifier: Apache-2.0
// Cooperative groups and warp reductions: every result is compared with plain arithmetic on the host, and what differs
// is counted.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>

namespace cg = cooperative_groups;
constexpr int kThreads = 1024;

// Tiles of several warps and of a part of one: sums, and a value of one member.
template <unsigned Size>
__global__ void tiles(int* sums, int* parts, int* shuffled) {
  __shared__ cg::block_tile_memory<kThreads> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<Size>(block);
  auto part = cg::tiled_partition<16>(block);
  const int x = (int)block.thread_rank();
  sums[x] = cg::reduce(tile, x, cg::plus<int>());
  parts[x] = cg::reduce(part, x, cg::plus<int>());
  shuffled[x] = tile.shfl(x, 3) + (int)tile.meta_group_rank();
}

template <unsigned Size>
void test_tiles(int* d) {
  tiles<Size><<<1, kThreads>>>(d, d + kThreads, d + 2 * kThreads);
  const cudaError_t end = cudaDeviceSynchronize();
  int bad = 0;
  for (int i = 0; i < kThreads; i++) {
    const int first = i / (int)Size * (int)Size, first16 = i / 16 * 16;
    int sum = 0, part = 0;
    for (int k = 0; k < (int)Size; k++) sum += first + k;
    for (int k = 0; k < 16; k++) part += first16 + k;
    bad += d[i] != sum || d[kThreads + i] != part || d[2 * kThreads + i] != first + 3 + first / (int)Size;
  }
  std::printf("tiles of %u: %s, %d wrong\n", Size, cudaGetErrorString(end), bad);
}

// The reductions of a warp with a mask.
__device__ void reduce_all(unsigned* o, int x, unsigned mask) {
  o[0] = (unsigned)__reduce_add_sync(mask, x);
  o[1] = __reduce_add_sync(mask, (unsigned)x);
  o[2] = (unsigned)__reduce_min_sync(mask, x);
  o[3] = __reduce_min_sync(mask, (unsigned)x);
  o[4] = (unsigned)__reduce_max_sync(mask, x);
  o[5] = __reduce_max_sync(mask, (unsigned)x);
  o[6] = __reduce_and_sync(mask, (unsigned)x);
  o[7] = __reduce_or_sync(mask, (unsigned)x);
  o[8] = __reduce_xor_sync(mask, (unsigned)x);
}
// Lanes 0-15 and 16-31 apart.
__global__ void reductions(unsigned* out, const int* in) {
  if (threadIdx.x < 16)
    reduce_all(out + threadIdx.x * 9, in[threadIdx.x], 0xffffu);
  else
    reduce_all(out + threadIdx.x * 9, in[threadIdx.x], 0xffff0000u);
}

void test_reductions() {
  int* in;
  unsigned* out;
  cudaMallocManaged(&in, 32 * sizeof(int));
  cudaMallocManaged(&out, 32 * 9 * sizeof(unsigned));
  for (int i = 0; i < 32; i++) in[i] = (i * 7919) % 1000 - 500;
  reductions<<<1, 32>>>(out, in);
  cudaDeviceSynchronize();
  int bad = 0;
  for (int i = 0; i < 32; i++) {
    const int first = i / 16 * 16;
    unsigned want[9] = {0, 0, (unsigned)in[first], (unsigned)in[first], (unsigned)in[first], (unsigned)in[first], ~0u,
                        0, 0};
    for (int k = first; k < first + 16; k++) {
      const unsigned u = (unsigned)in[k];
      want[0] += u, want[1] += u, want[6] &= u, want[7] |= u, want[8] ^= u;
      if (in[k] < (int)want[2]) want[2] = u;
      if (u < want[3]) want[3] = u;
      if (in[k] > (int)want[4]) want[4] = u;
      if (u > want[5]) want[5] = u;
    }
    for (int k = 0; k < 9; k++) bad += out[i * 9 + k] != want[k];
  }
  std::printf("reductions: %d wrong\n", bad);
}

// A group of whatever lanes are active: scans and reductions over every third lane.
__global__ void coalesced(int* out) {
  out[threadIdx.x] = -1;
  if (threadIdx.x % 3 != 1) return;
  cg::coalesced_group active = cg::coalesced_threads();
  const int x = (int)threadIdx.x;
  out[threadIdx.x] = cg::inclusive_scan(active, x, cg::plus<int>()) * 1000 +
                     cg::reduce(active, x, cg::greater<int>()) * 10 + (int)active.num_threads() % 10;
}

void test_coalesced(int* d) {
  coalesced<<<1, 32>>>(d);
  cudaDeviceSynchronize();
  int bad = 0, sum = 0;
  for (int i = 0; i < 32; i++) {
    if (i % 3 == 1) sum += i;
    bad += d[i] != (i % 3 == 1 ? sum * 1000 + 31 * 10 + 1 : -1);  // lanes 1, 4, ... 31: eleven
  }
  std::printf("coalesced: %d wrong\n", bad);
}

int main() {
  int* d;
  cudaMallocManaged(&d, 3 * kThreads * sizeof(int));
  test_tiles<64>(d);
  test_tiles<128>(d);
  test_tiles<256>(d);
  test_tiles<512>(d);
  test_reductions();
  test_coalesced(d);
  return 0;
}
