// SPDX-License-Identifier: Apache-2.0
// Streams and events: order within a stream, the default stream's barrier, waiting for events, and their errors.
#include "show.h"

__global__ void add(int* p, int v) { p[threadIdx.x] = p[threadIdx.x] * 2 + v; }
__global__ void spin_until_set(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = *flag + 1;
}

int main() {
  cudaStream_t a, b, c;
  SHOW(cudaStreamCreate(&a));
  SHOW(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  SHOW(cudaStreamCreateWithFlags(&c, 77));
  SHOW(cudaStreamCreate(nullptr));
  cudaEvent_t start, stop, untimed, never;
  SHOW(cudaEventCreate(&start));
  SHOW(cudaEventCreate(&stop));
  SHOW(cudaEventCreate(&never));
  SHOW(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  int *p, *host;
  SHOW(cudaMalloc(&p, 128));
  SHOW(cudaMallocHost(&host, 128));
  std::memset(host, 0, 128);
  SHOW(cudaMemcpyAsync(p, host, 128, cudaMemcpyHostToDevice, a));
  SHOW(cudaEventRecord(start, a));
  for (int i = 1; i <= 5; ++i) add<<<1, 32, 0, a>>>(p, i);
  SHOW(cudaEventRecord(stop, a));
  SHOW(cudaStreamWaitEvent(b, stop, 0));
  SHOW(cudaMemcpyAsync(host, p, 128, cudaMemcpyDeviceToHost, b));
  SHOW(cudaStreamSynchronize(b));
  VALUE("value after five kernels", host[0]);  // ((((1*2+2)*2+3)*2+4)*2+5
  float ms = -1;
  SHOW(cudaEventElapsedTime(&ms, start, stop));
  VALUE("elapsed >= 0", ms >= 0);
  SHOW(cudaEventElapsedTime(&ms, start, never));
  SHOW(cudaEventRecord(untimed, a));
  SHOW(cudaEventSynchronize(untimed));
  SHOW(cudaEventElapsedTime(&ms, start, untimed));
  SHOW(cudaEventQuery(never));
  SHOW(cudaEventSynchronize(never));
  SHOW(cudaEventElapsedTime(nullptr, start, stop));
  SHOW(cudaGetLastError());

  // A kernel waits for the host: nothing behind it in its stream, or in the default stream, may be done before.
  int* flag;
  SHOW(cudaMallocHost(&flag, 8));
  flag[0] = flag[1] = 0;
  spin_until_set<<<1, 1, 0, a>>>(flag, flag + 1);
  SHOW(cudaEventRecord(stop, a));
  SHOW(cudaStreamQuery(a));
  SHOW(cudaEventQuery(stop));
  SHOW(cudaEventElapsedTime(&ms, start, stop));
  SHOW(cudaStreamQuery(b));
  SHOW(cudaMemsetAsync(p, 0, 128, b));
  SHOW(cudaStreamSynchronize(b));
  add<<<1, 32>>>(p, 3);  // legacy default stream: after everything in a
  SHOW(cudaStreamQuery(0));
  flag[0] = 41;
  SHOW(cudaStreamSynchronize(0));
  VALUE("kernel saw", flag[1]);
  SHOW(cudaStreamQuery(a));
  SHOW(cudaEventQuery(stop));
  SHOW(cudaMemcpy(host, p, 128, cudaMemcpyDeviceToHost));
  VALUE("default stream's kernel ran", host[31]);
  SHOW(cudaMemset(p, 1, 128));
  add<<<1, 32, 0, a>>>(p, 0);
  add<<<1, 32, 0, a>>>(p, 0);
  SHOW(cudaMemcpy(host, p, 128, cudaMemcpyDeviceToHost));  // default stream waits for a
  VALUE("after both", host[7] == 0x04040404);
  SHOW(cudaStreamDestroy(a));
  SHOW(cudaStreamDestroy(b));
  SHOW(cudaEventDestroy(start));
  SHOW(cudaEventDestroy(stop));
  SHOW(cudaEventDestroy(untimed));
  SHOW(cudaEventDestroy(never));
  SHOW(cudaFreeHost(flag));
  SHOW(cudaFreeHost(host));
  SHOW(cudaFree(p));
  SHOW(cudaGetLastError());
  return 0;
}
