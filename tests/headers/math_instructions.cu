// SPDX-License-Identifier: Apache-2.0
// Functions that nvcc turns into one or a few instructions are the same instructions here. What nvcc 13.0 emits was
// looked up function by function (docs/cuda-headers.md).
#define FLOAT1(name, e) \
  extern "C" __global__ void name(float* o, float a, float b, float c) { o[0] = e; }
#define DOUBLE1(name, e) \
  extern "C" __global__ void name(double* o, double a, double b, double c) { o[0] = e; }
#define INT1(name, e) \
  extern "C" __global__ void name(int* o, int a, int b, int c) { o[0] = e; }

// PTX k_fabsf: abs.f32
FLOAT1(k_fabsf, fabsf(a))
// PTX k_fmaf: fma.rn.f32
FLOAT1(k_fmaf, fmaf(a, b, c))
// PTX k_contract: fma.rn.f32
FLOAT1(k_contract, a* b + c)
// PTX k_sqrtf: sqrt.rn.f32
FLOAT1(k_sqrtf, sqrtf(a))
// PTX k_rsqrtf: rsqrt.approx.f32
FLOAT1(k_rsqrtf, rsqrtf(a))
// PTX k_divide: div.rn.f32
FLOAT1(k_divide, a / b)
// PTX k_inverse: rcp.rn.f32
FLOAT1(k_inverse, 1.0f / a)
// PTX k_fdividef: div.approx.f32
FLOAT1(k_fdividef, __fdividef(a, b))
// PTX k_fminf: min.f32
FLOAT1(k_fminf, fminf(a, b))
// PTX k_fmaxf: max.f32
FLOAT1(k_fmaxf, fmaxf(a, b))
// PTX k_maxfloat: max.f32
FLOAT1(k_maxfloat, max(a, b))
// PTX k_floorf: cvt.rmi.f32.f32
FLOAT1(k_floorf, floorf(a))
// PTX k_ceilf: cvt.rpi.f32.f32
FLOAT1(k_ceilf, ceilf(a))
// PTX k_truncf: cvt.rzi.f32.f32
FLOAT1(k_truncf, truncf(a))
// PTX k_rintf: cvt.rni.f32.f32
FLOAT1(k_rintf, rintf(a))
// PTX k_roundf: add.rz.f32
// PTX k_roundf: cvt.rzi.f32.f32
FLOAT1(k_roundf, roundf(a))
// PTX k_saturate: cvt.sat.f32.f32
FLOAT1(k_saturate, __saturatef(a))
// PTX k_expf_fast: ex2.approx.f32
// PTX k_expf_fast: 0f3FB8AA3B
FLOAT1(k_expf_fast, __expf(a))
// PTX k_logf_fast: lg2.approx.f32
// PTX k_logf_fast: 0f3F317218
FLOAT1(k_logf_fast, __logf(a))
// PTX k_log10_fast: 0f3E9A209B
FLOAT1(k_log10_fast, __log10f(a))
// PTX k_exp10_fast: 0f40549A78
FLOAT1(k_exp10_fast, __exp10f(a))
// PTX k_powf_fast: lg2.approx.f32
// PTX k_powf_fast: ex2.approx.f32
FLOAT1(k_powf_fast, __powf(a, b))
// PTX k_sin_fast: sin.approx.f32
FLOAT1(k_sin_fast, __sinf(a))
// PTX k_tan_fast: div.approx.f32
FLOAT1(k_tan_fast, __tanf(a))
// PTX k_exp2f: ex2.approx
// PTX-NOT k_exp2f: call
FLOAT1(k_exp2f, exp2f(a))
// PTX k_add_rz: add.rz.f32
FLOAT1(k_add_rz, __fadd_rz(a, b))
// PTX k_mul_rd: mul.rm.f32
FLOAT1(k_mul_rd, __fmul_rd(a, b))
// PTX k_fma_ru: fma.rp.f32
FLOAT1(k_fma_ru, __fmaf_ru(a, b, c))
// PTX k_rcp_ru: rcp.rp.f32
FLOAT1(k_rcp_ru, __frcp_ru(a))
// A product that may not be contracted.
// PTX k_mul_rn: mul.rn.f32
FLOAT1(k_mul_rn, __fadd_rn(__fmul_rn(a, b), c))
// PTX k_copysign: and.b32
FLOAT1(k_copysign, copysignf(a, b))
// PTX k_isnan: setp
FLOAT1(k_isnan, isnan(a) ? 1.0f : 2.0f)
// What stays a function of the engine.
// PTX k_sinf: __nv_sinf
FLOAT1(k_sinf, sinf(a))
// PTX k_powf: __nv_powf
FLOAT1(k_powf, powf(a, b))
// PTX k_std_sin: __nv_sinf
FLOAT1(k_std_sin, std::sin(a))

// PTX k_sqrt: sqrt.rn.f64
DOUBLE1(k_sqrt, sqrt(a))
// PTX k_rsqrt: rsqrt.approx.f64
DOUBLE1(k_rsqrt, rsqrt(a))
// PTX k_fma: fma.rn.f64
DOUBLE1(k_fma, fma(a, b, c))
// PTX k_dadd_ru: add.rp.f64
DOUBLE1(k_dadd_ru, __dadd_ru(a, b))
// PTX k_fmin: min.f64
DOUBLE1(k_fmin, fmin(a, b))
// PTX k_double2float: cvt.rz.f32.f64
DOUBLE1(k_double2float, __double2float_rz(a))
// PTX k_hiloint: mov.b64
DOUBLE1(k_hiloint, __hiloint2double(__double2hiint(a), __double2loint(b)))

// PTX k_min: min.s32
INT1(k_min, min(a, b))
// PTX k_max: max.s32
INT1(k_max, max(a, b))
// PTX k_umin: min.u32
INT1(k_umin, (int)min((unsigned)a, (unsigned)b))
// PTX k_popc: popc.b32
INT1(k_popc, __popc(a))
// PTX k_clz: clz.b32
INT1(k_clz, __clz(a))
// PTX k_brev: brev.b32
INT1(k_brev, (int)__brev(a))
// PTX k_prmt: prmt.b32
INT1(k_prmt, (int)__byte_perm(a, b, c))
// PTX k_mulhi: mul.hi.s32
INT1(k_mulhi, __mulhi(a, b))
// PTX k_umulhi: mul.hi.u32
INT1(k_umulhi, (int)__umulhi(a, b))
// PTX k_sad: sad.s32
INT1(k_sad, (int)__sad(a, b, c))
// PTX k_funnel: shf.l.wrap.b32
INT1(k_funnel, (int)__funnelshift_l(a, b, c))
// PTX k_dp4a: dp4a.s32.s32
INT1(k_dp4a, __dp4a(a, b, c))
// PTX k_float2int: cvt.rmi.s32.f32
INT1(k_float2int, __float2int_rd(__int_as_float(a)))
// PTX k_abs: abs.s32
INT1(k_abs, abs(a))
// PTX-NOT k_ffs: call
INT1(k_ffs, __ffs(a))
