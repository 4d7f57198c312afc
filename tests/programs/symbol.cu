// SPDX-License-Identifier: Apache-2.0
// Variables of modules: __constant__, __device__ with initialisers, managed ones where the compiler has them.
#include "show.h"

__constant__ float scale[4] = {1, 2, 3, 4};
__device__ int counter = 10;
__device__ double table[3] = {0.5, 1.5, 2.5};
__device__ int* pointer_to_counter = &counter;
static int plain;

__global__ void use(float* out) {
  atomicAdd(pointer_to_counter, 1);
  if (threadIdx.x < 4) out[threadIdx.x] = scale[threadIdx.x] * float(table[1]);
}

int main() {
  float *out, back[4];
  SHOW(cudaMalloc(&out, 16));
  use<<<2, 32>>>(out);
  SHOW(cudaMemcpy(back, out, 16, cudaMemcpyDeviceToHost));
  std::printf("%g %g %g %g\n", back[0], back[1], back[2], back[3]);
  int count = 0;
  SHOW(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  VALUE("counter", count);
  const float scales[2] = {7, 8};
  SHOW(cudaMemcpyToSymbol(scale, scales, 8, 4));
  const double t = 10;
  SHOW(cudaMemcpyToSymbol(table, &t, 8, 8));
  use<<<1, 32>>>(out);
  SHOW(cudaMemcpy(back, out, 16, cudaMemcpyDeviceToHost));
  std::printf("%g %g %g %g\n", back[0], back[1], back[2], back[3]);
  SHOW(cudaMemcpyToSymbol(scale, scales, 8, 12));
  SHOW(cudaMemcpyToSymbol(scale, scales, 8, 0, cudaMemcpyDeviceToHost));
  SHOW(cudaMemcpyToSymbol(&plain, scales, 4));
  SHOW(cudaMemcpyFromSymbol(&count, plain, 4));
  size_t bytes = 0;
  void* address = nullptr;
  SHOW(cudaGetSymbolSize(&bytes, table));
  VALUE("bytes", bytes);
  SHOW(cudaGetSymbolAddress(&address, table));
  double d = 0;
  SHOW(cudaMemcpy(&d, static_cast<char*>(address) + 16, 8, cudaMemcpyDeviceToHost));
  std::printf("%g\n", d);
  SHOW(cudaGetLastError());
  return 0;
}
