// SPDX-License-Identifier: Apache-2.0
// Fault: a histogram over a cluster whose blocks leave while others still count in their shared memory: each adds up
// its own part without waiting for the others. An H200 may end the kernel when a block that has left is counted in.
// Right: gallery/histogram/04_cluster.cu
// Expected finding: out-of-bounds at line 20, exit code 2
#include <cooperative_groups.h>

#include "../histogram/histogram.h"

namespace cg = cooperative_groups;

__global__ void cluster_without_last_sync(gallery::Histogram p, int bins_a_block) {
  extern __shared__ int counts[];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int b = threadIdx.x; b < bins_a_block; b += blockDim.x) counts[b] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += blockDim.x * gridDim.x) {
    const int bin = gallery::bin_of(p, p.in[i]);
    int* const owner = cluster.map_shared_rank(counts, bin / bins_a_block);
    atomicAdd(owner + bin % bins_a_block, 1);
  }
  __syncthreads();  // must be cluster.sync()
  const int first = cluster.block_rank() * bins_a_block;
  for (int b = threadIdx.x; b < bins_a_block; b += blockDim.x)
    if (first + b < p.bins && counts[b] != 0) atomicAdd(&p.counts[first + b], counts[b]);
}

int main(int argc, char** argv) {
  return gallery::run_histogram(argc, argv, "faulty/cluster_without_last_sync", [](const gallery::Histogram& p) {
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 256;
    const int bins_a_block = (p.bins + 3) / 4;
    config.dynamicSmemBytes = bins_a_block * sizeof(int);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {4, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    gallery::must(cudaLaunchKernelEx(&config, cluster_without_last_sync, p, bins_a_block), "launch");
  });
}
