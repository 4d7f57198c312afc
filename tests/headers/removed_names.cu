// SPDX-License-Identifier: Apache-2.0
// Names that CUDA 13 dropped and a tenth of the programs in the wild still use.
#include <cuda_runtime.h>
#include <device_functions.h>
#include <sm_20_atomic_functions.h>

#include <cstdio>

__global__ void k(int* p) { p[threadIdx.x] = threadIdx.x; }
int main() {
  k<<<1, 32>>>(nullptr);
  cudaThreadSynchronize();
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  std::printf("%d %d %d %d %d\n", p.clockRate, p.memoryClockRate, p.deviceOverlap, p.computeMode,
              p.kernelExecTimeoutEnabled);
  cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte);
  cudaThreadExit();
}
