// SPDX-License-Identifier: Apache-2.0
// What distance costs: thread i reads in[i * stride]. With stride 1 a warp's 32 floats lie in 4 sectors of 32 bytes; each
// doubling of the stride doubles that, until at stride 8 every float sits in a sector of its own: 32 sectors, of which the
// warp uses one eighth. Larger strides cost no more sectors.
//
//   warplens run examples/strided_read.cu [stride]
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void strided_read(int n, int stride, const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(size_t)i * stride];
}

static void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  exit(1);
}

int main(int argc, char** argv) {
  const int n = 1 << 18, stride = argc > 1 ? atoi(argv[1]) : 8;
  if (stride < 1 || stride > 1024) {
    fprintf(stderr, "usage: strided_read [stride]   (1 <= stride <= 1024)\n");
    return 2;
  }
  std::vector<float> in((size_t)n * stride), out(n);
  for (size_t i = 0; i < in.size(); ++i) in[i] = (float)(i % 8191);

  float *din, *dout;
  check(cudaMalloc(&din, in.size() * sizeof(float)), "cudaMalloc in");
  check(cudaMalloc(&dout, out.size() * sizeof(float)), "cudaMalloc out");
  check(cudaMemcpy(din, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice), "copy in");

  strided_read<<<(n + 255) / 256, 256>>>(n, stride, din, dout);
  check(cudaGetLastError(), "launch");
  check(cudaMemcpy(out.data(), dout, out.size() * sizeof(float), cudaMemcpyDeviceToHost), "copy out");
  cudaFree(din);
  cudaFree(dout);

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += out[i] != in[(size_t)i * stride];
  printf("strided_read: stride = %d, %d wrong elements\n", stride, wrong);
  return wrong == 0 ? 0 : 1;
}
