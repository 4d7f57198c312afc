// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies from global to shared memory, by hand: copy, commit a group, wait for all but the last n groups.
#ifndef WARPLENS_CUDA_PIPELINE_PRIMITIVES_H
#define WARPLENS_CUDA_PIPELINE_PRIMITIVES_H

#include "cuda_runtime.h"

#ifdef __CUDA__
#define WL_PIPELINE static inline __device__ __attribute__((always_inline, nodebug, unused))
// `zeros` of the `bytes` (4, 8 or 16) are not read but set to zero.
WL_PIPELINE void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zeros = 0) {
  const unsigned at = (unsigned)__cvta_generic_to_shared(shared), read = (unsigned)(bytes - zeros);
  const size_t from = __cvta_generic_to_global(global);
  if (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(read) : "memory");
  else if (bytes == 8)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(at), "l"(from), "r"(read) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(read) : "memory");
}
WL_PIPELINE void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// The instruction wants a literal; more groups in flight than there are cases only makes the wait longer.
WL_PIPELINE void __pipeline_wait_prior(size_t groups) {
  switch (groups) {
    case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
    case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
    case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
    case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
    case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
    case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
    case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
    case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
    default: asm volatile("cp.async.wait_group 8;" ::: "memory"); break;
  }
}
#undef WL_PIPELINE
#endif
#endif
