// SPDX-License-Identifier: Apache-2.0
// Idea: the formula: write the matrix of scores, make each row a softmax, multiply by V. Three kernels.
// Change: none, the first rung.
// Expected bottleneck: length^2 numbers a head are written three times and read four times; the products are naive.
// Measured on an H200: 75.51 ms, 910 GFLOP/s at size 4096.
#include "attention.h"

__global__ void scores(gallery::Attention p) {
  const int key = blockIdx.x * 32 + threadIdx.x, query = blockIdx.y * 8 + threadIdx.y;
  if (key >= p.length || query >= p.length) return;
  const float* const q = p.q + (size_t(blockIdx.z) * p.length + query) * gallery::kRow;
  const float* const k = p.k + (size_t(blockIdx.z) * p.length + key) * gallery::kRow;
  float sum = 0;
  for (int d = 0; d < gallery::kRow; ++d) sum += q[d] * k[d];
  p.weights[(size_t(blockIdx.z) * p.length + query) * p.length + key] = p.scale * sum;
}

__global__ void softmax(gallery::Attention p) {  // a warp a row
  float* const row = p.weights + (size_t(blockIdx.x) * 8 + threadIdx.y) * p.length;
  if (blockIdx.x * 8 + threadIdx.y >= p.heads * p.length) return;
  float top = -INFINITY, total = 0;
  for (int t = threadIdx.x; t < p.length; t += 32) top = fmaxf(top, row[t]);
  for (int d = 16; d > 0; d >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  for (int t = threadIdx.x; t < p.length; t += 32) total += row[t] = expf(row[t] - top);
  for (int d = 16; d > 0; d >>= 1) total += __shfl_xor_sync(~0u, total, d);
  for (int t = threadIdx.x; t < p.length; t += 32) row[t] /= total;
}

__global__ void values(gallery::Attention p) {  // a thread an element
  const size_t row = size_t(blockIdx.x) * 4 + threadIdx.y, head = row / p.length;
  if (row >= size_t(p.heads) * p.length) return;
  const float* const weights = p.weights + row * p.length;
  const float* const v = p.v + head * p.length * gallery::kRow;
  float sum = 0;
  for (int t = 0; t < p.length; ++t) sum += weights[t] * v[size_t(t) * gallery::kRow + threadIdx.x];
  p.o[row * gallery::kRow + threadIdx.x] = sum;
}

int main(int argc, char** argv) {
  return gallery::run_attention(argc, argv, "attention/01_three_passes", [](const gallery::Attention& p) {
    const unsigned rows = p.heads * p.length;
    scores<<<dim3((p.length + 31) / 32, (p.length + 7) / 8, p.heads), dim3(32, 8)>>>(p);
    softmax<<<(rows + 7) / 8, dim3(32, 8)>>>(p);
    values<<<(rows + 3) / 4, dim3(gallery::kRow, 4)>>>(p);
  });
}
