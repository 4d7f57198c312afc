// SPDX-License-Identifier: Apache-2.0
// min and max on both sides, also of two different arithmetic types: CUDA programs write min(n, 4u) or max(x, 0.0)
// and expect the usual arithmetic conversions. Device int x int, and the float and double forms of clang's headers
// are already there.
#ifndef WARPLENS_CUDA_MIN_MAX_H
#define WARPLENS_CUDA_MIN_MAX_H

#define WL_BOTH static __host__ __device__ inline __attribute__((always_inline))
#define WL_INTEGERS(A, B, R)                                                \
  WL_BOTH R min(const A a, const B b) { return (R)a < (R)b ? (R)a : (R)b; } \
  WL_BOTH R max(const A a, const B b) { return (R)a > (R)b ? (R)a : (R)b; }
static inline int min(const int a, const int b) { return a < b ? a : b; }
static inline int max(const int a, const int b) { return a > b ? a : b; }
WL_INTEGERS(unsigned, unsigned, unsigned)
WL_INTEGERS(int, unsigned, unsigned)
WL_INTEGERS(unsigned, int, unsigned)
WL_INTEGERS(long, long, long)
WL_INTEGERS(unsigned long, unsigned long, unsigned long)
WL_INTEGERS(long, unsigned long, unsigned long)
WL_INTEGERS(unsigned long, long, unsigned long)
WL_INTEGERS(long long, long long, long long)
WL_INTEGERS(unsigned long long, unsigned long long, unsigned long long)
WL_INTEGERS(long long, unsigned long long, unsigned long long)
WL_INTEGERS(unsigned long long, long long, unsigned long long)
#undef WL_INTEGERS

// IEEE minNum and maxNum: a NaN loses against a number.
#define WL_FLOATS(A, B, R, suffix)                                                   \
  WL_BOTH R min(const A a, const B b) { return __builtin_fmin##suffix((R)a, (R)b); } \
  WL_BOTH R max(const A a, const B b) { return __builtin_fmax##suffix((R)a, (R)b); }
WL_FLOATS(float, float, float, f)
WL_FLOATS(double, double, double, )
WL_FLOATS(float, double, double, )
WL_FLOATS(double, float, double, )
#undef WL_FLOATS
#undef WL_BOTH

#endif
