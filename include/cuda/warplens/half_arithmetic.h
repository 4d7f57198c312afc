// SPDX-License-Identifier: Apache-2.0
// What the two 16-bit number formats have in common: arithmetic, comparisons, operators, pairs, shuffles, atomics. On
// the device each function is the instruction that nvcc is seen to emit for it; on the host it is computed in float (or
// double, for the fused form) and rounded once.
#ifndef WARPLENS_CUDA_HALF_ARITHMETIC_H
#define WARPLENS_CUDA_HALF_ARITHMETIC_H

#define WL_HALF_HD static inline __host__ __device__ __attribute__((always_inline, nodebug, unused))
#define WL_HALF_D static inline __device__ __attribute__((always_inline, nodebug, unused))

#ifdef __CUDA_ARCH__
#define WL_HALF_UNARY(T, T2, name, host, op)     \
  WL_HALF_HD T name(T a) {                       \
    T r;                                         \
    asm(op " %0, %1;" : "=h"(r.x_) : "h"(a.x_)); \
    return r;                                    \
  }
#define WL_HALF_BINARY(T, T2, name, name2, host, op, t)                      \
  WL_HALF_HD T name(T a, T b) {                                              \
    T r;                                                                     \
    asm(op "." t " %0, %1, %2;" : "=h"(r.x_) : "h"(a.x_), "h"(b.x_));        \
    return r;                                                                \
  }                                                                          \
  WL_HALF_HD T2 name2(T2 a, T2 b) {                                          \
    unsigned r;                                                              \
    asm(op "." t "x2 %0, %1, %2;" : "=r"(r) : "r"(a.bits()), "r"(b.bits())); \
    return T2::from_bits(r);                                                 \
  }
#define WL_HALF_FUSED(T, T2, name, name2, op, t)                                                \
  WL_HALF_HD T name(T a, T b, T c) {                                                            \
    T r;                                                                                        \
    asm(op "." t " %0, %1, %2, %3;" : "=h"(r.x_) : "h"(a.x_), "h"(b.x_), "h"(c.x_));            \
    return r;                                                                                   \
  }                                                                                             \
  WL_HALF_HD T2 name2(T2 a, T2 b, T2 c) {                                                       \
    unsigned r;                                                                                 \
    asm(op "." t "x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a.bits()), "r"(b.bits()), "r"(c.bits())); \
    return T2::from_bits(r);                                                                    \
  }
#define WL_HALF_COMPARE(T, T2, name, host, cmp, t)                                                               \
  WL_HALF_HD bool name(T a, T b) {                                                                               \
    unsigned short r;                                                                                            \
    asm("{.reg .pred p; setp." cmp "." t " p, %1, %2; selp.u16 %0, 1, 0, p;}" : "=h"(r) : "h"(a.x_), "h"(b.x_)); \
    return r != 0;                                                                                               \
  }
#else
#define WL_HALF_UNARY(T, T2, name, host, op) \
  WL_HALF_HD T name(T v) {                   \
    const float a = v;                       \
    return T(host);                          \
  }
#define WL_HALF_BINARY(T, T2, name, name2, host, op, t) \
  WL_HALF_HD T name(T u, T v) {                         \
    const float a = u, b = v;                           \
    return T(host);                                     \
  }                                                     \
  WL_HALF_HD T2 name2(T2 u, T2 v) { return T2(name(u.x, v.x), name(u.y, v.y)); }
#define WL_HALF_FUSED(T, T2, name, name2, op, t)                                                  \
  WL_HALF_HD T name(T a, T b, T c) { return T((float)((double)(float)a * (float)b + (float)c)); } \
  WL_HALF_HD T2 name2(T2 a, T2 b, T2 c) { return T2(name(a.x, b.x, c.x), name(a.y, b.y, c.y)); }
#define WL_HALF_COMPARE(T, T2, name, host, cmp, t) \
  WL_HALF_HD bool name(T u, T v) {                 \
    const float a = u, b = v;                      \
    return host;                                   \
  }
#endif
// A pair is compared element by element, to 1.0 and 0.0, or all together.
#define WL_HALF_COMPARES(T, T2, c, host, cmp, t)                                     \
  WL_HALF_COMPARE(T, T2, __h##c, host, cmp, t)                                       \
  WL_HALF_HD T2 __h##c##2(T2 a, T2 b) {                                              \
    return T2(T(__h##c(a.x, b.x) ? 1.0f : 0.0f), T(__h##c(a.y, b.y) ? 1.0f : 0.0f)); \
  }                                                                                  \
  WL_HALF_HD bool __hb##c##2(T2 a, T2 b) { return __h##c(a.x, b.x) && __h##c(a.y, b.y); }
// A function of one number through float, for both shapes.
#define WL_HALF_THROUGH_FLOAT(T, T2, name, name2, e) \
  WL_HALF_HD T name(T v) {                           \
    const float a = v;                               \
    return T(e);                                     \
  }                                                  \
  WL_HALF_HD T2 name2(T2 v) { return T2(name(v.x), name(v.y)); }
#define WL_HALF_ON_DEVICE(T, T2, name, name2, e) \
  WL_HALF_D T name(T v) {                        \
    const float a = v;                           \
    return T(e);                                 \
  }                                              \
  WL_HALF_D T2 name2(T2 v) { return T2(name(v.x), name(v.y)); }

#define WL_HALF_FUNCTIONS(T, T2, t)                                                    \
  WL_HALF_BINARY(T, T2, __hadd, __hadd2, a + b, "add", t)                              \
  WL_HALF_BINARY(T, T2, __hsub, __hsub2, a - b, "sub", t)                              \
  WL_HALF_BINARY(T, T2, __hmul, __hmul2, a* b, "mul", t)                               \
  WL_HALF_BINARY(T, T2, __hadd_rn, __hadd2_rn, a + b, "add.rn", t)                     \
  WL_HALF_BINARY(T, T2, __hsub_rn, __hsub2_rn, a - b, "sub.rn", t)                     \
  WL_HALF_BINARY(T, T2, __hmul_rn, __hmul2_rn, a* b, "mul.rn", t)                      \
  WL_HALF_BINARY(T, T2, __hmin, __hmin2, fminf(a, b), "min", t)                        \
  WL_HALF_BINARY(T, T2, __hmax, __hmax2, fmaxf(a, b), "max", t)                        \
  WL_HALF_FUSED(T, T2, __hfma, __hfma2, "fma.rn", t)                                   \
  WL_HALF_HD T __hdiv(T a, T b) { return T((float)a / (float)b); }                     \
  WL_HALF_HD T2 __h2div(T2 a, T2 b) { return T2(__hdiv(a.x, b.x), __hdiv(a.y, b.y)); } \
  WL_HALF_UNARY(T, T2, __hneg, -a, "neg." t)                                           \
  WL_HALF_UNARY(T, T2, __habs, fabsf(a), "abs." t)                                     \
  WL_HALF_HD T2 __hneg2(T2 a) { return T2(__hneg(a.x), __hneg(a.y)); }                 \
  WL_HALF_HD T2 __habs2(T2 a) { return T2(__habs(a.x), __habs(a.y)); }                 \
  WL_HALF_COMPARES(T, T2, eq, a == b, "eq", t)                                         \
  WL_HALF_COMPARES(T, T2, ne, a<b || a> b, "ne", t)                                    \
  WL_HALF_COMPARES(T, T2, lt, a < b, "lt", t)                                          \
  WL_HALF_COMPARES(T, T2, le, a <= b, "le", t)                                         \
  WL_HALF_COMPARES(T, T2, gt, a > b, "gt", t)                                          \
  WL_HALF_COMPARES(T, T2, ge, a >= b, "ge", t)                                         \
  WL_HALF_HD bool __hisnan(T a) { return !__heq(a, a); }                               \
  WL_HALF_HD int __hisinf(T v) {                                                       \
    const float a = v;                                                                 \
    return a == __builtin_inff() ? 1 : a == -__builtin_inff() ? -1 : 0;                \
  }                                                                                    \
  WL_HALF_THROUGH_FLOAT(T, T2, hsqrt, h2sqrt, sqrtf(a))                                \
  WL_HALF_THROUGH_FLOAT(T, T2, hrsqrt, h2rsqrt, rsqrtf(a))                             \
  WL_HALF_THROUGH_FLOAT(T, T2, hrcp, h2rcp, 1.0f / a)                                  \
  WL_HALF_THROUGH_FLOAT(T, T2, hfloor, h2floor, floorf(a))                             \
  WL_HALF_THROUGH_FLOAT(T, T2, hceil, h2ceil, ceilf(a))                                \
  WL_HALF_THROUGH_FLOAT(T, T2, htrunc, h2trunc, truncf(a))                             \
  WL_HALF_THROUGH_FLOAT(T, T2, hrint, h2rint, rintf(a))                                \
  WL_HALF_ON_DEVICE(T, T2, hexp, h2exp, __expf(a))                                     \
  WL_HALF_ON_DEVICE(T, T2, hexp2, h2exp2, exp2f(a))                                    \
  WL_HALF_ON_DEVICE(T, T2, hexp10, h2exp10, __exp10f(a))                               \
  WL_HALF_ON_DEVICE(T, T2, hlog, h2log, __logf(a))                                     \
  WL_HALF_ON_DEVICE(T, T2, hlog2, h2log2, __log2f(a))                                  \
  WL_HALF_ON_DEVICE(T, T2, hlog10, h2log10, __log10f(a))                               \
  WL_HALF_ON_DEVICE(T, T2, hsin, h2sin, __sinf(a))                                     \
  WL_HALF_ON_DEVICE(T, T2, hcos, h2cos, __cosf(a))                                     \
  WL_HALF_ON_DEVICE(T, T2, htanh, h2tanh, tanhf(a))                                    \
  WL_HALF_HD T operator+(T a, T b) { return __hadd(a, b); }                            \
  WL_HALF_HD T operator-(T a, T b) { return __hsub(a, b); }                            \
  WL_HALF_HD T operator*(T a, T b) { return __hmul(a, b); }                            \
  WL_HALF_HD T operator/(T a, T b) { return __hdiv(a, b); }                            \
  WL_HALF_HD T operator-(T a) { return __hneg(a); }                                    \
  WL_HALF_HD T operator+(T a) { return a; }                                            \
  WL_HALF_HD T& operator+=(T& a, T b) { return a = __hadd(a, b); }                     \
  WL_HALF_HD T& operator-=(T& a, T b) { return a = __hsub(a, b); }                     \
  WL_HALF_HD T& operator*=(T& a, T b) { return a = __hmul(a, b); }                     \
  WL_HALF_HD T& operator/=(T& a, T b) { return a = __hdiv(a, b); }                     \
  WL_HALF_HD T& operator++(T& a) { return a = __hadd(a, T(1.0f)); }                    \
  WL_HALF_HD T& operator--(T& a) { return a = __hsub(a, T(1.0f)); }                    \
  WL_HALF_HD bool operator==(T a, T b) { return __heq(a, b); }                         \
  WL_HALF_HD bool operator!=(T a, T b) { return !__heq(a, b); }                        \
  WL_HALF_HD bool operator<(T a, T b) { return __hlt(a, b); }                          \
  WL_HALF_HD bool operator<=(T a, T b) { return __hle(a, b); }                         \
  WL_HALF_HD bool operator>(T a, T b) { return __hgt(a, b); }                          \
  WL_HALF_HD bool operator>=(T a, T b) { return __hge(a, b); }                         \
  WL_HALF_HD T2 operator+(T2 a, T2 b) { return __hadd2(a, b); }                        \
  WL_HALF_HD T2 operator-(T2 a, T2 b) { return __hsub2(a, b); }                        \
  WL_HALF_HD T2 operator*(T2 a, T2 b) { return __hmul2(a, b); }                        \
  WL_HALF_HD T2 operator/(T2 a, T2 b) { return __h2div(a, b); }                        \
  WL_HALF_HD T2 operator-(T2 a) { return __hneg2(a); }                                 \
  WL_HALF_HD T2& operator+=(T2& a, T2 b) { return a = __hadd2(a, b); }                 \
  WL_HALF_HD T2& operator-=(T2& a, T2 b) { return a = __hsub2(a, b); }                 \
  WL_HALF_HD T2& operator*=(T2& a, T2 b) { return a = __hmul2(a, b); }                 \
  WL_HALF_HD T2& operator/=(T2& a, T2 b) { return a = __h2div(a, b); }                 \
  WL_HALF_HD bool operator==(T2 a, T2 b) { return __hbeq2(a, b); }

// Warp exchanges, read-only loads and atomics, device only.
#define WL_HALF_SHUFFLE(T, T2, name, argument)                                 \
  WL_HALF_D T name(unsigned mask, T v, argument n, int width = 32) {           \
    return T::from_bits((unsigned short)name(mask, (unsigned)v.x_, n, width)); \
  }                                                                            \
  WL_HALF_D T2 name(unsigned mask, T2 v, argument n, int width = 32) {         \
    return T2::from_bits(name(mask, v.bits(), n, width));                      \
  }
#define WL_HALF_DEVICE(T, T2, t)                                                                       \
  WL_HALF_SHUFFLE(T, T2, __shfl_sync, int)                                                             \
  WL_HALF_SHUFFLE(T, T2, __shfl_up_sync, unsigned)                                                     \
  WL_HALF_SHUFFLE(T, T2, __shfl_down_sync, unsigned)                                                   \
  WL_HALF_SHUFFLE(T, T2, __shfl_xor_sync, int)                                                         \
  WL_HALF_D T __ldg(const T* p) { return T::from_bits(__ldg((const unsigned short*)p)); }              \
  WL_HALF_D T2 __ldg(const T2* p) { return T2::from_bits(__ldg((const unsigned*)p)); }                 \
  WL_HALF_D T atomicAdd(T* p, T v) {                                                                   \
    T r;                                                                                               \
    asm volatile("atom.add.noftz." t " %0, [%1], %2;" : "=h"(r.x_) : "l"(p), "h"(v.x_) : "memory");    \
    return r;                                                                                          \
  }                                                                                                    \
  WL_HALF_D T2 atomicAdd(T2* p, T2 v) {                                                                \
    unsigned r;                                                                                        \
    asm volatile("atom.add.noftz." t "x2 %0, [%1], %2;" : "=r"(r) : "l"(p), "r"(v.bits()) : "memory"); \
    return T2::from_bits(r);                                                                           \
  }

// A pair of T with the members that both formats' pairs have.
#define WL_HALF_PAIR(T, T2)                                                                      \
  struct __attribute__((aligned(4))) T2 {                                                        \
    T x, y;                                                                                      \
    T2() = default;                                                                              \
    __host__ __device__ constexpr T2(T a, T b) : x(a), y(b) {}                                   \
    __host__ __device__ unsigned bits() const { return x.x_ | ((unsigned)y.x_ << 16); }          \
    static __host__ __device__ T2 from_bits(unsigned bits) {                                     \
      return T2(T::from_bits((unsigned short)bits), T::from_bits((unsigned short)(bits >> 16))); \
    }                                                                                            \
  };

#endif
