// SPDX-License-Identifier: Apache-2.0
// Occupancy where registers cannot limit: small kernels, limited by threads, blocks or shared memory.
#include "show.h"

__global__ void tiny(int* p) { p[threadIdx.x] = 1; }
__global__ void shared16k(int* p) {
  __shared__ int s[4096];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[threadIdx.x ^ 1];
}

int main() {
  int blocks = -1;
  for (int threads : {32, 64, 128, 256, 512, 1024}) {
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tiny, threads, 0));
    VALUE("blocks", blocks);
  }
  for (int bytes : {1, 1024, 20000, 49152, 60000}) {
    SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tiny, 64, bytes));
    VALUE("blocks", blocks);
  }
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared16k, 128, 0));
  VALUE("blocks", blocks);
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tiny, 2048, 0));
  VALUE("blocks", blocks);
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tiny, 0, 0));
  SHOW(cudaGetLastError());
  return 0;
}
