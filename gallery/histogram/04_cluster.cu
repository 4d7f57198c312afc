// SPDX-License-Identifier: Apache-2.0
// Idea: the blocks of a cluster share one histogram; each holds a part of the bins and counts in the others' shared
// memory.
// Change: launched in clusters; a bin's owner is its number / bins a block; a barrier of the cluster before the first
// count and before the first block may leave.
// Expected bottleneck: counting in another block's memory takes its time on the way between the SMs. It pays, if at
// all, when the bins do not fit into one block.
// Measured on an H200: 355.6 us, 755 GB/s (04_cluster1); 454.4 us, 591 GB/s (04_cluster2); 1.00 ms, 268 GB/s
//   (04_cluster4); 1.01 ms, 266 GB/s (04_cluster8) at size 67108864.
#include <cooperative_groups.h>

#include "histogram.h"

namespace cg = cooperative_groups;

__global__ void cluster_histogram(gallery::Histogram p, int bins_a_block) {
  extern __shared__ int counts[];
  const cg::cluster_group cluster = cg::this_cluster();
  for (int b = threadIdx.x; b < bins_a_block; b += blockDim.x) counts[b] = 0;
  cluster.sync();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += blockDim.x * gridDim.x) {
    const int bin = gallery::bin_of(p, p.in[i]);
    int* const owner = cluster.map_shared_rank(counts, bin / bins_a_block);
    atomicAdd(owner + bin % bins_a_block, 1);
  }
  cluster.sync();
  const int first = cluster.block_rank() * bins_a_block;
  for (int b = threadIdx.x; b < bins_a_block; b += blockDim.x)
    if (first + b < p.bins && counts[b] != 0) atomicAdd(&p.counts[first + b], counts[b]);
}

int main(int argc, char** argv) {
  int wrong = 0;
  for (const int blocks : {1, 2, 4, 8}) {  // a cluster
    const std::string name = "histogram/04_cluster" + std::to_string(blocks);
    wrong |= gallery::run_histogram(argc, argv, name.c_str(), [blocks](const gallery::Histogram& p) {
      const int bins_a_block = (p.bins + blocks - 1) / blocks;
      cudaLaunchConfig_t config = {};
      config.gridDim = 512;
      config.blockDim = 256;
      config.dynamicSmemBytes = bins_a_block * sizeof(int);
      cudaLaunchAttribute attribute = {};
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
      config.attrs = &attribute;
      config.numAttrs = 1;
      gallery::must(cudaLaunchKernelEx(&config, cluster_histogram, p, bins_a_block), "launch");
    });
  }
  return wrong;
}
