// SPDX-License-Identifier: Apache-2.0
// How much shared memory the driver sets aside in an SM for a launch, by threads, registers, shared memory and the
// kernel's preference; and how many clusters cudaOccupancyMaxActiveClusters allows. The kernels do nothing.
//
//   carveouts clusters        one line a question: registers, threads, dynamic bytes, preference, blocks, clusters of 1..16
//   ncu --csv --page raw --print-units base --metrics launch__shared_mem_config_size,launch__occupancy_limit_shared_mem,
//     launch__registers_per_thread,launch__waves_per_multiprocessor carveouts launches
//
// truth/h200/carveouts.csv has a row for each different launch (api_blocks: what
// cudaOccupancyMaxActiveBlocksPerMultiprocessor answered before it), clusters.csv the answers about clusters.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

using Kernel = void (*)(float*, int);

/// About kValues registers, kShared bytes of static shared memory; n is 0.
template <int kValues, int kShared>
__global__ void kernel(float* p, int n) {
  __shared__ char shared[kShared ? kShared : 1];
  float a[kValues];
  for (int i = 0; i < kValues; ++i) a[i] = p[i * n];
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < kValues; ++i) a[i] = a[i] * a[(i + 1) % kValues] + a[(i + 7) % kValues];
  if (kShared && n == 77) {
    shared[threadIdx.x % (kShared ? kShared : 1)] = n;
    __syncthreads();
    a[0] += shared[n % (kShared ? kShared : 1)];
  }
  if (n)
    for (int i = 0; i < kValues; ++i) p[i] = a[i];
}

static float* memory;

static void launch(Kernel f, int grid, int threads, int dynamic, int preference = -1) {
  cudaFuncAttributes a;
  cudaFuncGetAttributes(&a, f);
  int blocks = 0;
  if (dynamic + (int)a.sharedSizeBytes > 232448) return;
  cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic);
  cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, preference);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, threads, dynamic);
  if (blocks == 0) return;
  f<<<grid, threads, dynamic>>>(memory, 0);
  if (cudaGetLastError() != cudaSuccess) return;
  printf("%d,%d,%d,%d,%d,%d\n", a.numRegs, threads, (int)a.sharedSizeBytes, dynamic, preference, blocks);
}

static void clusters(Kernel f, int threads, int dynamic, int preference) {
  cudaFuncAttributes a;
  cudaFuncGetAttributes(&a, f);
  cudaFuncSetAttribute(f, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic);
  cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout, preference);
  int blocks = -1;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, threads, dynamic);
  printf("%d,%d,%d,%d,%d", a.numRegs, threads, dynamic, preference, blocks);
  for (unsigned c = 1; c <= 16; ++c) {
    cudaLaunchConfig_t config = {};
    config.gridDim = c * 132 * 32;
    config.blockDim = threads;
    config.dynamicSmemBytes = dynamic;
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = c;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int count = -1;
    cudaOccupancyMaxActiveClusters(&count, f, &config);
    cudaGetLastError();
    printf(",%d", count);
  }
  printf("\n");
}

static const int kThreads[] = {32, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024};
static const int kDynamic[] = {0,     1,     128,   512,   1024,  1152,  2048,  3072,   4096,   5000,
                               6144,  7168,  8192,  10240, 12288, 15360, 16384, 20480,  24576,  32768,
                               40000, 49152, 65536, 81920, 100000, 131072, 167000, 200704, 232448};

static void all_launches() {
  for (int threads : kThreads)
    for (int dynamic : {0, 1024, 4096}) {
      launch(kernel<1, 1024>, 1000, threads, dynamic);
      launch(kernel<1, 8192>, 1000, threads, dynamic);
      launch(kernel<1, 40000>, 1000, threads, dynamic);
      for (int grid : {1, 100, 200, 100000}) launch(kernel<1, 0>, grid, threads, dynamic);
    }
  for (int threads : kThreads)
    for (int dynamic : kDynamic) {
      launch(kernel<1, 0>, 1000, threads, dynamic);
      if (threads % 128) continue;
      for (Kernel f : {kernel<24, 0>, kernel<54, 0>, kernel<110, 0>}) launch(f, 1000, threads, dynamic);
    }
  for (int preference : {0, 10, 25, 50, 75, 100})
    for (int threads : {64, 256, 1024})
      for (int dynamic : {0, 1, 1024, 4096, 8192, 16384, 40000, 100000})
        launch(kernel<1, 0>, 1000, threads, dynamic, preference);
  srand(1);
  for (int i = 0; i < 400; ++i) {
    const int threads = 32 * (1 + rand() % 32);
    launch(kernel<1, 0>, 1000, threads, rand() % 2 ? rand() % 20000 : rand() % 100000);
  }
  cudaDeviceSynchronize();
}

int main(int argc, char** argv) {
  cudaMalloc(&memory, 1 << 20);
  if (argc == 2 && !strcmp(argv[1], "launches")) {
    all_launches();
    return 0;
  }
  for (Kernel f : {kernel<1, 0>, kernel<54, 0>})
    for (int preference : {-1, 50})
      for (int threads : kThreads)
        for (int dynamic : {0, 1024, 4096, 8192, 16384, 40000, 65536, 100000, 200704})
          clusters(f, threads, dynamic, preference);
}
