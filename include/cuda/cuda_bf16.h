// SPDX-License-Identifier: Apache-2.0
// bfloat16: the upper half of a float, rounded to nearest even, and pairs of them.
#ifndef WARPLENS_CUDA_BF16_H
#define WARPLENS_CUDA_BF16_H
#define __CUDA_BF16_H__  // programs ask whether the file was included by this name

#include <math.h>

#include "cuda_runtime.h"
#include "warplens/half_arithmetic.h"

#ifdef __cplusplus

namespace warplens_cuda {
static inline __host__ __device__ unsigned short bfloat_bits(float value) {
#ifdef __CUDA_ARCH__
  unsigned short h;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(value));
  return h;
#else
  unsigned f;
  __builtin_memcpy(&f, &value, sizeof f);
  if ((f & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
  return (unsigned short)((f + 0x7fffu + ((f >> 16) & 1)) >> 16);
#endif
}
static inline __host__ __device__ float bfloat_value(unsigned short h) {
  const unsigned bits = (unsigned)h << 16;
  return __builtin_bit_cast(float, bits);
}
}  // namespace warplens_cuda

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __attribute__((aligned(2))) __nv_bfloat16 {
  unsigned short x_;
  __nv_bfloat16() = default;
  __host__ __device__ __nv_bfloat16(float v) : x_(warplens_cuda::bfloat_bits(v)) {}
  __host__ __device__ __nv_bfloat16(double v) : x_(warplens_cuda::bfloat_bits((float)v)) {}
  __host__ __device__ __nv_bfloat16(int v) : x_(warplens_cuda::bfloat_bits((float)v)) {}
  __host__ __device__ __nv_bfloat16(unsigned v) : x_(warplens_cuda::bfloat_bits((float)v)) {}
  __host__ __device__ __nv_bfloat16(const __nv_bfloat16_raw& r) : x_(r.x) {}
  __host__ __device__ operator float() const { return warplens_cuda::bfloat_value(x_); }
  __host__ __device__ operator __nv_bfloat16_raw() const { return {x_}; }
  static __host__ __device__ __nv_bfloat16 from_bits(unsigned short bits) {
    __nv_bfloat16 h;
    h.x_ = bits;
    return h;
  }
};
WL_HALF_PAIR(__nv_bfloat16, __nv_bfloat162)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#ifdef __CUDA__
WL_HALF_FUNCTIONS(__nv_bfloat16, __nv_bfloat162, "bf16")
WL_HALF_DEVICE(__nv_bfloat16, __nv_bfloat162, "bf16")

WL_HALF_HD __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
WL_HALF_HD __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
WL_HALF_HD __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
WL_HALF_HD float __bfloat162float(__nv_bfloat16 a) { return (float)a; }
WL_HALF_HD __nv_bfloat162 __float2bfloat162_rn(float a) { return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(a)); }
WL_HALF_HD __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
WL_HALF_HD __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
WL_HALF_HD float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2((float)a.x, (float)a.y); }
WL_HALF_HD float __low2float(__nv_bfloat162 a) { return (float)a.x; }
WL_HALF_HD float __high2float(__nv_bfloat162 a) { return (float)a.y; }
WL_HALF_HD __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
WL_HALF_HD __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
WL_HALF_HD __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
WL_HALF_HD __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
WL_HALF_HD __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
WL_HALF_HD unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.x_; }
WL_HALF_HD __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __nv_bfloat16::from_bits(a); }
WL_HALF_HD __nv_bfloat16 __int2bfloat16_rn(int a) { return __nv_bfloat16(a); }
WL_HALF_HD int __bfloat162int_rz(__nv_bfloat16 a) { return (int)(float)a; }
#endif  // __CUDA__
#endif  // __cplusplus
#endif
