// SPDX-License-Identifier: Apache-2.0
// Matrix product, second try: threadIdx.x walks along the COLUMNS of C. The same arithmetic as matmul_naive.cu.
//
// A warp is 32 threads that differ in threadIdx.x only, so here one warp holds one row and 32 columns. Reading
// B[k * n + col], its 32 addresses are neighbours: 128 bytes in 4 pieces of 32. All 32 threads read the same number of A,
// which costs one piece. Writing C is in neighbouring addresses as well.
//
//   warplens run examples/matmul_coalesced.cu [n]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

// C = alpha * A * B + beta * C, all n x n and row by row in memory. One thread computes one element of C.
__global__ void matmul_coalesced(int n, float alpha, const float* A, const float* B, float beta, float* C) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || col >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) {
    sum += A[row * n + k] * B[k * n + col];
  }
  C[row * n + col] = alpha * sum + beta * C[row * n + col];
}

static void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  exit(1);
}

// The same product in double precision on the CPU; returns the largest difference from `result`.
static double largest_error(int n, float alpha, const std::vector<float>& A, const std::vector<float>& B, float beta,
                            const std::vector<float>& C, const std::vector<float>& result) {
  double worst = 0;
  std::vector<double> sum(n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) sum[j] = 0;
    for (int k = 0; k < n; ++k) {
      const double a = A[(size_t)i * n + k];
      for (int j = 0; j < n; ++j) sum[j] += a * B[(size_t)k * n + j];
    }
    for (int j = 0; j < n; ++j) {
      const double want = alpha * sum[j] + beta * (double)C[(size_t)i * n + j];
      const double error = std::fabs(result[(size_t)i * n + j] - want);
      if (!(error <= worst)) worst = error;  // also true for not-a-number
    }
  }
  return worst;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 512;
  if (n < 1 || n > 16384) {
    fprintf(stderr, "usage: matmul_coalesced [n]   (1 <= n <= 16384)\n");
    return 2;
  }
  const float alpha = 0.5f, beta = 3.0f;
  const size_t count = (size_t)n * n, bytes = count * sizeof(float);
  std::vector<float> A(count), B(count), C(count), result(count);
  unsigned seed = 1;
  for (std::vector<float>* matrix : {&A, &B, &C}) {
    for (float& x : *matrix) x = (float)((seed = seed * 1664525u + 1013904223u) >> 8) / (1 << 23) - 1.0f;
  }

  float *dA, *dB, *dC;
  check(cudaMalloc(&dA, bytes), "cudaMalloc A");
  check(cudaMalloc(&dB, bytes), "cudaMalloc B");
  check(cudaMalloc(&dC, bytes), "cudaMalloc C");
  check(cudaMemcpy(dA, A.data(), bytes, cudaMemcpyHostToDevice), "copy A");
  check(cudaMemcpy(dB, B.data(), bytes, cudaMemcpyHostToDevice), "copy B");
  check(cudaMemcpy(dC, C.data(), bytes, cudaMemcpyHostToDevice), "copy C");

  const dim3 block(32, 32);
  const dim3 grid((n + 31) / 32, (n + 31) / 32);
  matmul_coalesced<<<grid, block>>>(n, alpha, dA, dB, beta, dC);
  check(cudaGetLastError(), "launch");
  check(cudaDeviceSynchronize(), "run");
  check(cudaMemcpy(result.data(), dC, bytes, cudaMemcpyDeviceToHost), "copy the result");
  cudaFree(dA);
  cudaFree(dB);
  cudaFree(dC);

  const double error = largest_error(n, alpha, A, B, beta, C, result), allowed = 1e-6 * n + 1e-6;
  const bool right = error <= allowed;
  printf("matmul_coalesced: n = %d, largest error %.1e (allowed %.1e): %s\n", n, error, allowed, right ? "correct" : "WRONG");
  return right ? 0 : 1;
}
