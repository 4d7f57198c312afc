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

// The rest of <math.h> by type: clang's headers declare these for float, so that the standard library's constexpr
// functions stay host functions, and define only the ones of C++98.
#define WL_FLOAT_1(R, name) \
  WL_DEVICE R name(float a) { return name##f(a); }
#define WL_FLOAT_2(name) \
  WL_DEVICE float name(float a, float b) { return name##f(a, b); }
WL_FLOAT_1(float, acosh)
WL_FLOAT_1(float, asinh)
WL_FLOAT_1(float, atanh)
WL_FLOAT_1(float, cbrt)
WL_FLOAT_1(float, erf)
WL_FLOAT_1(float, erfc)
WL_FLOAT_1(float, exp2)
WL_FLOAT_1(float, expm1)
WL_FLOAT_1(int, ilogb)
WL_FLOAT_1(float, lgamma)
WL_FLOAT_1(long long, llrint)
WL_FLOAT_1(long long, llround)
WL_FLOAT_1(float, log1p)
WL_FLOAT_1(float, log2)
WL_FLOAT_1(float, logb)
WL_FLOAT_1(long, lrint)
WL_FLOAT_1(long, lround)
WL_FLOAT_1(float, nearbyint)
WL_FLOAT_1(float, rint)
WL_FLOAT_1(float, round)
WL_FLOAT_1(float, tgamma)
WL_FLOAT_1(float, trunc)
WL_FLOAT_2(copysign)
WL_FLOAT_2(fdim)
WL_FLOAT_2(fmax)
WL_FLOAT_2(fmin)
WL_FLOAT_2(hypot)
WL_FLOAT_2(nextafter)
WL_FLOAT_2(remainder)
#undef WL_FLOAT_1
#undef WL_FLOAT_2
WL_DEVICE float fma(float a, float b, float c) { return fmaf(a, b, c); }
WL_DEVICE float remquo(float a, float b, int* quotient) { return remquof(a, b, quotient); }
WL_DEVICE float scalbn(float a, int n) { return scalbnf(a, n); }
WL_DEVICE float scalbln(float a, long n) { return scalblnf(a, n); }

// A quiet NaN whose low bits are the number that the text holds, in C's notation.
WL_DEVICE warplens_ull warplens_nan_payload(const char* tag) {
  int base = 10;
  if (*tag == '0') base = (tag[1] | 32) == 'x' ? (tag += 2, 16) : 8;
  warplens_ull value = 0;
  for (; *tag; tag++) {
    const char c = *tag | 32;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : base;
    if (digit >= base) return 0;
    value = value * base + digit;
  }
  return value;
}
WL_DEVICE float nanf(const char* tag) {
  return __builtin_bit_cast(float, (unsigned)(0x7fc00000 | (warplens_nan_payload(tag) & 0x3fffff)));
}
WL_DEVICE double nan(const char* tag) {
  return __builtin_bit_cast(double, 0x7ff8000000000000 | (warplens_nan_payload(tag) & 0x7ffffffffffff));
}

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
