// SPDX-License-Identifier: Apache-2.0
// Device overloads by type and intrinsics that clang's headers leave to the toolkit.
#ifndef WARPLENS_CUDA_FLOAT_OVERLOADS_H
#define WARPLENS_CUDA_FLOAT_OVERLOADS_H

#define WL_DEVICE static __device__ inline __attribute__((always_inline))
WL_DEVICE float rsqrt(float a) { return rsqrtf(a); }
WL_DEVICE float rcbrt(float a) { return rcbrtf(a); }
WL_DEVICE float sinpi(float a) { return sinpif(a); }
WL_DEVICE float cospi(float a) { return cospif(a); }
WL_DEVICE void sincospi(float a, float* s, float* c) { sincospif(a, s, c); }
WL_DEVICE void sincos(float a, float* s, float* c) { sincosf(a, s, c); }
WL_DEVICE float erfcinv(float a) { return erfcinvf(a); }
WL_DEVICE float erfinv(float a) { return erfinvf(a); }
WL_DEVICE float normcdfinv(float a) { return normcdfinvf(a); }
WL_DEVICE float normcdf(float a) { return normcdff(a); }
WL_DEVICE float erfcx(float a) { return erfcxf(a); }
WL_DEVICE float exp10(float a) { return exp10f(a); }
WL_DEVICE float fdivide(float a, float b) { return fdividef(a, b); }

// Dot products of packed bytes and half-words with accumulation.
#define WL_DP4A(T, t)                                                                \
  WL_DEVICE T __dp4a(T a, T b, T c) {                                                \
    T r;                                                                             \
    asm("dp4a." #t "." #t " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));    \
    return r;                                                                        \
  }                                                                                  \
  WL_DEVICE T __dp2a_lo(T a, T b, T c) {                                             \
    T r;                                                                             \
    asm("dp2a.lo." #t "." #t " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
    return r;                                                                        \
  }                                                                                  \
  WL_DEVICE T __dp2a_hi(T a, T b, T c) {                                             \
    T r;                                                                             \
    asm("dp2a.hi." #t "." #t " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); \
    return r;                                                                        \
  }
WL_DP4A(int, s32)
WL_DP4A(unsigned, u32)
#undef WL_DP4A
WL_DEVICE int __dp4a(char4 a, char4 b, int c) {
  return __dp4a(__builtin_bit_cast(int, a), __builtin_bit_cast(int, b), c);
}
WL_DEVICE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
  return __dp4a(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c);
}

// Programmatic dependent launch: launches of one stream run one after the other here, so both only order memory.
WL_DEVICE void cudaGridDependencySynchronize() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
WL_DEVICE void cudaTriggerProgrammaticLaunchCompletion() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#undef WL_DEVICE

#endif
