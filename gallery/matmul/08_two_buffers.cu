// SPDX-License-Identifier: Apache-2.0
// Idea: load the next tile while the current one is used.
// Change: two buffers of shared memory; the loads of the next tile come before the sums; one barrier a tile.
// Expected bottleneck: as 05. Two buffers halve the barriers, but the loads still pass through registers and are
// waited for before the store to shared memory; other blocks hid that latency already.
// Measured on an H200: 15.44 ms, 8.90 TFLOP/s at size 4096.
#include "matmul.h"

constexpr int kTile = 32;

__global__ void two_buffers(gallery::Matmul p) {
  __shared__ float a[2][kTile][kTile], b[2][kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  const auto load = [&](int buffer, int k0) {
    a[buffer][ty][tx] = row < p.m && k0 + tx < p.k ? p.a[size_t(row) * p.k + k0 + tx] : 0;
    b[buffer][ty][tx] = k0 + ty < p.k && col < p.n ? p.b[size_t(k0 + ty) * p.n + col] : 0;
  };
  load(0, 0);
  __syncthreads();
  float sum = 0;
  int now = 0;
  for (int k0 = 0; k0 < p.k; k0 += kTile, now ^= 1) {
    if (k0 + kTile < p.k) load(now ^ 1, k0 + kTile);
    for (int k = 0; k < kTile; ++k) sum += a[now][ty][k] * b[now][k][tx];
    __syncthreads();
  }
  if (row >= p.m || col >= p.n) return;
  float& c = p.c[size_t(row) * p.n + col];
  c = p.beta != 0 ? p.alpha * sum + p.beta * c : p.alpha * sum;
}

int main(int argc, char** argv) {
  return gallery::run_matmul(argc, argv, "matmul/08_two_buffers", [](const gallery::Matmul& p) {
    two_buffers<<<dim3((p.n + kTile - 1) / kTile, (p.m + kTile - 1) / kTile), dim3(kTile, kTile)>>>(p);
  });
}
