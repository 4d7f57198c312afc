// SPDX-License-Identifier: Apache-2.0
// The warp reductions, part of device.h. clang 19's own hand the mask to the builtin as the value and the value as the
// mask (the builtin's order is that of the instruction: value, then mask), so device.h hides them under another name.
#ifndef WARPLENS_CUDA_WARP_REDUCE_H
#define WARPLENS_CUDA_WARP_REDUCE_H

#define WL_REDUCE(name, T, builtin) \
  static __device__ inline T name(unsigned mask, T value) { return (T)builtin((int)value, (int)mask); }
WL_REDUCE(__reduce_add_sync, unsigned, __nvvm_redux_sync_add)
WL_REDUCE(__reduce_add_sync, int, __nvvm_redux_sync_add)
WL_REDUCE(__reduce_min_sync, unsigned, __nvvm_redux_sync_umin)
WL_REDUCE(__reduce_min_sync, int, __nvvm_redux_sync_min)
WL_REDUCE(__reduce_max_sync, unsigned, __nvvm_redux_sync_umax)
WL_REDUCE(__reduce_max_sync, int, __nvvm_redux_sync_max)
WL_REDUCE(__reduce_and_sync, unsigned, __nvvm_redux_sync_and)
WL_REDUCE(__reduce_or_sync, unsigned, __nvvm_redux_sync_or)
WL_REDUCE(__reduce_xor_sync, unsigned, __nvvm_redux_sync_xor)
#undef WL_REDUCE

#endif
