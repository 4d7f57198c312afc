// SPDX-License-Identifier: Apache-2.0
// out[i] = 2 * table[i] + factor + offset, with factor set to 7 by the host: 109 111 113 115; then squared.
#include <cstdio>

#include "tables.cuh"
int devices();
void launch_square(int* p);
static __device__ int factor = 5;
__global__ void combine(int* out) { out[threadIdx.x] = scaled(table[threadIdx.x]) + factor + offset; }
int main() {
  int *d, h[4], seven = 7, before[4];
  cudaMalloc(&d, sizeof h);
  cudaMemcpyToSymbol(factor, &seven, sizeof seven);
  combine<<<1, 4>>>(d);
  cudaMemcpy(before, d, sizeof before, cudaMemcpyDeviceToHost);
  launch_square(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d, %d %d, devices %d\n", before[0], before[1], before[2], before[3], h[0], h[3], devices());
  return 0;
}
