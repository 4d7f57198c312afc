// SPDX-License-Identifier: Apache-2.0
// Attention in fp32 on CUDA cores, without the matrix of weights in memory: O = softmax(scale Q K^T) V for each head.
//
// A warp owns 32 queries and goes through the keys in tiles with a running maximum and sum (online softmax). Both
// products are register-tiled: a lane has 8 queries, and 4 or 8 keys or 8 or 16 columns of V. Traffic to memory is O(L
// d) a block of queries instead of O(L^2): what bounds the kernel is the issue of FMAs, as in sgemm.cuh.
//   - both operands of Q K^T are contiguous along d, so four d are read at a time and nothing is turned;
//   - a warp's weights go through its own part of shared memory, to be read back as rows;
//   - keys are loaded while values are used and the other way round, by cp.async; two barriers a tile;
//   - output is rescaled only in tiles in which some maximum of the warp grew;
//   - rows are padded by 4 words (8 for the weights): 16-byte reads of neighbouring rows use all banks.
#pragma once
#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "launch.cuh"

namespace warplens::kernels {

namespace attention_detail {

struct Problem {
  int queries, keys;
  float scale_log2;  // scale * log2(e): exponentials are powers of two
  const float *q, *k, *v;
  float* o;
};

/// D: the length of a row; BK keys a tile; 32 queries a warp. `Turn...`: the FMAs of the register tile go column by
/// column, down and up in turn (as in sgemm.cuh), instead of row by row; which is faster depends on what
/// else is in registers.
template <int D_, int BK_, int Warps_, int MinBlocks_, int Unroll_, bool TurnScores_, bool TurnValues_>
struct Shape {
  static constexpr int D = D_, BK = BK_, MinBlocks = MinBlocks_, Unroll = Unroll_;
  static constexpr bool TurnScores = TurnScores_, TurnValues = TurnValues_;
  static constexpr int kThreads = Warps_ * 32, kQueries = Warps_ * 32;
  static constexpr int kPitch = D + 4, kPitchWeights = BK + 8;
  static constexpr int kSharedBytes = 4 * ((kQueries + BK) * kPitch + BK * D + kQueries * kPitchWeights);
};

template <int Left>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}
__device__ __forceinline__ void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Starts the copies of `Rows` rows of D floats to rows of `Pitch`; rows from `valid` on become zero.
template <class S, int Rows, int Pitch, bool Wide>
__device__ __forceinline__ void copy_rows(float* to, const float* from, int valid) {
  constexpr int kPieces = S::D / 4;
  for (int i = threadIdx.x; i < Rows * kPieces; i += S::kThreads) {
    const int row = i / kPieces, col = i % kPieces * 4;
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to + row * Pitch + col));
    const float* const source = row < valid ? from + row * S::D + col : from;
    if constexpr (Wide) {
      const int bytes = row < valid ? 16 : 0;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(source), "r"(bytes) : "memory");
    } else {
      const int bytes = row < valid ? 4 : 0;
#pragma unroll
      for (int e = 0; e < 4; ++e)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at + 4 * e), "l"(source + e), "r"(bytes)
                     : "memory");
    }
  }
}

__device__ __forceinline__ float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

template <int I>
__device__ __forceinline__ float part(const float4& v) {
  if constexpr (I == 0) return v.x;
  if constexpr (I == 1) return v.y;
  if constexpr (I == 2) return v.z;
  return v.w;
}

/// Step `s` of going through 8 x N: row and column.
template <bool Turn, int N>
struct Step {
  static constexpr __host__ __device__ int col(int s) { return Turn ? s / 8 : s % N; }
  static constexpr __host__ __device__ int row(int s) { return !Turn ? s / N : s / 8 % 2 != 0 ? 7 - s % 8 : s % 8; }
};

/// sum += a b^T for part I of the rows' four numbers.
template <int I, bool Turn, int N>
__device__ __forceinline__ void multiply_part(float (&sum)[8][N], const float4 (&a)[8], const float4 (&b)[N]) {
#pragma unroll
  for (int s = 0; s < 8 * N; ++s) {
    float& to = sum[Step<Turn, N>::row(s)][Step<Turn, N>::col(s)];
    to = fmaf(part<I>(a[Step<Turn, N>::row(s)]), part<I>(b[Step<Turn, N>::col(s)]), to);
  }
}

/// Scores of 8 queries and N keys of a lane: rows 4 queries and 8 keys apart.
template <class S, int N>
__device__ __forceinline__ void scores(float (&sum)[8][N], const float* q, const float* k) {
#pragma unroll S::Unroll
  for (int d = 0; d < S::D; d += 4) {
    float4 fq[8], fk[N];
#pragma unroll
    for (int i = 0; i < 8; ++i) fq[i] = *reinterpret_cast<const float4*>(q + i * 4 * S::kPitch + d);
#pragma unroll
    for (int j = 0; j < N; ++j) fk[j] = *reinterpret_cast<const float4*>(k + j * 8 * S::kPitch + d);
    multiply_part<0, S::TurnScores>(sum, fq, fk), multiply_part<1, S::TurnScores>(sum, fq, fk);
    multiply_part<2, S::TurnScores>(sum, fq, fk), multiply_part<3, S::TurnScores>(sum, fq, fk);
  }
}

/// One key's part of the output: weight I of each of the 8 rows times N numbers of the key's value.
template <class S, int I, int N>
__device__ __forceinline__ void add_value(float (&sum)[8][N], const float4 (&weights)[8], const float* v) {
  float value[N];
#pragma unroll
  for (int c = 0; c < N; c += 4) {
    const float4 w = *reinterpret_cast<const float4*>(v + I * S::D + c * 8);
    value[c] = w.x, value[c + 1] = w.y, value[c + 2] = w.z, value[c + 3] = w.w;
  }
#pragma unroll
  for (int s = 0; s < 8 * N; ++s) {
    float& to = sum[Step<S::TurnValues, N>::row(s)][Step<S::TurnValues, N>::col(s)];
    to = fmaf(part<I>(weights[Step<S::TurnValues, N>::row(s)]), value[Step<S::TurnValues, N>::col(s)], to);
  }
}

template <class S, int N>
__device__ __forceinline__ void add_values(float (&sum)[8][N], const float* weights, const float* v) {
#pragma unroll S::Unroll
  for (int t = 0; t < S::BK; t += 4) {
    float4 w[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) w[i] = *reinterpret_cast<const float4*>(weights + i * 4 * S::kPitchWeights + t);
    add_value<S, 0>(sum, w, v + t * S::D), add_value<S, 1>(sum, w, v + t * S::D);
    add_value<S, 2>(sum, w, v + t * S::D), add_value<S, 3>(sum, w, v + t * S::D);
  }
}

/// The 8 lanes that share a row differ in bits 1 to 3.
template <class Combine>
__device__ __forceinline__ float over_row(float x, Combine combine) {
  x = combine(x, __shfl_xor_sync(0xffffffffu, x, 2));
  x = combine(x, __shfl_xor_sync(0xffffffffu, x, 4));
  return combine(x, __shfl_xor_sync(0xffffffffu, x, 8));
}

/// Raises the maxima to those of this tile; what was summed up so far shrinks accordingly.
template <int N, int C>
__device__ __forceinline__ void raise_maxima(const float (&s)[8][N], float scale_log2, float (&top)[8],
                                             float (&total)[8], float (&sum)[8][C]) {
  float highest[8];
  bool grows = false;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float m = s[i][0];
#pragma unroll
    for (int j = 1; j < N; ++j) m = fmaxf(m, s[i][j]);
    highest[i] = over_row(m, [](float a, float b) { return fmaxf(a, b); });
    grows |= highest[i] > top[i];
  }
  if (!__any_sync(0xffffffffu, grows)) return;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float m = fmaxf(top[i], highest[i]), shrink = power_of_two((top[i] - m) * scale_log2);
    top[i] = m;
    total[i] *= shrink;
#pragma unroll
    for (int c = 0; c < C; ++c) sum[i][c] *= shrink;
  }
}

template <class S, bool Wide>
__global__ void __launch_bounds__(S::kThreads, S::MinBlocks) attention_kernel(Problem p) {
  constexpr int D = S::D, BK = S::BK, kKeys = BK / 8, kColumns = D / 8;  // of a lane
  extern __shared__ float4 attention_shared[];
  float* const sq = reinterpret_cast<float*>(attention_shared);
  float* const sk = sq + S::kQueries * S::kPitch;
  float* const sv = sk + BK * S::kPitch;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int lane_m = (lane & 1) | lane >> 4 << 1, lane_n = lane >> 1 & 7;  // 4 x 8
  float* const weights = sv + BK * D + (warp * 32 + lane_m) * S::kPitchWeights;
  const int blocks = (p.queries - 1) / S::kQueries + 1, q0 = blockIdx.x % blocks * S::kQueries;
  const int64_t head = blockIdx.x / blocks;
  const float* k = p.k + head * p.keys * D;
  const float* v = p.v + head * p.keys * D;
  copy_rows<S, S::kQueries, S::kPitch, Wide>(sq, p.q + (head * p.queries + q0) * D, p.queries - q0);
  copy_rows<S, BK, S::kPitch, Wide>(sk, k, p.keys);
  close_group();

  float sum[8][kColumns] = {}, top[8], total[8] = {};
#pragma unroll
  for (int i = 0; i < 8; ++i) top[i] = -INFINITY;
  for (int left = p.keys; left > 0; left -= BK) {
    wait_copies<0>();
    __syncthreads();  // these keys are here; the last values have been used
    copy_rows<S, BK, D, Wide>(sv, v, left);
    close_group();
    float s[8][kKeys] = {};
    scores<S>(s, sq + (warp * 32 + lane_m) * S::kPitch, sk + lane_n * S::kPitch);
    if (left < BK) {
#pragma unroll
      for (int j = 0; j < kKeys; ++j)
#pragma unroll
        for (int i = 0; i < 8; ++i) s[i][j] = lane_n + 8 * j < left ? s[i][j] : -INFINITY;
    }
    raise_maxima(s, p.scale_log2, top, total, sum);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < kKeys; ++j) {
        const float e = power_of_two(fmaf(s[i][j], p.scale_log2, -top[i] * p.scale_log2));
        total[i] += e;
        weights[i * 4 * S::kPitchWeights + lane_n + 8 * j] = e;
      }
    }
    wait_copies<0>();
    __syncthreads();  // these values are here; the keys have been used; a warp sees its weights
    k += BK * D, v += BK * D;
    if (left > BK) copy_rows<S, BK, S::kPitch, Wide>(sk, k, left - BK);
    close_group();
    add_values<S>(sum, weights, sv + lane_n * 4);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float inverse = 1.0f / over_row(total[i], [](float a, float b) { return a + b; });
    const int row = q0 + warp * 32 + lane_m + 4 * i;
    if (row >= p.queries) continue;
    float* const o = p.o + (head * p.queries + row) * D + lane_n * 4;
#pragma unroll
    for (int c = 0; c < kColumns; c += 4) {
      const float4 w = {sum[i][c] * inverse, sum[i][c + 1] * inverse, sum[i][c + 2] * inverse, sum[i][c + 3] * inverse};
      if constexpr (Wide) {
        *reinterpret_cast<float4*>(o + c * 8) = w;
      } else {
        o[c * 8] = w.x, o[c * 8 + 1] = w.y, o[c * 8 + 2] = w.z, o[c * 8 + 3] = w.w;
      }
    }
  }
}

template <class S, bool Wide>
cudaError_t launch(int heads, const Problem& p, cudaStream_t stream) {
  const int64_t blocks = int64_t{heads} * ((p.queries - 1) / S::kQueries + 1);
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  const auto kernel = attention_kernel<S, Wide>;
  const cudaError_t status = launch_detail::allow_shared(kernel, S::kSharedBytes);
  if (status != cudaSuccess) return status;
  return launch_detail::launch(kernel, blocks, S::kThreads, S::kSharedBytes, stream, p);
}

using Rows64 = Shape<64, 64, 4, 2, 2, true, true>;
using Rows128 = Shape<128, 32, 8, 1, 4, false, false>;

}  // namespace attention_detail

/// o = softmax(scale q k^T) v for each of `heads` heads, which follow each other (batch times heads).
/// Shapes: q and o heads x queries x d, k and v heads x keys x d, contiguous, d = 64 or 128; scale > 0 (1 / sqrt(d),
/// usually), no mask. Device memory, any 4-byte alignment; 16 bytes are faster. heads and queries may be zero; keys may
/// not, unless they are. No workspace. Errors: cudaErrorInvalidValue (negative sizes, other d, no keys, scale not
/// positive and finite, null or misaligned pointer; a GPU that gives a block less shared memory than 103 KiB for d = 64
/// or 204.5 KiB for d = 128), cudaErrorInvalidConfiguration (2^31 blocks or more), or those of the launch. Exponentials
/// are those of the hardware (2 ulp). Asynchronous in `stream`.
/// By what NVIDIA documents, compute capability 8.0 and 8.7 (163 KiB a block) run d = 64 alone; 8.6, 8.9 and 12.0
/// (99 KiB) neither; 9.0 and 10.0 (227 KiB) both.
inline cudaError_t attention(int heads, int queries, int keys, int d, float scale, const float* q, const float* k,
                             const float* v, float* o, cudaStream_t stream = nullptr) {
  using namespace attention_detail;
  if (heads < 0 || queries < 0 || keys < 0 || (d != 64 && d != 128)) return cudaErrorInvalidValue;
  if (heads == 0 || queries == 0) return cudaSuccess;
  if (keys == 0 || !(scale > 0) || !std::isfinite(scale) || !q || !k || !v || !o) return cudaErrorInvalidValue;
  const Problem p{queries, keys, scale * 1.44269504f, q, k, v, o};
  bool wide = true;
  for (const float* pointer : {q, k, v, static_cast<const float*>(o)}) {
    if (!launch_detail::aligned_to_4(pointer)) return cudaErrorInvalidValue;
    wide &= reinterpret_cast<uintptr_t>(pointer) % 16 == 0;
  }
  if (d == 64) return wide ? launch<Rows64, true>(heads, p, stream) : launch<Rows64, false>(heads, p, stream);
  return wide ? launch<Rows128, true>(heads, p, stream) : launch<Rows128, false>(heads, p, stream);
}

}  // namespace warplens::kernels
