// SPDX-License-Identifier: Apache-2.0
// Idea: several copies of every bin, side by side; a lane counts in its own, so lanes that want one bin do not meet.
// Change: as many copies (1 to 32) as 64 KiB hold; with 32 each lane has a bank for itself, whatever the values.
// Expected bottleneck: as 02. Adding the constant 1 is done for all lanes of a bin at once by the hardware, so there is
// nothing to win; clearing and adding up the copies costs a little.
// Measured on an H200: 178.2 us, 1.51 TB/s at size 67108864.
#include "histogram.h"

__global__ void copies_by_lane(gallery::Histogram p, int copies) {
  extern __shared__ int counts[];
  for (int b = threadIdx.x; b < p.bins * copies; b += blockDim.x) counts[b] = 0;
  __syncthreads();
  const int mine = threadIdx.x % copies;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += blockDim.x * gridDim.x)
    atomicAdd(&counts[gallery::bin_of(p, p.in[i]) * copies + mine], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < p.bins; b += blockDim.x) {
    int sum = 0;
    for (int c = 0; c < copies; ++c) sum += counts[b * copies + (c + threadIdx.x) % copies];
    if (sum != 0) atomicAdd(&p.counts[b], sum);
  }
}

int main(int argc, char** argv) {
  gallery::must(cudaFuncSetAttribute(copies_by_lane, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10), "64 KiB");
  return gallery::run_histogram(argc, argv, "histogram/03_copies_by_lane", [](const gallery::Histogram& p) {
    int copies = 32;
    while (copies > 1 && p.bins * copies > 16384) copies /= 2;
    copies_by_lane<<<132 * 2, 1024, p.bins * copies * sizeof(int)>>>(p, copies);
  });
}
