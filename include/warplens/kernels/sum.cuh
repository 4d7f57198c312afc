// SPDX-License-Identifier: Apache-2.0
// Sum of an array of floats in one pass, at the speed of memory, the same bits at every run.
//
// As many blocks as the GPU holds walk through the array in step; a thread has four 16-byte loads in flight, which is
// what DRAM needs (an H200: 128 KiB on their way in each SM). Each block leaves its sum in the workspace; the block
// that arrives last adds those up in their order. Since which block that is does not matter, the result does not depend
// on timing.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.cuh"

namespace warplens::kernels {

namespace sum_detail {

constexpr int kThreads = 512, kEach = 4, kBlocksEach = 4, kMostBlocks = 4096;

/// Read once: not kept in L1.
__device__ __forceinline__ float4 load_once(const float4* p) {
  float4 v;
  asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "l"(p));
  return v;
}

/// The sum of all threads' numbers, in thread 0.
__device__ __forceinline__ float block_sum(float t) {
  __shared__ float warps[kThreads / 32];
#pragma unroll
  for (int d = 16; d > 0; d >>= 1) t += __shfl_down_sync(0xffffffffu, t, d);
  __syncthreads();
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = t;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  t = threadIdx.x < kThreads / 32 ? warps[threadIdx.x] : 0;
#pragma unroll
  for (int d = kThreads / 64; d > 0; d >>= 1) t += __shfl_down_sync(0xffffffffu, t, d);
  return t;
}

/// What a thread adds up: its share of the body, which begins at a multiple of 16 bytes, in tiles of 512 x 4 x 16
/// bytes. The last block also takes the `head` before it and what is left after the last tile.
__device__ __forceinline__ float thread_sum(const float* x, int64_t n, int head) {
  constexpr int64_t kTile = int64_t{kThreads} * kEach;
  const float4* const body = reinterpret_cast<const float4*>(x + head);
  const int64_t tiles = (n - head) / 4 / kTile;
  float sums[kEach] = {};
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    float4 v[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) v[i] = load_once(body + t * kTile + i * kThreads + threadIdx.x);
#pragma unroll
    for (int i = 0; i < kEach; ++i) sums[i] += (v[i].x + v[i].y) + (v[i].z + v[i].w);
  }
  float total = 0;
#pragma unroll
  for (int i = 0; i < kEach; ++i) total += sums[i];
  if (blockIdx.x == gridDim.x - 1) {
    if (threadIdx.x < head) total += x[threadIdx.x];
    for (int64_t i = head + tiles * kTile * 4 + threadIdx.x; i < n; i += kThreads) total += x[i];
  }
  return total;
}

template <int Blocks>  // of an SM
__global__ void __launch_bounds__(kThreads, Blocks)
    sum_kernel(const float* x, int64_t n, int head, unsigned* arrived, float* blocks, float* out) {
  const float mine = block_sum(thread_sum(x, n, head));
  __shared__ bool last;
  if (threadIdx.x == 0) {
    blocks[blockIdx.x] = mine;
    __threadfence();
    last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;  // wraps: zero again after the last
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  float total = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += kThreads) total += __ldcg(blocks + i);
  total = block_sum(total);
  if (threadIdx.x == 0) *out = total;
}

}  // namespace sum_detail

/// Bytes of workspace that `sum` needs on any GPU.
constexpr size_t kSumWorkspaceBytes = 16 + sum_detail::kMostBlocks * sizeof(float);

/// *out = x[0] + ... + x[n-1]; 0 for n = 0. Device memory, x with any 4-byte alignment. Added up in parts of a few
/// thousand, so the error grows far slower than that of a loop. `workspace`: kSumWorkspaceBytes of device memory,
/// 4-byte aligned, whose first 4 bytes are zero before its first use; every call leaves them zero again. Calls that may
/// run at the same time need one each. Errors: cudaErrorInvalidValue (negative n, null or misaligned pointer, workspace
/// too small), or those of the launch. Asynchronous in `stream`.
inline cudaError_t sum(const float* x, int64_t n, float* out, void* workspace, size_t workspace_bytes,
                       cudaStream_t stream = nullptr) {
  using namespace sum_detail;
  if (n < 0 || (x == nullptr && n > 0) || out == nullptr || workspace == nullptr) return cudaErrorInvalidValue;
  if (workspace_bytes < kSumWorkspaceBytes) return cudaErrorInvalidValue;
  for (const void* p :
       {static_cast<const void*>(x), static_cast<const void*>(out), static_cast<const void*>(workspace)})
    if (!launch_detail::aligned_to_4(p)) return cudaErrorInvalidValue;
  int device = 0, processors = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (status != cudaSuccess) return launch_detail::taken_back(status);
  const int64_t before = (16 - static_cast<int64_t>(reinterpret_cast<uintptr_t>(x) % 16)) / 4 % 4;
  const int head = static_cast<int>(before < n ? before : n);
  const int64_t tiles = (n - head) / (int64_t{4} * kThreads * kEach), most = processors * kBlocksEach;
  const int64_t blocks = tiles < 1 ? 1 : tiles < most ? tiles : most < kMostBlocks ? most : kMostBlocks;
  unsigned* const arrived = static_cast<unsigned*>(workspace);
  float* const sums = reinterpret_cast<float*>(arrived + 4);
  return launch_detail::launch(sum_kernel<kBlocksEach>, blocks, kThreads, 0, stream, x, n, head, arrived, sums, out);
}

}  // namespace warplens::kernels
