// SPDX-License-Identifier: Apache-2.0
// Half precision: IEEE binary16 numbers and pairs of them.
#ifndef WARPLENS_CUDA_FP16_H
#define WARPLENS_CUDA_FP16_H
#define __CUDA_FP16_H__  // programs ask whether the file was included by this name

#include <math.h>

#include "cuda_runtime.h"
#include "warplens/half_arithmetic.h"

#ifdef __cplusplus

namespace warplens_cuda {
// Round to nearest even, in integers: the host has no instruction for it that every compiler knows.
static inline __host__ __device__ unsigned short half_bits(float value) {
#ifdef __CUDA_ARCH__
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(value));
  return h;
#else
  unsigned f;
  __builtin_memcpy(&f, &value, sizeof f);
  const unsigned sign = (f >> 16) & 0x8000u, magnitude = f & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fffu;                            // NaN
  if (magnitude >= 0x477ff000u) return (unsigned short)(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x33000001u) return (unsigned short)sign;               // rounds to zero
  const unsigned exponent = magnitude >> 23;
  unsigned mantissa = magnitude & 0x7fffffu, shift = 13, result = 0;
  if (exponent < 113) {  // subnormal as a half: the hidden bit becomes visible
    mantissa |= 0x800000u;
    shift = 126 - exponent;
  } else {
    result = (exponent - 112) << 10;
  }
  result += mantissa >> shift;
  const unsigned rest = mantissa & ((1u << shift) - 1), middle = 1u << (shift - 1);
  if (rest > middle || (rest == middle && (result & 1))) result++;  // a carry goes into the exponent, as it should
  return (unsigned short)(sign | result);
#endif
}
static inline __host__ __device__ float half_value(unsigned short h) {
#ifdef __CUDA_ARCH__
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
#else
  const unsigned sign = (unsigned)(h & 0x8000) << 16, exponent = (h >> 10) & 31, mantissa = h & 0x3ffu;
  float value;
  if (exponent == 0) {
    value = (float)mantissa * 0x1p-24f;
  } else {
    const unsigned bits = exponent == 31 ? 0x7f800000u | (mantissa << 13) : ((exponent + 112) << 23) | (mantissa << 13);
    __builtin_memcpy(&value, &bits, sizeof value);
  }
  return sign ? -value : value;
#endif
}
}  // namespace warplens_cuda

struct __half_raw {
  unsigned short x;
};
struct __attribute__((aligned(2))) __half {
  unsigned short x_;
  __half() = default;
  __host__ __device__ __half(float v) : x_(warplens_cuda::half_bits(v)) {}
  __host__ __device__ __half(double v) : x_(warplens_cuda::half_bits((float)v)) {}
  __host__ __device__ __half(int v) : x_(warplens_cuda::half_bits((float)v)) {}
  __host__ __device__ __half(unsigned v) : x_(warplens_cuda::half_bits((float)v)) {}
  __host__ __device__ __half(short v) : x_(warplens_cuda::half_bits((float)v)) {}
  __host__ __device__ __half(unsigned short v) : x_(warplens_cuda::half_bits((float)v)) {}
  __host__ __device__ __half(long long v) : x_(warplens_cuda::half_bits((float)v)) {}
  __host__ __device__ __half(unsigned long long v) : x_(warplens_cuda::half_bits((float)v)) {}
  __host__ __device__ __half(const __half_raw& r) : x_(r.x) {}
  __host__ __device__ operator float() const { return warplens_cuda::half_value(x_); }
  __host__ __device__ operator __half_raw() const { return {x_}; }
  static __host__ __device__ __half from_bits(unsigned short bits) {
    __half h;
    h.x_ = bits;
    return h;
  }
};
WL_HALF_PAIR(__half, __half2)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

#ifdef __CUDA__
WL_HALF_FUNCTIONS(__half, __half2, "f16")
WL_HALF_DEVICE(__half, __half2, "f16")

#ifdef __CUDA_ARCH__
WL_HALF_BINARY(__half, __half2, __hadd_sat, __hadd2_sat, 0, "add.sat", "f16")
WL_HALF_BINARY(__half, __half2, __hsub_sat, __hsub2_sat, 0, "sub.sat", "f16")
WL_HALF_BINARY(__half, __half2, __hmul_sat, __hmul2_sat, 0, "mul.sat", "f16")
WL_HALF_FUSED(__half, __half2, __hfma_sat, __hfma2_sat, "fma.rn.sat", "f16")
WL_HALF_FUSED(__half, __half2, __hfma_relu, __hfma2_relu, "fma.rn.relu", "f16")
#else  // the host pass only has to know that they exist
__device__ __half __hadd_sat(__half, __half);
__device__ __half __hsub_sat(__half, __half);
__device__ __half __hmul_sat(__half, __half);
__device__ __half __hfma_sat(__half, __half, __half);
__device__ __half __hfma_relu(__half, __half, __half);
__device__ __half2 __hadd2_sat(__half2, __half2);
__device__ __half2 __hsub2_sat(__half2, __half2);
__device__ __half2 __hmul2_sat(__half2, __half2);
__device__ __half2 __hfma2_sat(__half2, __half2, __half2);
__device__ __half2 __hfma2_relu(__half2, __half2, __half2);
#endif

// ---- conversions ----
WL_HALF_HD __half __float2half(float a) { return __half(a); }
WL_HALF_HD __half __float2half_rn(float a) { return __half(a); }
WL_HALF_HD __half __double2half(double a) { return __half(a); }
WL_HALF_HD float __half2float(__half a) { return (float)a; }
WL_HALF_HD __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
WL_HALF_HD __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
WL_HALF_HD __half2 __float22half2_rn(float2 a) { return __half2(__half(a.x), __half(a.y)); }
WL_HALF_HD float2 __half22float2(__half2 a) { return make_float2((float)a.x, (float)a.y); }
WL_HALF_HD float __low2float(__half2 a) { return (float)a.x; }
WL_HALF_HD float __high2float(__half2 a) { return (float)a.y; }
WL_HALF_HD __half __low2half(__half2 a) { return a.x; }
WL_HALF_HD __half __high2half(__half2 a) { return a.y; }
WL_HALF_HD __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
WL_HALF_HD __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
WL_HALF_HD __half2 __half2half2(__half a) { return __half2(a, a); }
WL_HALF_HD __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
WL_HALF_HD __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
WL_HALF_HD __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
WL_HALF_HD __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
WL_HALF_HD __half2 make_half2(__half a, __half b) { return __half2(a, b); }
WL_HALF_HD short __half_as_short(__half a) { return (short)a.x_; }
WL_HALF_HD unsigned short __half_as_ushort(__half a) { return a.x_; }
WL_HALF_HD __half __short_as_half(short a) { return __half::from_bits((unsigned short)a); }
WL_HALF_HD __half __ushort_as_half(unsigned short a) { return __half::from_bits(a); }
WL_HALF_HD __half __int2half_rn(int a) { return __half(a); }
WL_HALF_HD __half __uint2half_rn(unsigned a) { return __half(a); }
WL_HALF_HD __half __short2half_rn(short a) { return __half(a); }
WL_HALF_HD __half __ushort2half_rn(unsigned short a) { return __half(a); }
WL_HALF_HD __half __ll2half_rn(long long a) { return __half(a); }
WL_HALF_HD int __half2int_rz(__half a) { return (int)(float)a; }
WL_HALF_HD unsigned __half2uint_rz(__half a) { return (unsigned)(float)a; }
WL_HALF_HD long long __half2ll_rz(__half a) { return (long long)(float)a; }
WL_HALF_D int __half2int_rn(__half a) { return __float2int_rn((float)a); }
WL_HALF_D int __half2int_rd(__half a) { return __float2int_rd((float)a); }
WL_HALF_D int __half2int_ru(__half a) { return __float2int_ru((float)a); }
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#endif  // __CUDA__
#endif  // __cplusplus
#endif
