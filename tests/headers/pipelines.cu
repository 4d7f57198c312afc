// SPDX-License-Identifier: Apache-2.0
// Pipelines of one thread are groups of asynchronous copies; those that threads share copy before they commit.
// OPTIONS:
// OPTIONS: -std=c++20
#include <cooperative_groups.h>

#include <cuda/barrier>
#include <cuda/pipeline>

constexpr int kTile = 128, kTiles = 6;

// PTX k_own: cp.async.ca.shared.global
// PTX k_own: cp.async.commit_group
// PTX k_own: cp.async.wait_group
extern "C" __global__ void k_own(const int* in, int* out) {
  __shared__ int stage[2][kTile];
  auto pipe = cuda::make_pipeline();
  int sum = 0;
  for (int copied = 0, tile = 0; tile < kTiles; tile++) {
    for (; copied < kTiles && copied < tile + 2; copied++) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[copied % 2][threadIdx.x], &in[copied * kTile + threadIdx.x], sizeof(int), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += stage[tile % 2][threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
// PTX-NOT k_shared: cp.async
// PTX k_shared: atom
extern "C" __global__ void k_shared(const int* in, int* out) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ int stage[kTile];
  auto block = cooperative_groups::this_thread_block();
  const bool producer = block.thread_rank() < 32;
  auto pipe =
      cuda::make_pipeline(block, &state, producer ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  if (producer) {
    pipe.producer_acquire();
    cuda::memcpy_async(stage + threadIdx.x, in + threadIdx.x, cuda::aligned_size_t<4>(4), pipe);
    pipe.producer_commit();
  } else {
    pipe.consumer_wait();
    out[threadIdx.x] = stage[threadIdx.x % 32];
    pipe.consumer_release();
  }
  cuda::pipeline_consumer_wait_prior<0>(pipe);
}
