// SPDX-License-Identifier: Apache-2.0
// Histogram of integers in even bins: at the speed of memory for any distribution, as long as a block's shared memory
// has a word for each bin (58,112 bins on an H200).
//
// A block counts in shared memory. What could cost there, and why it does not:
//   - the division that gives the bin: a multiplication, with a factor for which the host proves the result exact;
//   - many lanes in one bin: adding the constant 1 without asking for the old value is one instruction that the
//     hardware does for all lanes of a bin at once (results/h200/kernels.json: all values equal take about as long
//     as uniform ones);
//   - bins that agree in their low bits, as skewed values make them, meet in one bank: bins are permuted within each
//     32 by their higher bits.
// With more bins than words two counters share a word: these must be asked for their old value and emptied into the
// result before they run over, so that equal values take several times as long as uniform ones. With more than twice
// as many (116,224 on an H200) the counters are in global memory, where every value is an atomic of the L2.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "launch.cuh"

namespace warplens::kernels {

/// What happens to values outside [lower, upper): they are left out, or count as `lower` or `upper` - 1.
enum class Outside { Dropped, Clamped };

namespace histogram_detail {

/// How x * bins / range is computed: it is x; the high word of a product, shifted; or that, put right.
enum class Way { Unit, Multiply, Correct };

/// Even bins: bin = floor(x * bins / range), x = value - lower.
struct EvenBins {
  int lower;
  unsigned range, bins;
  Way way;
  unsigned factor, shift;    // Multiply: high word of x * factor, shifted right
  unsigned long long ratio;  // Correct: floor(bins * 2^32 / range)
};

inline EvenBins make_even_bins(int lower, int upper, int bins) {
  EvenBins e{};
  e.lower = lower;
  e.range = static_cast<unsigned>(upper) - static_cast<unsigned>(lower);
  e.bins = static_cast<unsigned>(bins);
  e.way = e.bins == e.range ? Way::Unit : Way::Correct;
  e.ratio = (static_cast<unsigned long long>(e.bins) << 32) / e.range;
  // With factor = ceil(bins * 2^s / range), x * factor / 2^s exceeds x * bins / range by x * excess / (range * 2^s).
  // That is less than 1 / range, the distance to the next whole number, if x * excess < 2^s.
  for (unsigned s = 32; s < 64 && e.way == Way::Correct; ++s) {
    const unsigned __int128 scaled = static_cast<unsigned __int128>(e.bins) << s;
    const unsigned __int128 factor = (scaled + e.range - 1) / e.range, excess = factor * e.range - scaled;
    if (factor >> 32 != 0) break;
    if (excess * (e.range - 1) >> s != 0) continue;
    e.way = Way::Multiply;
    e.factor = static_cast<unsigned>(factor), e.shift = s - 32;
  }
  return e;
}

template <Way W>
__host__ __device__ __forceinline__ unsigned bin_of(const EvenBins& e, unsigned x) {
  const auto high = [](unsigned a, unsigned b) {
    return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
  };
  if constexpr (W == Way::Unit) return x;
  if constexpr (W == Way::Multiply) return high(x, e.factor) >> e.shift;
  // The quotient by the rounded ratio is right or one too small.
  const unsigned q = x * static_cast<unsigned>(e.ratio >> 32) + high(x, static_cast<unsigned>(e.ratio));
  const unsigned long long rest =
      static_cast<unsigned long long>(x) * e.bins - static_cast<unsigned long long>(q) * e.range;
  return q + (rest >= e.range ? 1 : 0);
}

/// Calls `count(bin)` if the value counts.
template <Way W, Outside O, class Count>
__device__ __forceinline__ void take_value(const EvenBins& e, int value, Count count) {
  if constexpr (O == Outside::Clamped) {
    const int highest = static_cast<int>(static_cast<unsigned>(e.lower) + (e.range - 1));
    const int inside = value < e.lower ? e.lower : value > highest ? highest : value;
    count(bin_of<W>(e, static_cast<unsigned>(inside) - static_cast<unsigned>(e.lower)));
  } else {
    const unsigned x = static_cast<unsigned>(value) - static_cast<unsigned>(e.lower);
    if (x < e.range) count(bin_of<W>(e, x));
  }
}

/// The values before the first and after the last piece of 16 bytes: at most 3 and 3, one a thread of the first block.
template <class Take>
__device__ __forceinline__ void take_ends(const int* in, int64_t n, int head, int64_t pieces, Take take) {
  const int64_t id = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (id < head) take(in[id]);
  if (id < n - head - pieces * 4) take(in[head + pieces * 4 + id]);
}

/// Calls `count(bin)` for each value that counts. The grid walks through the array in step, `Each` loads of 16 bytes a
/// thread.
template <Way W, Outside O, int Each, class Count>
__device__ __forceinline__ void for_each_bin(const int* in, int64_t n, int head, const EvenBins& e, Count count) {
  const auto take = [&](int value) { take_value<W, O>(e, value, count); };
  const int4* const body = reinterpret_cast<const int4*>(in + head);
  const int64_t pieces = (n - head) / 4, step = int64_t{gridDim.x} * blockDim.x;
  int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + (Each - 1) * step < pieces; i += Each * step) {
    int4 v[Each];
#pragma unroll
    for (int j = 0; j < Each; ++j) v[j] = __ldcs(body + i + j * step);
#pragma unroll
    for (int j = 0; j < Each; ++j) take(v[j].x), take(v[j].y), take(v[j].z), take(v[j].w);
  }
  for (; i < pieces; i += step) {
    const int4 v = body[i];
    take(v.x), take(v.y), take(v.z), take(v.w);
  }
  take_ends(in, n, head, pieces, take);
}

/// The same with a barrier of the block after every 4 * Each values a thread, and one before the ends. The next
/// round's loads are started before this one's values are counted.
template <Way W, Outside O, int Each, class Count>
__device__ __forceinline__ void for_each_bin_in_rounds(const int* in, int64_t n, int head, const EvenBins& e,
                                                       Count count) {
  const auto take = [&](int value) { take_value<W, O>(e, value, count); };
  const int4* const body = reinterpret_cast<const int4*>(in + head);
  const int64_t pieces = (n - head) / 4, step = int64_t{gridDim.x} * blockDim.x;
  int4 next[Each] = {};
  const auto load = [&](int64_t i) {
#pragma unroll
    for (int j = 0; j < Each; ++j)
      if (i + j * step < pieces) next[j] = __ldcs(body + i + j * step);
  };
  int64_t first = int64_t{blockIdx.x} * blockDim.x;  // one for the block, so that all its threads meet at each barrier
  load(first + threadIdx.x);
  for (; first < pieces; first += Each * step) {
    int4 v[Each];
#pragma unroll
    for (int j = 0; j < Each; ++j) v[j] = next[j];
    load(first + Each * step + threadIdx.x);
#pragma unroll
    for (int j = 0; j < Each; ++j)
      if (first + j * step + threadIdx.x < pieces) take(v[j].x), take(v[j].y), take(v[j].z), take(v[j].w);
    __syncthreads();
  }
  take_ends(in, n, head, pieces, take);
}

constexpr int kThreads = 1024, kEachPacked = 4;
static_assert(kThreads * 4 * kEachPacked < 0x8000);

/// The word of a bin: a permutation of each 32.
__device__ __forceinline__ unsigned place_of(unsigned bin) { return bin ^ (bin >> 5 & 31) ^ (bin >> 10 & 31); }
__host__ __device__ constexpr unsigned words_for(unsigned bins) { return (bins + 31) / 32 * 32; }

/// A word of shared memory for each bin.
template <Way W, Outside O>
__global__ void __launch_bounds__(kThreads, 2)
    shared_histogram(const int* in, int64_t n, int head, EvenBins e, int* counts) {
  extern __shared__ int histogram_words[];
  for (unsigned b = threadIdx.x; b < words_for(e.bins); b += kThreads) histogram_words[b] = 0;
  __syncthreads();
  for_each_bin<W, O, 4>(in, n, head, e, [&](unsigned bin) { atomicAdd(histogram_words + place_of(bin), 1); });
  __syncthreads();
  for (unsigned b = threadIdx.x; b < e.bins; b += kThreads) {
    const int count = histogram_words[place_of(b)];
    if (count != 0) atomicAdd(counts + b, count);
  }
}

/// Two 16-bit counters in a word. The thread that brings a counter to 2^15 takes 2^15 off it before the next barrier;
/// until then others may add to it. So a counter is below 2^15 after each barrier, and up to the next one it grows by
/// no more than kThreads * 4 * kEachPacked < 2^15: it never reaches 2^16, where it would run into its neighbour, nor
/// 2^15 a second time.
template <Way W, Outside O>
__global__ void __launch_bounds__(kThreads, 1)
    packed_histogram(const int* in, int64_t n, int head, EvenBins e, int* counts) {
  extern __shared__ int histogram_words[];
  unsigned* const pairs = reinterpret_cast<unsigned*>(histogram_words);
  for (unsigned b = threadIdx.x; b < (e.bins + 1) / 2; b += kThreads) pairs[b] = 0;
  __syncthreads();
  for_each_bin_in_rounds<W, O, kEachPacked>(in, n, head, e, [&](unsigned bin) {
    const unsigned shift = bin % 2 * 16, old = atomicAdd(pairs + bin / 2, 1u << shift);
    if ((old >> shift & 0xffff) == 0x7fff) {
      atomicSub(pairs + bin / 2, 0x8000u << shift);
      atomicAdd(counts + bin, 0x8000);
    }
  });
  __syncthreads();
  const bool whole = reinterpret_cast<uintptr_t>(counts) % 8 == 0;
  for (unsigned b = threadIdx.x; b < (e.bins + 1) / 2; b += kThreads) {
    const unsigned low = pairs[b] & 0xffff, high = pairs[b] >> 16;
    if (whole && 2 * b + 1 < e.bins) {  // both at once: counts are below 2^31, so none carries into its neighbour
      if (pairs[b] != 0)
        atomicAdd(reinterpret_cast<unsigned long long*>(counts) + b, static_cast<unsigned long long>(high) << 32 | low);
    } else {
      if (low != 0) atomicAdd(counts + 2 * b, static_cast<int>(low));
      if (high != 0) atomicAdd(counts + 2 * b + 1, static_cast<int>(high));
    }
  }
}

template <Way W, Outside O>
__global__ void __launch_bounds__(256) global_histogram(const int* in, int64_t n, int head, EvenBins e, int* counts) {
  for_each_bin<W, O, 2>(in, n, head, e, [&](unsigned bin) { atomicAdd(counts + bin, 1); });
}

struct Device {
  int processors, shared_bytes;  // shared memory a block may have
};

inline cudaError_t ask_device(Device& d) {
  int id = 0;
  cudaError_t status = cudaGetDevice(&id);
  if (status == cudaSuccess) status = cudaDeviceGetAttribute(&d.processors, cudaDevAttrMultiProcessorCount, id);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&d.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, id);
  return launch_detail::taken_back(status);
}

template <Way W, Outside O>
cudaError_t launch(const int* in, int64_t n, const EvenBins& e, int* counts, const Device& d, cudaStream_t stream) {
  const int64_t before = (16 - static_cast<int64_t>(reinterpret_cast<uintptr_t>(in) % 16)) / 4 % 4;
  const int head = static_cast<int>(before < n ? before : n);
  const int64_t words = int64_t{words_for(e.bins)}, pairs = (int64_t{e.bins} + 1) / 2, most = n / (4 * kThreads) + 1;
  const auto start = [&](auto kernel, int threads, int64_t blocks, int64_t shared) {
    // Always the most a block may have: if it were `shared`, a call with fewer bins on another thread could lower it
    // between here and the launch.
    const cudaError_t status = shared > 0 ? launch_detail::allow_shared(kernel, d.shared_bytes) : cudaSuccess;
    if (status != cudaSuccess) return status;
    return launch_detail::launch(kernel, blocks < most ? blocks : most, threads, shared, stream, in, n, head, e,
                                 counts);
  };
  if (words * 4 <= d.shared_bytes) {
    return start(shared_histogram<W, O>, kThreads, int64_t{d.processors} * (words * 8 + 4096 <= d.shared_bytes ? 2 : 1),
                 words * 4);
  }
  if (pairs * 4 <= d.shared_bytes) return start(packed_histogram<W, O>, kThreads, d.processors, pairs * 4);
  return start(global_histogram<W, O>, 256, int64_t{d.processors} * 8, 0);
}

template <Outside O>
cudaError_t launch_way(const int* in, int64_t n, const EvenBins& e, int* counts, const Device& d, cudaStream_t stream) {
  if (e.way == Way::Unit) return launch<Way::Unit, O>(in, n, e, counts, d, stream);
  if (e.way == Way::Multiply) return launch<Way::Multiply, O>(in, n, e, counts, d, stream);
  return launch<Way::Correct, O>(in, n, e, counts, d, stream);
}

}  // namespace histogram_detail

/// counts[b] = how many of in[0..n) lie in bin b of `bins` even ones over [lower, upper): bin = floor((value - lower) *
/// bins / (upper - lower)), exactly. Overwrites counts[0..bins). A count must stay below 2^31. Device memory, any
/// 4-byte alignment; n may be zero. No workspace. Errors: cudaErrorInvalidValue (n < 0, bins < 1, upper <= lower, null
/// or misaligned pointer), or those of the launch. Asynchronous in `stream`.
inline cudaError_t histogram(const int* in, int64_t n, int lower, int upper, int bins, int* counts,
                             Outside outside = Outside::Dropped, cudaStream_t stream = nullptr) {
  using namespace histogram_detail;
  if (n < 0 || bins < 1 || upper <= lower || counts == nullptr || (in == nullptr && n > 0))
    return cudaErrorInvalidValue;
  if (!launch_detail::aligned_to_4(in) || !launch_detail::aligned_to_4(counts)) return cudaErrorInvalidValue;
  Device device{};
  cudaError_t status = ask_device(device);
  if (status == cudaSuccess) status = cudaMemsetAsync(counts, 0, static_cast<size_t>(bins) * sizeof(int), stream);
  if (status != cudaSuccess || n == 0) return launch_detail::taken_back(status);
  const EvenBins e = make_even_bins(lower, upper, bins);
  return outside == Outside::Clamped ? launch_way<Outside::Clamped>(in, n, e, counts, device, stream)
                                     : launch_way<Outside::Dropped>(in, n, e, counts, device, stream);
}

}  // namespace warplens::kernels
