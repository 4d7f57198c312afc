// SPDX-License-Identifier: Apache-2.0
// Cooperative groups become the warp and barrier instructions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

struct Pair {
  double a;
  int b;
};
// PTX k_tile: shfl.sync.down.b32
// PTX k_tile: shfl.sync.bfly.b32
// PTX k_tile: vote.sync.ballot.b32
// PTX k_tile: bar.warp.sync
// PTX-NOT k_tile: call
extern "C" __global__ void k_tile(float* f, Pair* p, unsigned* u) {
  cg::thread_block block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto half = cg::tiled_partition<16>(warp);
  cg::thread_block_tile<4> four = cg::tiled_partition<4>(block);
  float x = f[block.thread_rank()];
  for (int d = warp.size() / 2; d > 0; d /= 2) x += warp.shfl_down(x, d);
  x += half.shfl_xor(x, 8) + four.shfl(x, 0);
  *p = warp.shfl(*p, 3);
  warp.sync();
  u[0] = half.ballot(x > 0) + warp.any(x > 1) + four.all(x > 2) + warp.meta_group_rank() + half.meta_group_size();
  f[block.thread_rank()] = cg::reduce(warp, x, cg::plus<float>()) + cg::inclusive_scan(half, x);
  cg::sync(block);
}
// PTX k_reduce: redux.sync.add
// PTX k_reduce: activemask.b32
extern "C" __global__ void k_reduce(int* p, int n) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  p[0] = cg::reduce(warp, p[1], cg::plus<int>());
  if ((int)threadIdx.x < n) {
    cg::coalesced_group active = cg::coalesced_threads();
    if (active.thread_rank() == 0) p[2] = atomicAdd(p, active.size());
    p[3] = active.shfl(p[2], 0) + cg::reduce(active, p[4], cg::greater<int>());
    auto same = cg::labeled_partition(active, p[5]);
    p[6] = same.size() + same.meta_group_rank();
  }
}
// PTX k_grid: atom.global.add.u32
// PTX k_grid: ld.volatile.global.u32
extern "C" __global__ void k_grid(int* p) {
  cg::grid_group grid = cg::this_grid();
  p[grid.thread_rank()] = 1;
  grid.sync();
  p[0] += (int)grid.size();
}
// PTX k_cluster: barrier.cluster.arrive
// PTX k_cluster: mapa
extern "C" __global__ void k_cluster(int* p) {
  __shared__ int s[32];
  cg::cluster_group cluster = cg::this_cluster();
  s[threadIdx.x] = cluster.block_rank();
  cluster.sync();
  p[threadIdx.x] = cluster.map_shared_rank(s, 1)[threadIdx.x] + cluster.num_blocks();
  cluster.sync();
}
// PTX k_dynamic: bar.sync
__device__ int sum(cg::thread_group g, int* scratch, int v) {
  const int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    scratch[lane] = v;
    g.sync();
    if (lane < i) v += scratch[lane + i];
    g.sync();
  }
  return v;
}
extern "C" __global__ void k_dynamic(int* p) {
  extern __shared__ int scratch[];
  auto g = cg::this_thread_block();
  auto tile = cg::tiled_partition(g, 8);
  p[0] = sum(g, scratch, p[threadIdx.x]) + sum(tile, scratch + threadIdx.x / 8 * 8, 1);
}
// PTX k_copy: cp.async
extern "C" __global__ void k_copy(float* p) {
  __shared__ __align__(16) float s[128];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, s, p, sizeof s);
  cg::wait(block);
  p[threadIdx.x + 128] = s[threadIdx.x];
}
int main() {}
