// SPDX-License-Identifier: Apache-2.0
// libdevice functions that are one PTX instruction, or a few.
// clang's own device headers call __nv_* for everything; what stays undefined becomes a call in the PTX, which the
// engine answers itself (sinf, pow ...). A call would hide cheap arithmetic from the counts, so whatever nvcc turns
// into instructions is defined here, in the instructions that nvcc is seen to emit. Always inlined, never exported.
#ifndef WARPLENS_CUDA_LIBDEVICE_INLINE_H
#define WARPLENS_CUDA_LIBDEVICE_INLINE_H

#define WL_ONE extern "C" __device__ inline __attribute__((always_inline, const))

// The float form of a builtin; with -use_fast_math (which defines __CUDA_FTZ) the one that flushes denormals.
#if defined(__CUDA_FTZ) && __CUDA_FTZ
#define WL_F(name) __nvvm_##name##_ftz_f
#define WL_C(name) __nvvm_##name##_ftz
#else
#define WL_F(name) __nvvm_##name##_f
#define WL_C(name) __nvvm_##name
#endif

// ---- float and double: sign, rounding to integral, extremes, fused multiply-add ----
WL_ONE float __nv_fabsf(float a) { return __builtin_fabsf(a); }
WL_ONE double __nv_fabs(double a) { return __builtin_fabs(a); }
WL_ONE float __nv_ceilf(float a) { return __builtin_ceilf(a); }
WL_ONE double __nv_ceil(double a) { return __builtin_ceil(a); }
WL_ONE float __nv_floorf(float a) { return __builtin_floorf(a); }
WL_ONE double __nv_floor(double a) { return __builtin_floor(a); }
WL_ONE float __nv_truncf(float a) { return __builtin_truncf(a); }
WL_ONE double __nv_trunc(double a) { return __builtin_trunc(a); }
WL_ONE float __nv_rintf(float a) { return __builtin_rintf(a); }
WL_ONE double __nv_rint(double a) { return __builtin_rint(a); }
WL_ONE float __nv_nearbyintf(float a) { return __builtin_nearbyintf(a); }
WL_ONE double __nv_nearbyint(double a) { return __builtin_nearbyint(a); }
WL_ONE float __nv_copysignf(float a, float b) { return __builtin_copysignf(a, b); }
WL_ONE double __nv_copysign(double a, double b) { return __builtin_copysign(a, b); }
// Half away from zero: adding 0.5 rounded towards zero cannot carry a value across an integer that it is below.
WL_ONE float __nv_roundf(float a) { return __builtin_truncf(WL_F(add_rz)(a, __builtin_copysignf(0.5f, a))); }
WL_ONE double __nv_round(double a) { return __builtin_trunc(__nvvm_add_rz_d(a, __builtin_copysign(0.5, a))); }
WL_ONE float __nv_fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
WL_ONE double __nv_fmax(double a, double b) { return __builtin_fmax(a, b); }
WL_ONE float __nv_fminf(float a, float b) { return __builtin_fminf(a, b); }
WL_ONE double __nv_fmin(double a, double b) { return __builtin_fmin(a, b); }
WL_ONE float __nv_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
WL_ONE double __nv_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
WL_ONE float __nv_fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
WL_ONE double __nv_fdim(double a, double b) { return a <= b ? 0.0 : a - b; }
WL_ONE float __nv_saturatef(float a) { return WL_F(saturate)(a); }
WL_ONE int __nv_isnanf(float a) { return __builtin_isnan(a); }
WL_ONE int __nv_isnand(double a) { return __builtin_isnan(a); }
WL_ONE int __nv_isinff(float a) { return __builtin_isinf(a); }
WL_ONE int __nv_isinfd(double a) { return __builtin_isinf(a); }
WL_ONE int __nv_finitef(float a) { return __builtin_isfinite(a); }
WL_ONE int __nv_isfinited(double a) { return __builtin_isfinite(a); }
WL_ONE int __nv_float_as_int(float a) { return __builtin_bit_cast(int, a); }
WL_ONE unsigned __nv_float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
WL_ONE float __nv_int_as_float(int a) { return __builtin_bit_cast(float, a); }
WL_ONE float __nv_uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
WL_ONE unsigned long long __nv_double_as_longlong(double a) { return __builtin_bit_cast(unsigned long long, a); }
WL_ONE double __nv_longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
WL_ONE int __nv_signbitf(float a) { return __builtin_bit_cast(int, a) < 0; }
WL_ONE int __nv_signbitd(double a) { return __builtin_bit_cast(long long, a) < 0; }
WL_ONE int __nv_double2hiint(double a) { return __nvvm_d2i_hi(a); }
WL_ONE int __nv_double2loint(double a) { return __nvvm_d2i_lo(a); }
WL_ONE double __nv_hiloint2double(int hi, int lo) { return __nvvm_lohi_i2d(lo, hi); }

// ---- roots, reciprocals, hardware approximations ----
#ifdef __CLANG_GPU_APPROX_TRANSCENDENTALS__
WL_ONE float __nv_sqrtf(float a) { return WL_F(sqrt_approx)(a); }
#else
WL_ONE float __nv_sqrtf(float a) { return WL_F(sqrt_rn)(a); }
#endif
WL_ONE double __nv_sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
WL_ONE float __nv_rsqrtf(float a) { return WL_F(rsqrt_approx)(a); }
WL_ONE double __nv_rsqrt(double a) { return __nvvm_rsqrt_approx_d(a); }
WL_ONE float __nv_exp2f(float a) { return WL_F(ex2_approx)(a); }
WL_ONE float __nv_fast_sinf(float a) { return WL_F(sin_approx)(a); }
WL_ONE float __nv_fast_cosf(float a) { return WL_F(cos_approx)(a); }
WL_ONE float __nv_fast_fdividef(float a, float b) { return WL_F(div_approx)(a, b); }
WL_ONE float __nv_fast_tanf(float a) { return WL_F(div_approx)(WL_F(sin_approx)(a), WL_F(cos_approx)(a)); }
WL_ONE float __nv_fast_log2f(float a) { return WL_F(lg2_approx)(a); }
WL_ONE float __nv_fast_logf(float a) { return WL_F(lg2_approx)(a) * 0x1.62e430p-1f; }
WL_ONE float __nv_fast_log10f(float a) { return WL_F(lg2_approx)(a) * 0x1.344136p-2f; }
WL_ONE float __nv_fast_expf(float a) { return WL_F(ex2_approx)(a * 0x1.715476p+0f); }
WL_ONE float __nv_fast_exp10f(float a) { return WL_F(ex2_approx)(a * 0x1.a934f0p+1f); }
WL_ONE float __nv_fast_powf(float a, float b) { return WL_F(ex2_approx)(b * WL_F(lg2_approx)(a)); }
extern "C" __device__ inline __attribute__((always_inline)) void __nv_fast_sincosf(float a, float* s, float* c) {
  *s = WL_F(sin_approx)(a);
  *c = WL_F(cos_approx)(a);
}

// ---- arithmetic with a stated rounding: CUDA's suffix, PTX's suffix ----
#define WL_R(name, ptx) WL_F(name##_##ptx)
#define WL_RC(name, ptx) WL_C(name##_##ptx)
#define WL_ROUNDED(cuda, ptx)                                                                           \
  WL_ONE float __nv_fadd_##cuda(float a, float b) { return WL_R(add, ptx)(a, b); }                      \
  WL_ONE float __nv_fsub_##cuda(float a, float b) { return WL_R(add, ptx)(a, -b); }                     \
  WL_ONE float __nv_fmul_##cuda(float a, float b) { return WL_R(mul, ptx)(a, b); }                      \
  WL_ONE float __nv_fdiv_##cuda(float a, float b) { return WL_R(div, ptx)(a, b); }                      \
  WL_ONE float __nv_frcp_##cuda(float a) { return WL_R(rcp, ptx)(a); }                                  \
  WL_ONE float __nv_fsqrt_##cuda(float a) { return WL_R(sqrt, ptx)(a); }                                \
  WL_ONE float __nv_fmaf_##cuda(float a, float b, float c) { return WL_R(fma, ptx)(a, b, c); }          \
  WL_ONE float __nv_fmaf_ieee_##cuda(float a, float b, float c) { return WL_R(fma, ptx)(a, b, c); }     \
  WL_ONE double __nv_dadd_##cuda(double a, double b) { return __nvvm_add_##ptx##_d(a, b); }             \
  WL_ONE double __nv_dsub_##cuda(double a, double b) { return __nvvm_add_##ptx##_d(a, -b); }            \
  WL_ONE double __nv_dmul_##cuda(double a, double b) { return __nvvm_mul_##ptx##_d(a, b); }             \
  WL_ONE double __nv_ddiv_##cuda(double a, double b) { return __nvvm_div_##ptx##_d(a, b); }             \
  WL_ONE double __nv_drcp_##cuda(double a) { return __nvvm_rcp_##ptx##_d(a); }                          \
  WL_ONE double __nv_dsqrt_##cuda(double a) { return __nvvm_sqrt_##ptx##_d(a); }                        \
  WL_ONE double __nv_fma_##cuda(double a, double b, double c) { return __nvvm_fma_##ptx##_d(a, b, c); } \
  WL_ONE float __nv_double2float_##cuda(double a) { return WL_RC(d2f, ptx)(a); }                        \
  WL_ONE int __nv_float2int_##cuda(float a) { return WL_RC(f2i, ptx)(a); }                              \
  WL_ONE unsigned __nv_float2uint_##cuda(float a) { return WL_RC(f2ui, ptx)(a); }                       \
  WL_ONE long long __nv_float2ll_##cuda(float a) { return WL_RC(f2ll, ptx)(a); }                        \
  WL_ONE unsigned long long __nv_float2ull_##cuda(float a) { return WL_RC(f2ull, ptx)(a); }             \
  WL_ONE int __nv_double2int_##cuda(double a) { return __nvvm_d2i_##ptx(a); }                           \
  WL_ONE unsigned __nv_double2uint_##cuda(double a) { return __nvvm_d2ui_##ptx(a); }                    \
  WL_ONE long long __nv_double2ll_##cuda(double a) { return __nvvm_d2ll_##ptx(a); }                     \
  WL_ONE unsigned long long __nv_double2ull_##cuda(double a) { return __nvvm_d2ull_##ptx(a); }          \
  WL_ONE float __nv_int2float_##cuda(int a) { return __nvvm_i2f_##ptx(a); }                             \
  WL_ONE float __nv_uint2float_##cuda(unsigned a) { return __nvvm_ui2f_##ptx(a); }                      \
  WL_ONE float __nv_ll2float_##cuda(long long a) { return __nvvm_ll2f_##ptx(a); }                       \
  WL_ONE float __nv_ull2float_##cuda(unsigned long long a) { return __nvvm_ull2f_##ptx(a); }            \
  WL_ONE double __nv_ll2double_##cuda(long long a) { return __nvvm_ll2d_##ptx(a); }                     \
  WL_ONE double __nv_ull2double_##cuda(unsigned long long a) { return __nvvm_ull2d_##ptx(a); }
WL_ROUNDED(rn, rn)
WL_ROUNDED(rz, rz)
WL_ROUNDED(rd, rm)
WL_ROUNDED(ru, rp)
#undef WL_ROUNDED
WL_ONE double __nv_int2double_rn(int a) { return a; }
WL_ONE double __nv_uint2double_rn(unsigned a) { return a; }
WL_ONE long long __nv_llrintf(float a) { return WL_C(f2ll_rn)(a); }
WL_ONE long long __nv_llrint(double a) { return __nvvm_d2ll_rn(a); }
WL_ONE long long __nv_llroundf(float a) { return WL_C(f2ll_rz)(__nv_roundf(a)); }
WL_ONE long long __nv_llround(double a) { return __nvvm_d2ll_rz(__nv_round(a)); }

// ---- integers ----
WL_ONE int __nv_abs(int a) { return a < 0 ? (int)(0u - (unsigned)a) : a; }
WL_ONE long long __nv_llabs(long long a) { return a < 0 ? (long long)(0ull - (unsigned long long)a) : a; }
WL_ONE int __nv_max(int a, int b) { return a > b ? a : b; }
WL_ONE int __nv_min(int a, int b) { return a < b ? a : b; }
WL_ONE unsigned __nv_umax(unsigned a, unsigned b) { return a > b ? a : b; }
WL_ONE unsigned __nv_umin(unsigned a, unsigned b) { return a < b ? a : b; }
WL_ONE long long __nv_llmax(long long a, long long b) { return a > b ? a : b; }
WL_ONE long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
WL_ONE unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
WL_ONE unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
WL_ONE int __nv_brev(int a) { return (int)__builtin_bitreverse32((unsigned)a); }
WL_ONE long long __nv_brevll(long long a) { return (long long)__builtin_bitreverse64((unsigned long long)a); }
WL_ONE int __nv_clz(int a) { return a ? __builtin_clz((unsigned)a) : 32; }
WL_ONE int __nv_clzll(long long a) { return a ? __builtin_clzll((unsigned long long)a) : 64; }
WL_ONE int __nv_popc(unsigned a) { return __builtin_popcount(a); }
WL_ONE int __nv_popcll(unsigned long long a) { return __builtin_popcountll(a); }
WL_ONE int __nv_ffs(int a) { return __builtin_ffs(a); }
WL_ONE int __nv_ffsll(long long a) { return __builtin_ffsll(a); }
WL_ONE int __nv_byte_perm(int a, int b, int selector) {
  return (int)__nvvm_prmt((unsigned)a, (unsigned)b, (unsigned)selector);
}
WL_ONE int __nv_mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
WL_ONE unsigned __nv_umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
WL_ONE int __nv_mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
WL_ONE unsigned __nv_umulhi(unsigned a, unsigned b) { return __nvvm_mulhi_ui(a, b); }
WL_ONE long long __nv_mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
WL_ONE unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) { return __nvvm_mulhi_ull(a, b); }
// |a - b| + c; the signed form takes a and b as signed and everything else as unsigned.
WL_ONE int __nv_sad(int a, int b, int c) {
  int r;
  asm("sad.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
WL_ONE unsigned __nv_usad(unsigned a, unsigned b, unsigned c) {
  unsigned r;
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
  return r;
}
// Averages without the lost carry bit, rounded down and up.
WL_ONE int __nv_hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
WL_ONE int __nv_rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
WL_ONE int __nv_uhadd(unsigned a, unsigned b) { return (int)((a & b) + ((a ^ b) >> 1)); }
WL_ONE unsigned __nv_urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }

// ---- half precision as bits ----
WL_ONE float __nv_half2float(unsigned short h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}
WL_ONE unsigned short __nv_float2half_rn(float f) {
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
}

#undef WL_ONE
#undef WL_F
#undef WL_C
#undef WL_R
#undef WL_RC
#endif
