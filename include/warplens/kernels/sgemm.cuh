// SPDX-License-Identifier: Apache-2.0
// Single-precision matrix product on CUDA cores: C = alpha op(A) B + beta C, row-major; op(A) = A, or A transposed.
//
// A block makes a tile of C, a thread 8 x 16 of it in registers. Slices of A and B go to shared memory by cp.async,
// several buffers deep, with one barrier a slice. What bounds the kernel is the issue of instructions: a scheduler
// issues one a cycle, 32 FMA lanes take one a cycle, so all that is no FMA costs. What that led to (each choice was
// timed against the other with the 8192 product on an H200 while this was written; only the winner is here, and only
// its figures are in results/h200/kernels.json):
//   - 8 x 16 register tiles, against 8 x 8: 128 FMA for six 16-byte shared loads;
//   - lanes numbered so that in each 16-byte shared load lanes n and n^1, or n and n^2, share an address, which
//     halves its passes (truth/h200/warps_shared.csv);
//   - the FMAs of a column of the register tile one after the other, up and down in turn, so that one operand is that
//     of the FMA before (squares of 2 x 2 or 4 x 4 lose);
//   - slices of 8 or 16 k: longer loops do not stay in the instruction cache;
//   - A stored m x k is turned while it is copied, by 4-byte copies. The block is wide, so few of those are needed.
// Tried and slower: keeping A as it is and reading four k at a time, turning it through registers, copies by the bulk
// copy engine with barriers in shared memory, 6 buffers.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.cuh"

namespace warplens::kernels {

namespace sgemm_detail {

/// How A lies in memory: k x m (rows of k arrive as they are used), or m x k (turned on the way to shared memory).
enum class Operand { KMajor, Turned };

struct Problem {
  int m, n, k;
  float alpha;
  const float* a;
  int64_t lda;
  const float* b;
  int64_t ldb;
  float beta;
  float* c;
  int64_t ldc;
};

/// The work of a block: BM x BN of C by slices BK deep; a warp has 8 x 4 lanes, each 8 x TN elements.
/// `CopyAt`: at which k of a slice the copies of a later one are started.
template <Operand A_, int BM_, int BN_, int BK_, int TN_, int Stages_, int MinBlocks_, int CopyAt_>
struct Shape {
  static constexpr Operand A = A_;
  static constexpr int BM = BM_, BN = BN_, BK = BK_, TM = 8, TN = TN_, Stages = Stages_, MinBlocks = MinBlocks_;
  static constexpr int CopyAt = CopyAt_;
  static constexpr int kWarpsM = BM / (8 * TM), kWarpsN = BN / (4 * TN), kThreads = 32 * kWarpsM * kWarpsN;
  static constexpr int kPitchA = A == Operand::KMajor ? BM : BM + 4;  // + 4: 8 k x 4 m of a warp's copies in 32 banks
  static constexpr int kFloatsA = BK * kPitchA, kFloatsStage = kFloatsA + BK * BN;
  static constexpr int kSharedBytes = Stages * kFloatsStage * 4;
  static_assert(BM % (8 * TM) == 0 && BN % (4 * TN) == 0 && BK % 8 == 0 && Stages >= 3);
  static_assert((BK * BN / 4) % kThreads == 0 && (BK * BM / 4) % kThreads == 0 && BM % (kThreads / 8) == 0);
};

/// Starts the copy of one float, or of a zero.
template <bool Guard>
__device__ __forceinline__ void copy_one(float* to, const float* from, bool valid) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (Guard) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(valid ? 4 : 0) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from) : "memory");
  }
}

/// Starts the copy of `valid` (up to 4) floats and fills the four with zeros. `Wide`: both sides are 16-byte aligned.
template <bool Wide, bool Guard>
__device__ __forceinline__ void copy_four(float* to, const float* from, int valid) {
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (Wide && Guard) {
    const int bytes = valid <= 0 ? 0 : valid >= 4 ? 16 : valid * 4;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(bytes) : "memory");
  } else if constexpr (Wide) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) copy_one<true>(to + i, i < valid ? from + i : from, i < valid);
  }
}

template <int Left>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}

/// Starts the copies of a slice stored in rows of k: `Rows` x `Width` floats, of which `rows` x `cols` exist.
template <int Rows, int Width, int Threads, bool Wide, bool Guard>
__device__ __forceinline__ void copy_k_rows(float* to, const float* from, int64_t ld, int rows, int cols) {
#pragma unroll
  for (int i = 0; i < Rows * Width / 4 / Threads; ++i) {
    const int at = threadIdx.x + i * Threads, k = at / (Width / 4), col = at % (Width / 4) * 4;
    const int valid = !Guard ? 4 : k < rows ? cols - col : 0;
    copy_four<Wide, Guard>(to + k * Width + col, Guard && valid <= 0 ? from : from + k * ld + col, valid);
  }
}

/// Starts the copies of a slice of A stored m x k and turns it: a warp takes 4 rows of 8 k, whole sectors.
template <class S, bool Guard>
__device__ __forceinline__ void copy_turned(float* to, const float* a, int64_t lda, int k_left, int m_left) {
  constexpr int kRows = S::kThreads / 8;  // the copies of a thread are so many rows apart
  const int k = threadIdx.x % 8, m = threadIdx.x / 8;
  const float* from = a + m * lda + k;
  const int64_t step = kRows * lda * 4;
#pragma unroll
  for (int k0 = 0; k0 < S::BK; k0 += 8) {
#pragma unroll
    for (int i = 0; i < S::BM / kRows; ++i) {
      const bool valid = !Guard || (k + k0 < k_left && m + i * kRows < m_left);
      copy_one<Guard>(to + (k + k0) * S::kPitchA + m + i * kRows, valid ? from + k0 : a, valid);
      // Addresses one after the other: computed ahead they would take two registers a copy.
      asm volatile("add.s64 %0, %0, %1;" : "+l"(from) : "l"(step));
    }
    from -= kRows * lda * (S::BM / kRows);
  }
}

/// Where the next slices come from and go to.
template <class S, bool Wide, bool Guard>
struct Source {
  const float *a, *b;
  int64_t lda, ldb, step_a, step_b;
  int k_left, m_left, n_left, slices_left, stage = 0;

  /// Starts the copies of the next slice, if there is one; always closes a group of copies.
  __device__ __forceinline__ void copy_next(float* shared) {
    if (slices_left > 0) {
      float* const to = shared + stage * S::kFloatsStage;
      if constexpr (S::A == Operand::KMajor) {
        copy_k_rows<S::BK, S::BM, S::kThreads, Wide, Guard>(to, a, lda, k_left, m_left);
      } else {
        copy_turned<S, Guard>(to, a, lda, k_left, m_left);
      }
      copy_k_rows<S::BK, S::BN, S::kThreads, Wide, Guard>(to + S::kFloatsA, b, ldb, k_left, n_left);
      a += step_a, b += step_b, k_left -= S::BK, --slices_left;
      stage = stage + 1 == S::Stages ? 0 : stage + 1;
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
};

/// Reads every fourth group of four floats: N in all, `step` floats between the groups.
template <int N>
__device__ __forceinline__ void load_groups(float (&to)[N], const float* from, int step) {
#pragma unroll
  for (int i = 0; i < N; i += 4) {
    const float4 v = *reinterpret_cast<const float4*>(from + i / 4 * step);
    to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
  }
}

/// sum += a b^T, a column of the register tile down, the next one up.
template <int TM, int TN>
__device__ __forceinline__ void multiply(float (&sum)[TM][TN], const float (&a)[TM], const float (&b)[TN]) {
#pragma unroll
  for (int j = 0; j < TN; ++j)
#pragma unroll
    for (int step = 0; step < TM; ++step) {
      const int i = j % 2 ? TM - 1 - step : step;
      sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    }
}

/// Four neighbouring elements of C: of which `left` exist.
template <bool Guard>
__device__ __forceinline__ void store_four(float* c, float4 v, float beta, int left) {
  if constexpr (!Guard) {
    if (beta != 0) {
      const float4 old = *reinterpret_cast<const float4*>(c);
      v.x += beta * old.x, v.y += beta * old.y, v.z += beta * old.z, v.w += beta * old.w;
    }
    *reinterpret_cast<float4*>(c) = v;
  } else {
    const float values[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (e < left) c[e] = beta != 0 ? values[e] + beta * c[e] : values[e];
  }
}

/// Which tile a block makes: blocks that follow each other go down 8 rows of tiles, then to the next column, so that
/// those which run together read few different slices.
template <class S>
__device__ __forceinline__ void place_of_block(const Problem& p, int& m0, int& n0) {
  constexpr int kGroup = 8;
  const int tiles_m = (p.m - 1) / S::BM + 1, tiles_n = (p.n - 1) / S::BN + 1;
  const int id = blockIdx.x, per_group = kGroup * tiles_n, first = id / per_group * kGroup;
  const int rows = min(kGroup, tiles_m - first);
  m0 = (first + id % per_group % rows) * S::BM;
  n0 = id % per_group / rows * S::BN;
}

/// `Guard`: sizes need not be multiples of the tile. `Wide`: rows of A (k x m) and of B are 16-byte aligned.
template <class S, bool Wide, bool Guard>
__global__ void __launch_bounds__(S::kThreads, S::MinBlocks) sgemm_kernel(Problem p) {
  extern __shared__ float4 sgemm_shared[];
  float* const shared = reinterpret_cast<float*>(sgemm_shared);
  int m0, n0;
  place_of_block<S>(p, m0, n0);
  const int slices = p.k / S::BK + (p.k % S::BK != 0);
  Source<S, Wide, Guard> source{S::A == Operand::KMajor ? p.a + m0 : p.a + m0 * p.lda,
                                p.b + n0,
                                p.lda,
                                p.ldb,
                                S::A == Operand::KMajor ? S::BK * p.lda : S::BK,
                                S::BK * p.ldb,
                                p.k,
                                p.m - m0,
                                p.n - n0,
                                slices};
#pragma unroll
  for (int s = 0; s < S::Stages - 1; ++s) source.copy_next(shared);

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int lane_m = (lane & 1) | (lane >> 2 & 3) << 1, lane_n = (lane >> 1 & 1) | lane >> 4 << 1;  // 8 x 4
  const int at_m = warp % S::kWarpsM * 8 * S::TM + lane_m * 4, at_n = warp / S::kWarpsM * 4 * S::TN + lane_n * 4;
  float sum[S::TM][S::TN] = {}, a[2][S::TM], b[2][S::TN];
  int stage = 0;
  const auto fetch = [&](int buffer, int k) {
    const float* const from = shared + stage * S::kFloatsStage;
    load_groups(a[buffer], from + k * S::kPitchA + at_m, 8 * 4);
    load_groups(b[buffer], from + S::kFloatsA + k * S::BN + at_n, 4 * 4);
  };
  wait_copies<S::Stages - 2>();
  __syncthreads();
  fetch(0, 0);
  for (int t = 0; t < slices; ++t) {
#pragma unroll
    for (int k = 0; k < S::BK; ++k) {
      if (k == S::BK - 1) {  // the next slice is here for all, and all have read this one but for what they hold
        wait_copies<S::Stages - 2>();
        __syncthreads();
        stage = stage + 1 == S::Stages ? 0 : stage + 1;
      }
      fetch((k + 1) & 1, (k + 1) % S::BK);
      if (k == S::CopyAt) source.copy_next(shared);
      multiply(sum, a[k & 1], b[k & 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < S::TM; ++i) {
    const int row = m0 + at_m + i / 4 * 32 + i % 4;
    if (Guard && row >= p.m) continue;
#pragma unroll
    for (int j = 0; j < S::TN; j += 4) {
      const int col = n0 + at_n + j * 4;
      const float4 v = {p.alpha * sum[i][j], p.alpha * sum[i][j + 1], p.alpha * sum[i][j + 2], p.alpha * sum[i][j + 3]};
      store_four<Guard>(p.c + row * p.ldc + col, v, p.beta, p.n - col);
    }
  }
}

template <class S, bool Wide, bool Guard>
cudaError_t launch(const Problem& p, cudaStream_t stream) {
  const int64_t blocks = ((p.m - 1) / S::BM + int64_t{1}) * ((p.n - 1) / S::BN + int64_t{1});
  if (blocks > 0x7fffffff) return cudaErrorInvalidConfiguration;
  const auto kernel = sgemm_kernel<S, Wide, Guard>;
  const cudaError_t status = launch_detail::allow_shared(kernel, S::kSharedBytes);
  if (status != cudaSuccess) return status;
  return launch_detail::launch(kernel, blocks, S::kThreads, S::kSharedBytes, stream, p);
}

inline bool aligned(const float* p, int64_t ld) { return reinterpret_cast<uintptr_t>(p) % 16 == 0 && ld % 4 == 0; }

/// The kernel without guards when everything fits, otherwise the guarded one.
template <class S>
cudaError_t launch_fitting(const Problem& p, cudaStream_t stream) {
  const bool wide = aligned(p.b, p.ldb) && (S::A == Operand::Turned || aligned(p.a, p.lda));
  const bool whole = p.m % S::BM == 0 && p.n % S::BN == 0 && p.k % S::BK == 0 && aligned(p.c, p.ldc);
  if (wide && whole) return launch<S, true, false>(p, stream);
  return wide ? launch<S, true, true>(p, stream) : launch<S, false, true>(p, stream);
}

/// `big` where its tiles occupy most of a large GPU, else `Small`, whose tiles are an eighth.
template <class Big, class Small>
cudaError_t launch_by_size(const Problem& p, cudaStream_t stream) {
  if (p.m < 0 || p.n < 0 || p.k < 0) return cudaErrorInvalidValue;
  if (p.m == 0 || p.n == 0) return cudaSuccess;
  if (p.c == nullptr || (p.k > 0 && (p.a == nullptr || p.b == nullptr))) return cudaErrorInvalidValue;
  for (const float* pointer : {p.a, p.b, static_cast<const float*>(p.c)})
    if (!launch_detail::aligned_to_4(pointer)) return cudaErrorInvalidValue;
  const bool enough_a = p.lda >= (Big::A == Operand::KMajor ? p.m : p.k);
  if ((p.k > 0 && (!enough_a || p.ldb < p.n)) || p.ldc < p.n) return cudaErrorInvalidValue;
  const int64_t tiles = ((p.m - 1) / Big::BM + int64_t{1}) * ((p.n - 1) / Big::BN + int64_t{1});
  return tiles >= 100 ? launch_fitting<Big>(p, stream) : launch_fitting<Small>(p, stream);
}

using BigTurned = Shape<Operand::Turned, 128, 256, 8, 16, 4, 1, 2>;
using BigKMajor = Shape<Operand::KMajor, 256, 128, 8, 16, 4, 1, 4>;
using SmallTurned = Shape<Operand::Turned, 64, 64, 8, 8, 4, 4, 2>;
using SmallKMajor = Shape<Operand::KMajor, 64, 64, 16, 8, 3, 4, 0>;

}  // namespace sgemm_detail

/// C = alpha A B + beta C.
/// Shapes: A m x k, B k x n, C m x n, row-major with lda >= k, ldb >= n, ldc >= n floats from row to row. Device
/// memory, any 4-byte alignment; 16-byte aligned rows are faster. Sizes may be zero. C is not read when beta is 0, A
/// and B are not when k is 0 (they may be null then). No workspace. Errors: cudaErrorInvalidValue (negative size,
/// leading dimension too small, null or misaligned pointer), cudaErrorInvalidConfiguration (2^31 tiles or more), or
/// those of the launch. Needs compute capability 8.0. Asynchronous in `stream`.
inline cudaError_t sgemm(int m, int n, int k, float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
                         float beta, float* c, int64_t ldc, cudaStream_t stream = nullptr) {
  using namespace sgemm_detail;
  return launch_by_size<BigTurned, SmallTurned>({m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stream);
}

/// C = alpha A^T B + beta C, as `sgemm`, but A is stored k x m with lda >= m.
inline cudaError_t sgemm_at_b(int m, int n, int k, float alpha, const float* a, int64_t lda, const float* b,
                              int64_t ldb, float beta, float* c, int64_t ldc, cudaStream_t stream = nullptr) {
  using namespace sgemm_detail;
  return launch_by_size<BigKMajor, SmallKMajor>({m, n, k, alpha, a, lda, b, ldb, beta, c, ldc}, stream);
}

}  // namespace warplens::kernels
