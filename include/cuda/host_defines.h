// SPDX-License-Identifier: Apache-2.0
// The CUDA keywords. clang knows them as attributes in its CUDA mode; in a plain C or C++ translation unit that
// only calls the runtime they mean nothing and vanish.
#ifndef WARPLENS_CUDA_HOST_DEFINES_H
#define WARPLENS_CUDA_HOST_DEFINES_H
#define __HOST_DEFINES_H__  // programs ask whether the file was included by this name

#if defined(__CUDA__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __device_builtin__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
// clang 19 has no attribute for a grid constant: a const parameter that is only read already stays in parameter space.
#define __grid_constant__
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __device_builtin__
#define __launch_bounds__(...)
#define __grid_constant__
#endif

#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __no_return__ __attribute__((noreturn))
// __noinline__ is a keyword of clang's CUDA mode, and as a macro it would break attributes of the C++ library.
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __inline_hint__ __inline__
#ifndef __restrict__
#define __restrict__ __restrict
#endif
// A cluster shape fixed at compile time has no attribute in clang 19; compile/clang_driver turns the annotation
// into the directives that PTX has for it.
#if defined(__CUDA__)
#define __cluster_dims__(...) __attribute__((annotate("warplens.cluster_dims " #__VA_ARGS__)))
#else
#define __cluster_dims__(...)
#endif
#define __maxnreg__(n)
#define __nv_pure__ __attribute__((pure))
#define __specialization_static static

#ifndef CUDARTAPI
#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
#endif

#endif
