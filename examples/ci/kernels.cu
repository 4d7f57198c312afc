// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <stdexcept>

__global__ void scale(const float* in, float* out, int columns, float factor) {
  int row = blockIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column < columns) out[row * columns + column] = factor * in[row * columns + column];
}

// Through a tile of shared memory, so that reads and writes both go along rows; padded, so that its columns lie in
// different banks.
__global__ void transpose(const float* in, float* out, int size) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * size + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[(y + k) * size + x] = tile[threadIdx.x][threadIdx.y + k];
}

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <typename Launch>
std::vector<float> on_device(const std::vector<float>& matrix, Launch launch) {
  const size_t bytes = matrix.size() * sizeof(float);
  std::vector<float> result(matrix.size());
  float *in, *out;
  check(cudaMalloc(&in, bytes));
  check(cudaMalloc(&out, bytes));
  check(cudaMemcpy(in, matrix.data(), bytes, cudaMemcpyHostToDevice));
  launch(in, out);
  check(cudaGetLastError());
  check(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost));
  check(cudaFree(in));
  check(cudaFree(out));
  return result;
}

}  // namespace

std::vector<float> scaled(const std::vector<float>& matrix, int rows, int columns, float factor) {
  return on_device(matrix, [&](const float* in, float* out) {
    scale<<<dim3((columns + 127) / 128, rows), 128>>>(in, out, columns, factor);
  });
}

std::vector<float> transposed(const std::vector<float>& matrix, int size) {
  return on_device(matrix, [&](const float* in, float* out) {
    transpose<<<dim3(size / 32, size / 32), dim3(32, 8)>>>(in, out, size);
  });
}
