/* SPDX-License-Identifier: Apache-2.0 */
/* A C file that only calls the runtime. */
#include <cuda_runtime.h>
#include <stdio.h>

int main(void) {
  void* p = NULL;
  float4 v = make_float4(1, 2, 3, 4);
  cudaError_t e = cudaMalloc(&p, 64);
  cudaMemcpy(p, &v, sizeof v, cudaMemcpyHostToDevice);
  printf("%s\n", cudaGetErrorString(e));
  return (int)cudaThreadSynchronize();
}
