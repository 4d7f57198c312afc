// SPDX-License-Identifier: Apache-2.0
// Included by clang's __clang_cuda_intrinsics.h at the point where the match builtins exist: the typed
// __match_any_sync and __match_all_sync, and __nanosleep.
#ifndef WARPLENS_CUDA_CRT_SM_70_RT_HPP
#define WARPLENS_CUDA_CRT_SM_70_RT_HPP

#define WL_MATCH(T, bits, U)                                                                      \
  static __device__ inline unsigned int __match_any_sync(unsigned int mask, T value) {            \
    return __match##bits##_any_sync(mask, __builtin_bit_cast(U, value));                          \
  }                                                                                               \
  static __device__ inline unsigned int __match_all_sync(unsigned int mask, T value, int* pred) { \
    return __match##bits##_all_sync(mask, __builtin_bit_cast(U, value), pred);                    \
  }
WL_MATCH(int, 32, unsigned int)
WL_MATCH(unsigned int, 32, unsigned int)
WL_MATCH(float, 32, unsigned int)
WL_MATCH(long, 64, unsigned long long)
WL_MATCH(unsigned long, 64, unsigned long long)
WL_MATCH(long long, 64, unsigned long long)
WL_MATCH(unsigned long long, 64, unsigned long long)
WL_MATCH(double, 64, unsigned long long)
#undef WL_MATCH

static __device__ inline void __nanosleep(unsigned int nanoseconds) { __nvvm_nanosleep(nanoseconds); }

#endif
