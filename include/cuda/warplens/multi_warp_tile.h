// SPDX-License-Identifier: Apache-2.0
// Tiles of 64 to 512 threads, part of cooperative_groups.h. Their warps meet at a barrier of their own, and exchange
// values through the block_tile_memory that the program gave to this_thread_block.
// Barrier 0 is the block's, so a tile uses the barrier of its rank + 1. A block of 1024 threads has 16 tiles of 64,
// one more than barriers are left: its last tile counts arrivals in the tile memory instead.
#ifndef WARPLENS_CUDA_MULTI_WARP_TILE_H
#define WARPLENS_CUDA_MULTI_WARP_TILE_H

template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  // A value of up to 8 bytes a warp, then the arrivals of the last tile.
  unsigned long long warplens_words[(MaxBlockSize + 31) / 32 + 1];
};

template <unsigned MaxBlockSize>
WL_CGM thread_block this_thread_block(block_tile_memory<MaxBlockSize>& memory) {
  thread_block block = this_thread_block();
  block.warplens_memory = memory.warplens_words;
  if (details::thread_in_block() == 0) memory.warplens_words[(MaxBlockSize + 31) / 32] = 0;
  block.warplens_arrivals = (unsigned*)&memory.warplens_words[(MaxBlockSize + 31) / 32];
  __syncthreads();
  return block;
}

template <unsigned Size, class Parent = thread_block>
class multi_warp_tile {
  static_assert(Size == 64 || Size == 128 || Size == 256 || Size == 512,
                "a tile has 1 to 32, 64, 128, 256 or 512 threads");

 public:
  WL_CGM void sync() const {
    const unsigned barrier = meta_group_rank() + 1;
    if (barrier < 16) {
      asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(Size) : "memory");
      return;
    }
    __syncwarp();
    if (details::lane() == 0) {
      __threadfence_block();
      const unsigned round = atomicAdd(arrivals_, 1u) / (Size / 32);
      while (*(volatile unsigned*)arrivals_ / (Size / 32) == round) __nanosleep(32);
      __threadfence_block();
    }
    __syncwarp();
  }
  static WL_CGM unsigned size() { return Size; }
  static WL_CGM unsigned num_threads() { return Size; }
  static WL_CGM unsigned thread_rank() { return details::thread_in_block() & (Size - 1); }
  static WL_CGM unsigned meta_group_rank() { return details::thread_in_block() / Size; }
  static WL_CGM unsigned meta_group_size() { return (details::block_threads() + Size - 1) / Size; }

  template <class T>
  WL_CGM T shfl(T v, int source) const {
    static_assert(sizeof(T) <= 8, "a tile of several warps exchanges values of up to 8 bytes");
    if ((int)thread_rank() == source) *(T*)slot(0) = v;
    sync();
    const T result = *(const T*)slot(0);
    sync();
    return result;
  }
  WL_CGM int any(int predicate) const {
    return fold(__any_sync(~0u, predicate), [](int a, int b) { return a | b; });
  }
  WL_CGM int all(int predicate) const {
    return fold(__all_sync(~0u, predicate), [](int a, int b) { return a & b; });
  }

  // Warps fold their values (`v` is the same in all lanes of a warp) in the order of their ranks.
  template <class T, class Op>
  WL_CGM T fold(T v, Op op) const {
    static_assert(sizeof(T) <= 8, "a tile of several warps exchanges values of up to 8 bytes");
    if (details::lane() == 0) *(T*)slot(thread_rank() / 32) = v;
    sync();
    T result = *(const T*)slot(0);
#pragma unroll
    for (unsigned w = 1; w < Size / 32; w++) result = op(result, *(const T*)slot(w));
    sync();
    return result;
  }

  WL_CGM multi_warp_tile(unsigned long long* memory, unsigned* arrivals) : memory_(memory), arrivals_(arrivals) {}

 private:
  WL_CGM unsigned long long* slot(unsigned warp) const { return memory_ + meta_group_rank() * (Size / 32) + warp; }
  unsigned long long* memory_;
  unsigned* arrivals_;
};

template <unsigned Size, class = typename details::SeveralWarps<(Size > 32)>::type>
WL_CGM multi_warp_tile<Size> tiled_partition(const thread_block& block) {
  return multi_warp_tile<Size>(block.warplens_memory, block.warplens_arrivals);
}
template <unsigned Size, class T, class Op>
WL_CGM T reduce(const multi_warp_tile<Size>& group, T v, Op op) {
  return group.fold(reduce(tiled_partition<32>(this_thread_block()), v, op), op);
}

#endif
