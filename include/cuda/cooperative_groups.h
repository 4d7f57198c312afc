// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: names for the threads of a grid, cluster, block, tile of a warp, or of whatever part of a warp
// is active, with the collectives that go with each. Tiles and active parts are lane masks; their collectives are the
// warp intrinsics with that mask.
#ifndef WARPLENS_CUDA_COOPERATIVE_GROUPS_H
#define WARPLENS_CUDA_COOPERATIVE_GROUPS_H
#define _COOPERATIVE_GROUPS_H_  // programs ask whether the file was included by this name

#include "cuda_runtime.h"

#ifdef __CUDA__

#define WL_CG static __device__ inline __attribute__((always_inline, nodebug))
#define WL_CGM __device__ inline __attribute__((always_inline, nodebug))

namespace cooperative_groups {

namespace details {
WL_CG unsigned lane() { return __nvvm_read_ptx_sreg_laneid(); }
WL_CG unsigned lanes_below() {
  unsigned m;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m));
  return m;
}
WL_CG unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
WL_CG unsigned thread_in_block() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
// The lane of the n-th set bit of a mask, n from 0: halves the range five times.
WL_CG unsigned nth_lane(unsigned mask, unsigned n) {
  unsigned at = 0;
#pragma unroll
  for (unsigned half = 16; half > 0; half >>= 1) {
    const unsigned below = (unsigned)__popc((mask >> at) & ((1u << half) - 1));
    if (n >= below) n -= below, at += half;
  }
  return at;
}
// Shuffles of any trivially copyable type, a word at a time.
template <class T, class Shuffle>
WL_CG T by_words(T value, Shuffle shuffle) {
  unsigned words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned i = 0; i < (sizeof(T) + 3) / 4; i++) words[i] = shuffle(words[i]);
  T result;
  __builtin_memcpy(&result, words, sizeof(T));
  return result;
}
}  // namespace details

enum class thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

// Any group up to a block, when its kind is not known at compile time.
class thread_group {
 public:
  WL_CGM void sync() const {
    if (block_)
      __syncthreads();
    else
      __syncwarp(mask_);
  }
  WL_CGM unsigned long long size() const { return num_threads(); }
  WL_CGM unsigned long long num_threads() const { return block_ ? details::block_threads() : (unsigned)__popc(mask_); }
  WL_CGM unsigned long long thread_rank() const {
    return block_ ? details::thread_in_block() : (unsigned)__popc(mask_ & details::lanes_below());
  }
  WL_CGM bool is_valid() const { return true; }

 protected:
  WL_CGM thread_group(bool block, unsigned mask) : mask_(mask), block_(block) {}
  unsigned mask_;
  bool block_;
  friend WL_CGM thread_group tiled_partition(const thread_group& parent, unsigned size);
};

class thread_block : public thread_group {
 public:
  struct arrival_token {};
  static WL_CGM void sync() { __syncthreads(); }
  static WL_CGM unsigned size() { return details::block_threads(); }
  static WL_CGM unsigned num_threads() { return details::block_threads(); }
  static WL_CGM unsigned thread_rank() { return details::thread_in_block(); }
  static WL_CGM dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static WL_CGM dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static WL_CGM dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static WL_CGM dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static WL_CGM arrival_token barrier_arrive() { return arrival_token(); }
  static WL_CGM void barrier_wait(arrival_token&&) { __syncthreads(); }
  // For tiles of several warps (warplens/multi_warp_tile.h).
  unsigned long long* warplens_memory = nullptr;
  unsigned* warplens_arrivals = nullptr;

 private:
  WL_CGM thread_block() : thread_group(true, 0) {}
  friend WL_CGM thread_block this_thread_block();
};
WL_CGM thread_block this_thread_block() { return thread_block(); }

// ---- tiles of a warp ----
template <unsigned Size, class Parent = void>
class thread_block_tile : public thread_group {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0, "a tile is a power of two of at most a warp");

 public:
  WL_CGM void sync() const { __syncwarp(mask_); }
  static WL_CGM unsigned size() { return Size; }
  static WL_CGM unsigned num_threads() { return Size; }
  static WL_CGM unsigned thread_rank() { return details::thread_in_block() & (Size - 1); }
  static WL_CGM unsigned meta_group_rank() { return details::thread_in_block() / Size; }
  static WL_CGM unsigned meta_group_size() { return (details::block_threads() + Size - 1) / Size; }

  template <class T>
  WL_CGM T shfl(T v, int source) const {
    const unsigned m = mask_;
    return details::by_words(v, [=](unsigned w) { return __shfl_sync(m, w, source, Size); });
  }
  template <class T>
  WL_CGM T shfl_up(T v, unsigned delta) const {
    const unsigned m = mask_;
    return details::by_words(v, [=](unsigned w) { return __shfl_up_sync(m, w, delta, Size); });
  }
  template <class T>
  WL_CGM T shfl_down(T v, unsigned delta) const {
    const unsigned m = mask_;
    return details::by_words(v, [=](unsigned w) { return __shfl_down_sync(m, w, delta, Size); });
  }
  template <class T>
  WL_CGM T shfl_xor(T v, unsigned lanes) const {
    const unsigned m = mask_;
    return details::by_words(v, [=](unsigned w) { return __shfl_xor_sync(m, w, (int)lanes, Size); });
  }
  WL_CGM int any(int predicate) const { return __any_sync(mask_, predicate); }
  WL_CGM int all(int predicate) const { return __all_sync(mask_, predicate); }
  WL_CGM unsigned ballot(int predicate) const { return local(__ballot_sync(mask_, predicate)); }
  template <class T>
  WL_CGM unsigned match_any(T v) const {
    return local(__match_any_sync(mask_, v));
  }
  template <class T>
  WL_CGM unsigned match_all(T v, int& predicate) const {
    return local(__match_all_sync(mask_, v, &predicate));
  }
  WL_CGM unsigned warplens_mask() const { return mask_; }
  static WL_CGM thread_block_tile warplens_make() { return thread_block_tile(); }
  // What the parent was does not matter to the tile.
  template <class Other>
  WL_CGM thread_block_tile(const thread_block_tile<Size, Other>&) : thread_group(false, tile_mask()) {}

 private:
  WL_CGM thread_block_tile() : thread_group(false, tile_mask()) {}
  static WL_CGM unsigned first_lane() { return details::lane() & ~(Size - 1); }
  static WL_CGM unsigned tile_mask() { return (~0u >> (32 - Size)) << (Size == 32 ? 0 : first_lane()); }
  static WL_CGM unsigned local(unsigned lanes) {
    return Size == 32 ? lanes : (lanes >> first_lane()) & (~0u >> (32 - Size));
  }
};
namespace details {
template <bool>
struct SeveralWarps {};
template <>
struct SeveralWarps<true> {
  typedef void type;
};
template <bool>
struct OneWarp {};
template <>
struct OneWarp<true> {
  typedef void type;
};
}  // namespace details
template <unsigned Size, class Parent, class = typename details::OneWarp<(Size <= 32)>::type>
WL_CGM thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<Size, Parent>::warplens_make();
}
WL_CGM thread_group tiled_partition(const thread_group& parent, unsigned size) {
  const unsigned rank = (unsigned)parent.thread_rank();
  if (parent.block_) {
    const unsigned lanes = size >= 32 ? ~0u : ((1u << size) - 1) << (details::lane() & ~(size - 1));
    return thread_group(false, lanes & __activemask());
  }
  unsigned mask = 0;
  for (unsigned i = rank / size * size, n = 0; n < size && i < (unsigned)parent.num_threads(); i++, n++)
    mask |= 1u << details::nth_lane(parent.mask_, i);
  return thread_group(false, mask);
}

// ---- the active threads of a warp, or a part of them ----
class coalesced_group : public thread_group {
 public:
  WL_CGM void sync() const { __syncwarp(mask_); }
  WL_CGM unsigned size() const { return (unsigned)__popc(mask_); }
  WL_CGM unsigned num_threads() const { return (unsigned)__popc(mask_); }
  WL_CGM unsigned thread_rank() const { return (unsigned)__popc(mask_ & details::lanes_below()); }
  WL_CGM unsigned meta_group_rank() const { return meta_rank_; }
  WL_CGM unsigned meta_group_size() const { return meta_size_; }

  template <class T>
  WL_CGM T shfl(T v, int source) const {
    const unsigned m = mask_;
    const int lane = m == ~0u ? source : (int)details::nth_lane(m, (unsigned)source % size());
    return details::by_words(v, [=](unsigned w) { return __shfl_sync(m, w, lane, 32); });
  }
  template <class T>
  WL_CGM T shfl_up(T v, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(v, (int)(rank >= delta ? rank - delta : rank));
  }
  template <class T>
  WL_CGM T shfl_down(T v, unsigned delta) const {
    const unsigned rank = thread_rank();
    return shfl(v, (int)(rank + delta < size() ? rank + delta : rank));
  }
  WL_CGM int any(int predicate) const { return __any_sync(mask_, predicate); }
  WL_CGM int all(int predicate) const { return __all_sync(mask_, predicate); }
  WL_CGM unsigned ballot(int predicate) const { return local(__ballot_sync(mask_, predicate)); }
  template <class T>
  WL_CGM unsigned match_any(T v) const {
    return local(__match_any_sync(mask_, v));
  }
  template <class T>
  WL_CGM unsigned match_all(T v, int& predicate) const {
    return local(__match_all_sync(mask_, v, &predicate));
  }
  WL_CGM unsigned warplens_mask() const { return mask_; }

  WL_CGM coalesced_group(unsigned mask, unsigned meta_rank, unsigned meta_size)
      : thread_group(false, mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

 private:
  // Lanes become ranks: bit k of the result is the k-th member.
  WL_CGM unsigned local(unsigned lanes) const {
    if (mask_ == ~0u) return lanes;
    unsigned packed = 0, rank = 0;
    for (unsigned m = mask_; m; m &= m - 1, rank++)
      if (lanes & m & (0u - m)) packed |= 1u << rank;
    return packed;
  }
  unsigned meta_rank_, meta_size_;
};
WL_CGM coalesced_group coalesced_threads() { return coalesced_group(__activemask(), 0, 1); }
template <class Group>
WL_CGM coalesced_group labeled_partition(const Group& group, int label) {
  const unsigned mine = __match_any_sync(group.warplens_mask(), label);
  const unsigned leaders = __ballot_sync(group.warplens_mask(), (mine & details::lanes_below()) == 0);
  const unsigned leader = mine & (0u - mine);
  return coalesced_group(mine, (unsigned)__popc(leaders & (leader - 1)), (unsigned)__popc(leaders));
}
template <class Group>
WL_CGM coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned yes = __ballot_sync(group.warplens_mask(), predicate);
  return coalesced_group(predicate ? yes : group.warplens_mask() & ~yes, predicate ? 1 : 0, 2);
}

// ---- clusters ----
class cluster_group {
 public:
  struct arrival_token {};
  static WL_CGM void sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  static WL_CGM arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return arrival_token();
  }
  static WL_CGM void barrier_wait() { __cluster_barrier_wait(); }
  static WL_CGM void barrier_wait(arrival_token&&) { __cluster_barrier_wait(); }
  static WL_CGM dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static WL_CGM unsigned block_rank() { return __clusterRelativeBlockRank(); }
  static WL_CGM dim3 dim_blocks() { return __clusterDim(); }
  static WL_CGM unsigned num_blocks() { return __clusterSizeInBlocks(); }
  static WL_CGM unsigned num_threads() { return num_blocks() * details::block_threads(); }
  static WL_CGM unsigned size() { return num_threads(); }
  static WL_CGM unsigned thread_rank() { return block_rank() * details::block_threads() + details::thread_in_block(); }
  static WL_CGM dim3 dim_threads() {
    const dim3 b = dim_blocks();
    return dim3(b.x * blockDim.x, b.y * blockDim.y, b.z * blockDim.z);
  }
  template <class T>
  static WL_CGM T* map_shared_rank(T* address, int rank) {
    return (T*)__cluster_map_shared_rank((const void*)address, (unsigned)rank);
  }
  static WL_CGM unsigned query_shared_rank(const void* address) { return __cluster_query_shared_rank(address); }
};
WL_CGM cluster_group this_cluster() { return cluster_group(); }

// ---- the grid ----
class grid_group {
 public:
  struct arrival_token {
    unsigned old;
  };
  WL_CGM bool is_valid() const { return true; }
  static WL_CGM dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static WL_CGM dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static WL_CGM dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static WL_CGM unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static WL_CGM unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static WL_CGM unsigned long long num_threads() { return num_blocks() * details::block_threads(); }
  static WL_CGM unsigned long long size() { return num_threads(); }
  static WL_CGM unsigned long long thread_rank() {
    return block_rank() * details::block_threads() + details::thread_in_block();
  }
  WL_CGM void sync() const { barrier_wait(barrier_arrive()); }
  // The blocks' additions sum to 2^31: when the last has come the top bit turns and the rest is 0 again, whatever the
  // number of blocks, so that the word serves every launch.
  WL_CGM arrival_token barrier_arrive() const {
    __syncthreads();
    arrival_token token = {0};
    if (details::thread_in_block() == 0) {
      __threadfence();
      const unsigned others = (unsigned)num_blocks() - 1;
      token.old = atomicAdd(word(), block_rank() == 0 ? 0x80000000u - others : 1u);
    }
    return token;
  }
  WL_CGM void barrier_wait(arrival_token token) const {
    if (details::thread_in_block() == 0) {
      while (((token.old ^ *(volatile unsigned*)word()) & 0x80000000u) == 0) __nanosleep(32);
      __threadfence();
    }
    __syncthreads();
  }

 private:
  static __device__ inline unsigned* word() {
    static __device__ unsigned arrived;
    return &arrived;
  }
};
WL_CGM grid_group this_grid() { return grid_group(); }

// ---- functions over any group ----
template <class Group>
WL_CGM void sync(const Group& group) {
  group.sync();
}
template <class Group>
WL_CGM unsigned long long thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
WL_CGM unsigned long long group_size(const Group& group) {
  return group.size();
}
template <class Group, class F, class... Args>
WL_CGM void invoke_one(const Group& group, F&& f, Args&&... args) {
  if (group.thread_rank() == 0) f(static_cast<Args&&>(args)...);
}

template <class T>
struct plus {
  WL_CGM T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct less {
  WL_CGM T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
  WL_CGM T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
  WL_CGM T operator()(T a, T b) const { return a & b; }
};
template <class T>
struct bit_or {
  WL_CGM T operator()(T a, T b) const { return a | b; }
};
template <class T>
struct bit_xor {
  WL_CGM T operator()(T a, T b) const { return a ^ b; }
};

namespace details {
// A tile folds in a butterfly; a group of any size folds towards rank 0 and broadcasts.
template <unsigned Size, class P, class T, class Op>
WL_CG T fold(const thread_block_tile<Size, P>& g, T v, Op op) {
#pragma unroll
  for (unsigned d = Size / 2; d > 0; d >>= 1) v = op(v, g.shfl_xor(v, d));
  return v;
}
template <class T, class Op>
WL_CG T fold(const coalesced_group& g, T v, Op op) {
  const unsigned n = g.size(), rank = g.thread_rank();
  for (unsigned d = 1; d < n; d <<= 1) {
    const T other = g.shfl_down(v, d);
    if ((rank & (2 * d - 1)) == 0 && rank + d < n) v = op(v, other);
  }
  return g.shfl(v, 0);
}
template <class T, class Op>
struct Reduction {
  template <class Group>
  static WL_CGM T run(const Group& g, T v, Op op) {
    return fold(g, v, op);
  }
};
// 32-bit integers have an instruction for the common operations.
#define WL_REDUX(Op, T, call)                         \
  template <>                                         \
  struct Reduction<T, Op<T>> {                        \
    template <class Group>                            \
    static WL_CGM T run(const Group& g, T v, Op<T>) { \
      return (T)call;                                 \
    }                                                 \
  };
WL_REDUX(plus, int, __reduce_add_sync(g.warplens_mask(), v))
WL_REDUX(plus, unsigned, __reduce_add_sync(g.warplens_mask(), v))
WL_REDUX(less, int, __reduce_min_sync(g.warplens_mask(), v))
WL_REDUX(less, unsigned, __reduce_min_sync(g.warplens_mask(), v))
WL_REDUX(greater, int, __reduce_max_sync(g.warplens_mask(), v))
WL_REDUX(greater, unsigned, __reduce_max_sync(g.warplens_mask(), v))
WL_REDUX(bit_and, unsigned, __reduce_and_sync(g.warplens_mask(), v))
WL_REDUX(bit_or, unsigned, __reduce_or_sync(g.warplens_mask(), v))
WL_REDUX(bit_xor, unsigned, __reduce_xor_sync(g.warplens_mask(), v))
#undef WL_REDUX
}  // namespace details

template <class Group, class T, class Op>
WL_CGM T reduce(const Group& group, T v, Op op) {
  return details::Reduction<T, Op>::run(group, v, op);
}
#include "warplens/multi_warp_tile.h"
template <class Group, class T, class Op>
WL_CGM T inclusive_scan(const Group& group, T v, Op op) {
  const unsigned n = (unsigned)group.size(), rank = (unsigned)group.thread_rank();
  for (unsigned d = 1; d < n; d <<= 1) {
    const T other = group.shfl_up(v, d);
    if (rank >= d) v = op(other, v);
  }
  return v;
}
template <class Group, class T>
WL_CGM T inclusive_scan(const Group& group, T v) {
  return inclusive_scan(group, v, plus<T>());
}
template <class Group, class T, class Op>
WL_CGM T exclusive_scan(const Group& group, T v, Op op) {
  const T other = group.shfl_up(inclusive_scan(group, v, op), 1);
  return group.thread_rank() == 0 ? T() : other;
}
template <class Group, class T>
WL_CGM T exclusive_scan(const Group& group, T v) {
  return exclusive_scan(group, v, plus<T>());
}

// ---- copies from global to shared memory that do not pass through registers ----
template <class Group>
WL_CGM void wait(const Group& group) {
  asm volatile("cp.async.wait_all;" ::: "memory");
  group.sync();
}
template <class Group, class T, class U>
WL_CGM void memcpy_async(const Group& group, T* dst, const U* src, size_t bytes) {
  const size_t rank = group.thread_rank(), n = group.size(), bits = (size_t)dst | (size_t)src | bytes;
  char* d = (char*)dst;
  const char* s = (const char*)src;
  const bool across = __isShared(dst) && __isGlobal(src);
  if (across && (bits & 15) == 0) {
    for (size_t i = rank * 16; i < bytes; i += n * 16) __nv_memcpy_async_shared_global_16(d + i, s + i, 16);
  } else if (across && (bits & 3) == 0) {
    for (size_t i = rank * 4; i < bytes; i += n * 4) __nv_memcpy_async_shared_global_4(d + i, s + i, 4);
  } else {
    for (size_t i = rank; i < bytes; i += n) d[i] = s[i];
  }
}

}  // namespace cooperative_groups

#undef WL_CG
#undef WL_CGM
#endif  // __CUDA__
#endif
