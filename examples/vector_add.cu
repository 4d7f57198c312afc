// SPDX-License-Identifier: Apache-2.0
// The first CUDA program: c[i] = a[i] + b[i], one thread an element. Neighbouring threads touch neighbouring numbers, so
// every warp's 128 bytes come in 4 pieces (sectors) of 32 bytes, the least possible.
//
//   warplens run examples/vector_add.cu [n]
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void vector_add(int n, const float* a, const float* b, float* c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

static void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  exit(1);
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 1000000;
  if (n < 1) {
    fprintf(stderr, "usage: vector_add [n]\n");
    return 2;
  }
  const size_t bytes = (size_t)n * sizeof(float);
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = (float)(i % 1000);
    b[i] = 0.5f * (float)(i % 77);
  }

  float *da, *db, *dc;
  check(cudaMalloc(&da, bytes), "cudaMalloc a");
  check(cudaMalloc(&db, bytes), "cudaMalloc b");
  check(cudaMalloc(&dc, bytes), "cudaMalloc c");
  check(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice), "copy a");
  check(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice), "copy b");

  const int threads = 256;
  vector_add<<<(n + threads - 1) / threads, threads>>>(n, da, db, dc);
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost), "copy c");
  cudaFree(da);
  cudaFree(db);
  cudaFree(dc);

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += c[i] != a[i] + b[i];
  printf("vector_add: n = %d, %d wrong elements\n", n, wrong);
  return wrong == 0 ? 0 : 1;
}
