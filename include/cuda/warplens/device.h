// SPDX-License-Identifier: Apache-2.0
// Everything that nvcc makes visible before the first line of a .cu file, for clang's CUDA mode and without NVIDIA's
// headers: builtin variables, intrinsics, maths, atomics. Most of it is clang's own (its __clang_cuda_*.h, part of
// the compiler); this file includes them in the one order that works and adds what those expect from the toolkit.
// The device pass and the host pass both parse it: a host compiler must know device functions to parse kernels.
#ifndef WARPLENS_CUDA_DEVICE_H
#define WARPLENS_CUDA_DEVICE_H

#if !defined(__clang__) || !defined(__CUDA__)
#error "warplens/device.h is for clang's CUDA mode"
#endif

// Device overloads must be declared before <cmath>, or constexpr functions of the library become device functions.
#include <__clang_cuda_math_forward_declares.h>
// libstdc++ leaves out __float128 when it sees this.
#define __CUDACC__
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#undef __CUDACC__

#include "../driver_types.h"
#include "../vector_functions.h"

#define CUDA_VERSION 13000
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;

// clang's headers offer a function only for the architectures that have it; the host pass gets the newest set.
#pragma push_macro("__CUDA_ARCH__")
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 9999
#endif

// Instructions of these functions belong to the line that calls them: without debug information of their own they
// get the place of the call when they are inlined, so atomicAdd is counted where the program says atomicAdd.
// (The word device is an attribute name here; the macro adds the second attribute to every use of the first.)
#pragma push_macro("device")
#define device device, nodebug
// clang-format off
#include <__clang_cuda_builtin_vars.h>
#include <__clang_cuda_libdevice_declares.h>
#include "libdevice_inline.h"
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>
// clang-format on

// ---- address spaces ----
#define WL_SPACE static __device__ inline __attribute__((always_inline, const))
WL_SPACE unsigned int __isGlobal(const void* p) { return __nvvm_isspacep_global(p); }
WL_SPACE unsigned int __isShared(const void* p) { return __nvvm_isspacep_shared(p); }
WL_SPACE unsigned int __isConstant(const void* p) { return __nvvm_isspacep_const(p); }
WL_SPACE unsigned int __isLocal(const void* p) { return __nvvm_isspacep_local(p); }
#define WL_CVTA(name, n)                                       \
  WL_SPACE size_t __cvta_generic_to_##name(const void* p) {    \
    return (size_t)(void __attribute__((address_space(n)))*)p; \
  }                                                            \
  WL_SPACE void* __cvta_##name##_to_generic(size_t p) { return (void*)(void __attribute__((address_space(n)))*)p; }
WL_CVTA(global, 1)
WL_CVTA(shared, 3)
WL_CVTA(constant, 4)
WL_CVTA(local, 5)
#undef WL_CVTA
#undef WL_SPACE

// ---- what the device side needs from a C library ----
extern "C" {
__device__ int vprintf(const char*, const char*);
__device__ void free(void*) __attribute__((nothrow));
__device__ void* malloc(size_t) __attribute__((nothrow)) __attribute__((malloc));
__device__ void __assertfail(const char* message, const char* file, unsigned line, const char* function,
                             size_t char_size);
__device__ static inline void __assert_fail(const char* message, const char* file, unsigned line,
                                            const char* function) {
  __assertfail(message, file, line, function, sizeof(char));
}
// clang lowers this to vprintf with the arguments packed in local memory.
__device__ int printf(const char*, ...);
}
namespace std {
__device__ static inline void free(void* p) { ::free(p); }
__device__ static inline void* malloc(size_t size) { return ::malloc(size); }
}  // namespace std

// ---- conversions of the builtin variables, declared in clang's header ----
#define WL_BUILTIN_VAR(name)                                                                   \
  __device__ inline __cuda_builtin_##name##_t::operator dim3() const { return dim3(x, y, z); } \
  __device__ inline __cuda_builtin_##name##_t::operator uint3() const { return {x, y, z}; }
WL_BUILTIN_VAR(threadIdx)
WL_BUILTIN_VAR(blockIdx)
WL_BUILTIN_VAR(blockDim)
WL_BUILTIN_VAR(gridDim)
#undef WL_BUILTIN_VAR

// clang-format off
#include <__clang_cuda_cmath.h>
// warp_reduce.h says what is wrong with clang's.
#define __reduce_add_sync __warplens_hidden_reduce_add_sync
#define __reduce_min_sync __warplens_hidden_reduce_min_sync
#define __reduce_max_sync __warplens_hidden_reduce_max_sync
#define __reduce_and_sync __warplens_hidden_reduce_and_sync
#define __reduce_or_sync __warplens_hidden_reduce_or_sync
#define __reduce_xor_sync __warplens_hidden_reduce_xor_sync
#include <__clang_cuda_intrinsics.h>
#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_and_sync
#undef __reduce_or_sync
#undef __reduce_xor_sync
#include "warp_reduce.h"
#include <__clang_cuda_complex_builtins.h>
#if __cplusplus >= 201103L
#include <__clang_cuda_texture_intrinsics.h>
#include "textures.h"
#endif
// clang-format on

#include "atomics.h"
#include "cache_hints.h"
#include "float_overloads.h"
#include "host_math.h"
#include "min_max.h"
#include "order_atomics.h"

#pragma pop_macro("device")
#pragma pop_macro("__CUDA_ARCH__")

// What programs test to learn that a CUDA compiler reads them. nvcc's version is CUDA 13.0's.
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0

// Kernel launches: clang turns k<<<grid, block, shared, stream>>>(...) into this call and, in the kernel's stub,
// __cudaPopCallConfiguration and cudaLaunchKernel.
extern "C" unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem = 0, void* stream = 0);

#endif
