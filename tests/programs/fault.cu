// SPDX-License-Identifier: Apache-2.0
// Faults of kernels stick: every later call returns the error. One kind a process, named by the argument.
#include <cassert>

#include "show.h"

__global__ void null_store(int* p) { p[threadIdx.x] = 1; }
__global__ void far_store(int* p) { p[(size_t{1} << 40) + threadIdx.x] = 1; }
__global__ void misaligned(char* p) { *reinterpret_cast<int*>(p + 1) = 1; }
__global__ void trap() { asm volatile("trap;"); }
__global__ void failed_assert(int n) { assert(n == int(threadIdx.x)); }
__global__ void shared_overrun(int* out, int at) {
  extern __shared__ int s[];
  s[at] = 1;
  out[0] = s[at];
}
__global__ void fine(int* p) { p[threadIdx.x] = threadIdx.x; }

int main(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "null";
  int* p = nullptr;
  cudaStream_t stream;
  cudaEvent_t event;
  SHOW(cudaMalloc(&p, 4096));
  SHOW(cudaStreamCreate(&stream));
  SHOW(cudaEventCreate(&event));
  if (kind == "null") null_store<<<1, 32>>>(nullptr);
  if (kind == "far") far_store<<<1, 32>>>(p);
  if (kind == "misaligned") misaligned<<<1, 32>>>(reinterpret_cast<char*>(p));
  if (kind == "trap") trap<<<1, 32>>>();
  if (kind == "assert") failed_assert<<<1, 32>>>(40);
  if (kind == "shared") shared_overrun<<<1, 1, 64>>>(p, 1 << 20);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaPeekAtLastError());
  SHOW(cudaGetLastError());
  SHOW(cudaGetLastError());
  fine<<<1, 32>>>(p);
  SHOW(cudaGetLastError());
  int back = 0;
  void* q = nullptr;
  int device = -1, count = -1;
  cudaDeviceProp properties;
  SHOW(cudaMemcpy(&back, p, 4, cudaMemcpyDeviceToHost));
  SHOW(cudaMalloc(&q, 16));
  SHOW(cudaMallocHost(&q, 16));
  SHOW(cudaMemset(p, 0, 16));
  SHOW(cudaStreamSynchronize(stream));
  SHOW(cudaStreamQuery(stream));
  SHOW(cudaEventRecord(event, stream));
  SHOW(cudaEventSynchronize(event));
  SHOW(cudaEventDestroy(event));
  SHOW(cudaStreamDestroy(stream));
  SHOW(cudaFree(p));
  SHOW(cudaGetDevice(&device));
  SHOW(cudaGetDeviceCount(&count));
  SHOW(cudaGetDeviceProperties(&properties, 0));
  SHOW(cudaSetDevice(0));
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaDeviceReset());
  SHOW(cudaGetLastError());
  return 0;
}
