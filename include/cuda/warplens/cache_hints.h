// SPDX-License-Identifier: Apache-2.0
// Loads and stores with a cache operator: __ldca, __ldcg, __ldcs, __ldlu, __ldcv and __stwb, __stcg, __stcs, __stwt.
// The functions take global pointers, so the instruction names .global and counts as a global request.
#ifndef WARPLENS_CUDA_CACHE_HINTS_H
#define WARPLENS_CUDA_CACHE_HINTS_H

#define WL_FN static __device__ inline __attribute__((always_inline))
// T: C++ type; R: type of the register; c: asm constraint; t: PTX type
#define WL_LOAD1(op, T, R, c, t)                                                       \
  WL_FN T __ld##op(const T* p) {                                                       \
    R x;                                                                               \
    asm volatile("ld.global." #op "." #t " %0, [%1];" : "=" c(x) : "l"(p) : "memory"); \
    return (T)x;                                                                       \
  }
#define WL_LOAD2(op, T, R, c, t)                                                                          \
  WL_FN T __ld##op(const T* p) {                                                                          \
    R x, y;                                                                                               \
    asm volatile("ld.global." #op ".v2." #t " {%0, %1}, [%2];" : "=" c(x), "=" c(y) : "l"(p) : "memory"); \
    T v;                                                                                                  \
    v.x = x, v.y = y;                                                                                     \
    return v;                                                                                             \
  }
#define WL_LOAD4(op, T, R, c, t)                                       \
  WL_FN T __ld##op(const T* p) {                                       \
    R x, y, z, w;                                                      \
    asm volatile("ld.global." #op ".v4." #t " {%0, %1, %2, %3}, [%4];" \
                 : "=" c(x), "=" c(y), "=" c(z), "=" c(w)              \
                 : "l"(p)                                              \
                 : "memory");                                          \
    T v;                                                               \
    v.x = x, v.y = y, v.z = z, v.w = w;                                \
    return v;                                                          \
  }
#define WL_STORE1(op, T, R, c, t) \
  WL_FN void __st##op(T* p, T v) { asm volatile("st.global." #op "." #t " [%0], %1;" ::"l"(p), c((R)v) : "memory"); }
#define WL_STORE2(op, T, R, c, t)                                                                          \
  WL_FN void __st##op(T* p, T v) {                                                                         \
    asm volatile("st.global." #op ".v2." #t " [%0], {%1, %2};" ::"l"(p), c((R)v.x), c((R)v.y) : "memory"); \
  }
#define WL_STORE4(op, T, R, c, t)                                                                                 \
  WL_FN void __st##op(T* p, T v) {                                                                                \
    asm volatile("st.global." #op ".v4." #t " [%0], {%1, %2, %3, %4};" ::"l"(p), c((R)v.x), c((R)v.y), c((R)v.z), \
                 c((R)v.w)                                                                                        \
                 : "memory");                                                                                     \
  }
#define WL_TYPES(M1, M2, M4, op)                           \
  M1(op, char, short, "h", s8)                             \
  M1(op, signed char, short, "h", s8)                      \
  M1(op, unsigned char, unsigned short, "h", u8)           \
  M1(op, short, short, "h", s16)                           \
  M1(op, unsigned short, unsigned short, "h", u16)         \
  M1(op, int, int, "r", s32)                               \
  M1(op, unsigned int, unsigned int, "r", u32)             \
  M1(op, long, long, "l", s64)                             \
  M1(op, unsigned long, unsigned long, "l", u64)           \
  M1(op, long long, long long, "l", s64)                   \
  M1(op, unsigned long long, unsigned long long, "l", u64) \
  M1(op, float, float, "f", f32)                           \
  M1(op, double, double, "d", f64)                         \
  M2(op, char2, short, "h", s8)                            \
  M2(op, uchar2, unsigned short, "h", u8)                  \
  M2(op, short2, short, "h", s16)                          \
  M2(op, ushort2, unsigned short, "h", u16)                \
  M2(op, int2, int, "r", s32)                              \
  M2(op, uint2, unsigned int, "r", u32)                    \
  M2(op, longlong2, long long, "l", s64)                   \
  M2(op, ulonglong2, unsigned long long, "l", u64)         \
  M2(op, float2, float, "f", f32)                          \
  M2(op, double2, double, "d", f64)                        \
  M4(op, char4, short, "h", s8)                            \
  M4(op, uchar4, unsigned short, "h", u8)                  \
  M4(op, short4, short, "h", s16)                          \
  M4(op, ushort4, unsigned short, "h", u16)                \
  M4(op, int4, int, "r", s32)                              \
  M4(op, uint4, unsigned int, "r", u32)                    \
  M4(op, float4, float, "f", f32)

WL_TYPES(WL_LOAD1, WL_LOAD2, WL_LOAD4, ca)
WL_TYPES(WL_LOAD1, WL_LOAD2, WL_LOAD4, cg)
WL_TYPES(WL_LOAD1, WL_LOAD2, WL_LOAD4, cs)
WL_TYPES(WL_LOAD1, WL_LOAD2, WL_LOAD4, lu)
WL_TYPES(WL_LOAD1, WL_LOAD2, WL_LOAD4, cv)
WL_TYPES(WL_STORE1, WL_STORE2, WL_STORE4, wb)
WL_TYPES(WL_STORE1, WL_STORE2, WL_STORE4, cg)
WL_TYPES(WL_STORE1, WL_STORE2, WL_STORE4, cs)
WL_TYPES(WL_STORE1, WL_STORE2, WL_STORE4, wt)

#undef WL_TYPES
#undef WL_LOAD1
#undef WL_LOAD2
#undef WL_LOAD4
#undef WL_STORE1
#undef WL_STORE2
#undef WL_STORE4
#undef WL_FN
#endif
