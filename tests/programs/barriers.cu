// SPDX-License-Identifier: Apache-2.0
// cuda::barrier and cuda::pipeline: results are compared with plain arithmetic, and what differs is counted.
#include <cooperative_groups.h>

#include <cstdio>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;
constexpr int kThreads = 256, kRounds = 5, kTile = 128, kTiles = 6;

// Each round every thread reads what another warp's thread wrote in the round before.
__global__ void rounds(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int values[2][kThreads];
  const int x = (int)threadIdx.x;
  if (x == 0) init(&barrier, kThreads);
  __syncthreads();
  values[0][x] = x;
  for (int r = 0; r < kRounds; r++) {
    auto token = barrier.arrive();
    barrier.wait(static_cast<decltype(token)&&>(token));
    values[(r + 1) & 1][x] = values[r & 1][(x + 33) % kThreads] + 1;
  }
  barrier.arrive_and_wait();
  out[x] = values[kRounds & 1][x];
}

// Sums of tiles that are copied two stages ahead, by the whole block.
__global__ void shared_pipeline(const int* in, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ __align__(16) int stage[2][kTile];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int sum = 0;
  for (int copied = 0, tile = 0; tile < kTiles; tile++) {
    for (; copied < kTiles && copied < tile + 2; copied++) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[copied % 2], in + copied * kTile, sizeof stage[0], pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += stage[tile % 2][(threadIdx.x * 7) % kTile];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
int main() {
  int *in, *out;
  cudaMallocManaged(&in, kTile * kTiles * sizeof(int));
  cudaMallocManaged(&out, kThreads * sizeof(int));
  for (int i = 0; i < kTile * kTiles; i++) in[i] = i * 31 % 97;

  rounds<<<1, kThreads>>>(out);
  cudaError_t end = cudaDeviceSynchronize();
  int bad = 0;
  for (int i = 0; i < kThreads; i++) bad += out[i] != (i + 33 * kRounds) % kThreads + kRounds;
  std::printf("barrier: %s, %d wrong\n", cudaGetErrorString(end), bad);

  shared_pipeline<<<1, kTile>>>(in, out);
  end = cudaDeviceSynchronize();
  bad = 0;
  for (int i = 0; i < kTile; i++) {
    int sum = 0;
    for (int t = 0; t < kTiles; t++) sum += in[t * kTile + i * 7 % kTile];
    bad += out[i] != sum;
  }
  std::printf("shared pipeline: %s, %d wrong\n", cudaGetErrorString(end), bad);
  return 0;
}
