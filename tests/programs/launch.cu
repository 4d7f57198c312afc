// SPDX-License-Identifier: Apache-2.0
// Launches: arguments of every alignment, shapes, the error of each bad configuration, attributes of functions.
#include "show.h"

struct Odd {
  char c;
  double d;
  short s[3];
};
__global__ void arguments(char a, double b, short c, Odd odd, float* out, unsigned char z) {
  out[0] = a;
  out[1] = float(b);
  out[2] = c;
  out[3] = float(odd.d) + odd.s[2];
  out[4] = z;
}
__global__ void shape(unsigned* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = (blockIdx.z << 20) + (blockIdx.y << 15) + (blockIdx.x << 10) + (threadIdx.z << 7) +
                                  (threadIdx.y << 4) + threadIdx.x;
}
__global__ void dynamic_shared(int* out, int n) {
  extern __shared__ int s[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i * 3;
  __syncthreads();
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += s[n - 1 - i];
  atomicAdd(out, sum);
}
__global__ void static_shared(int* out) {
  __shared__ int s[2048];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(128) bounded(int* out) { out[threadIdx.x] = 1; }

static void* device(size_t bytes) {
  void* p = nullptr;
  if (cudaMalloc(&p, bytes) != cudaSuccess || cudaMemset(p, 0, bytes) != cudaSuccess) std::exit(9);
  return p;
}

static void argument_passing() {
  float* out = static_cast<float*>(device(64));
  arguments<<<1, 1>>>(-3, 2.5, -700, Odd{1, 40.0, {1, 2, 3}}, out, 200);
  SHOW(cudaGetLastError());
  float back[5];
  SHOW(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  std::printf("%g %g %g %g %g\n", back[0], back[1], back[2], back[3], back[4]);
  char a = 9;
  double b = -0.5;
  short c = 12;
  Odd odd = {0, 1.0, {0, 0, 5}};
  unsigned char z = 77;
  void* args[] = {&a, &b, &c, &odd, &out, &z};
  SHOW(cudaLaunchKernel(reinterpret_cast<void*>(arguments), dim3(1), dim3(1), args, 0, nullptr));
  SHOW(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  std::printf("%g %g %g %g %g\n", back[0], back[1], back[2], back[3], back[4]);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  a = 10;
  SHOW(cudaLaunchKernelExC(&config, reinterpret_cast<void*>(arguments), args));
  SHOW(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  std::printf("%g\n", back[0]);
  SHOW(cudaFree(out));
}

static void shapes() {
  const dim3 grid(3, 2, 2), block(5, 3, 2);
  const int n = 12 * 30;
  unsigned* out = static_cast<unsigned*>(device(n * 4));
  shape<<<grid, block>>>(out);
  std::vector<unsigned> back(n);
  SHOW(cudaMemcpy(back.data(), out, n * 4, cudaMemcpyDeviceToHost));
  int bad = 0, at = 0;
  for (unsigned bz = 0; bz < 2; ++bz)
    for (unsigned by = 0; by < 2; ++by)
      for (unsigned bx = 0; bx < 3; ++bx)
        for (unsigned tz = 0; tz < 2; ++tz)
          for (unsigned ty = 0; ty < 3; ++ty)
            for (unsigned tx = 0; tx < 5; ++tx)
              bad += back[at++] != (bz << 20) + (by << 15) + (bx << 10) + (tz << 7) + (ty << 4) + tx;
  VALUE("wrong indices", bad);
  SHOW(cudaFree(out));
}

static void bad_configurations() {
  unsigned* out = static_cast<unsigned*>(device(4096));
#define TRY(...)                     \
  shape<<<__VA_ARGS__>>>(out);       \
  std::printf("%s: ", #__VA_ARGS__); \
  SHOW(cudaGetLastError())
  TRY(0, 32);
  TRY(1, 0);
  TRY(1, 1025);
  TRY(1, dim3(1, 1, 65));
  TRY(1, dim3(32, 32, 2));
  TRY(dim3(1, 65536), 1);
  TRY(dim3(1, 1, 65536), 1);
  TRY(1, 32, 49 * 1024);
  TRY(1, 32, 1 << 20);
  bounded<<<1, 129>>>(reinterpret_cast<int*>(out));
  SHOW(cudaGetLastError());
  SHOW(cudaLaunchKernel(reinterpret_cast<void*>(device), dim3(1), dim3(1), nullptr, 0, nullptr));
  void* args[] = {&out};
  void* const kernel = reinterpret_cast<void*>(shape);
  SHOW(cudaLaunchKernel(kernel, dim3(0), dim3(1), args, 0, nullptr));
  SHOW(cudaLaunchKernel(kernel, dim3(1), dim3(1025), args, 0, nullptr));
  SHOW(cudaLaunchKernel(kernel, dim3(1, 65536), dim3(1), args, 0, nullptr));
  SHOW(cudaLaunchKernel(kernel, dim3(1), dim3(32), args, 50000, nullptr));
  SHOW(cudaLaunchKernel(nullptr, dim3(1), dim3(1), nullptr, 0, nullptr));
  SHOW(cudaGetLastError());
  SHOW(cudaDeviceSynchronize());
  TRY(1, 32);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaFree(out));
}

static void shared_memory() {
  int* out = static_cast<int*>(device(4096));
  int n = 12 * 1024, sum = 0;
  dynamic_shared<<<1, 64, 48 * 1024>>>(out, n);
  SHOW(cudaMemcpy(&sum, out, 4, cudaMemcpyDeviceToHost));
  VALUE("sum", sum);
  SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024));
  SHOW(cudaMemset(out, 0, 4));
  n = 25 * 1024;
  dynamic_shared<<<1, 64, 100 * 1024>>>(out, n);
  SHOW(cudaMemcpy(&sum, out, 4, cudaMemcpyDeviceToHost));
  VALUE("sum", sum);
  dynamic_shared<<<1, 64, 100 * 1024 + 4>>>(out, n);
  SHOW(cudaGetLastError());
  SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
  SHOW(cudaFuncSetAttribute(static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 8192));
  SHOW(cudaFuncSetAttribute(static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  SHOW(cudaFuncSetAttribute(static_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
  SHOW(cudaFuncSetAttribute(static_shared, static_cast<cudaFuncAttribute>(99), 1));
  SHOW(cudaFuncSetAttribute(reinterpret_cast<void*>(device), cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  SHOW(cudaFuncSetAttribute(dynamic_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
  SHOW(cudaFuncSetCacheConfig(static_shared, cudaFuncCachePreferShared));
  SHOW(cudaGetLastError());
  static_shared<<<1, 1024>>>(out);
  std::vector<int> back(1024);
  SHOW(cudaMemcpy(back.data(), out, 4096, cudaMemcpyDeviceToHost));
  VALUE("reversed", back[0] == 1023 && back[1023] == 0);
  cudaFuncAttributes at;
  SHOW(cudaFuncGetAttributes(&at, static_shared));
  VALUE("static shared", at.sharedSizeBytes);
  VALUE("max dynamic shared", at.maxDynamicSharedSizeBytes);
  SHOW(cudaFuncGetAttributes(&at, bounded));
  VALUE("max threads", at.maxThreadsPerBlock);
  SHOW(cudaFree(out));
}

int main() {
  argument_passing();
  shapes();
  bad_configurations();
  shared_memory();
  return 0;
}
