// SPDX-License-Identifier: Apache-2.0
// Idea: a histogram of 65536 bins, 256 KiB, which no block's shared memory holds; a cluster of 8 blocks holds it.
// Change: histogram/01 (form 1) and histogram/04 with 8 blocks a cluster (form 2), timed with 65536 bins.
// Expected bottleneck: of form 2 the way to other blocks' shared memory, for seven of eight values.
// Measured on an H200: 748.6 us, 359 GB/s (08_many_bins1); 987.8 us, 272 GB/s (08_many_bins2) at size 67108864.
#include <cooperative_groups.h>

#include "../histogram/histogram.h"

namespace cg = cooperative_groups;

__global__ void many_bins_global(gallery::Histogram p) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += blockDim.x * gridDim.x)
    atomicAdd(&p.counts[gallery::bin_of(p, p.in[i])], 1);
}

__global__ void __cluster_dims__(8, 1, 1) many_bins_cluster(gallery::Histogram p, int bins_a_block) {
  extern __shared__ int counts[];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int b = threadIdx.x; b < bins_a_block; b += blockDim.x) counts[b] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += blockDim.x * gridDim.x) {
    const int bin = gallery::bin_of(p, p.in[i]);
    atomicAdd(cluster.map_shared_rank(counts, bin / bins_a_block) + bin % bins_a_block, 1);
  }
  cluster.sync();
  const int first = cluster.block_rank() * bins_a_block;
  for (int b = threadIdx.x; b < bins_a_block; b += blockDim.x)
    if (first + b < p.bins && counts[b] != 0) atomicAdd(&p.counts[first + b], counts[b]);
}

int main(int argc, char** argv) {
  constexpr int kBins = 65536;
  const int wrong = gallery::run_histogram(
      argc, argv, "claims/08_many_bins1",
      [](const gallery::Histogram& p) {
        if (p.n > 0) many_bins_global<<<std::min(1056, (p.n + 255) / 256), 256>>>(p);
      },
      kBins);
  return wrong | gallery::run_histogram(
                     argc, argv, "claims/08_many_bins2",
                     [](const gallery::Histogram& p) {
                       const int bins_a_block = (p.bins + 7) / 8;
                       many_bins_cluster<<<512, 256, bins_a_block * sizeof(int)>>>(p, bins_a_block);
                     },
                     kBins);
}
