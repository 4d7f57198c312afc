// SPDX-License-Identifier: Apache-2.0
// Complex numbers as float2 and double2.
#ifndef WARPLENS_CUDA_CUCOMPLEX_H
#define WARPLENS_CUDA_CUCOMPLEX_H
#define CU_COMPLEX_H_  // programs ask whether the file was included by this name
#include <math.h>

#include "vector_functions.h"

#define WL_FN static __inline__ __host__ __device__ __attribute__((unused))
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// name part, complex type, its maker, real type, suffix of libm
#define WL_COMPLEX(f, C, make, R, suffix)                                                                     \
  WL_FN R cuCreal##f(C z) { return z.x; }                                                                     \
  WL_FN R cuCimag##f(C z) { return z.y; }                                                                     \
  WL_FN C cuConj##f(C z) { return make(z.x, -z.y); }                                                          \
  WL_FN C cuCadd##f(C a, C b) { return make(a.x + b.x, a.y + b.y); }                                          \
  WL_FN C cuCsub##f(C a, C b) { return make(a.x - b.x, a.y - b.y); }                                          \
  WL_FN C cuCmul##f(C a, C b) { return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }                  \
  WL_FN R cuCabs##f(C z) { return hypot##suffix(z.x, z.y); }                                                  \
  WL_FN C cuCfma##f(C a, C b, C c) { return make(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x); } \
  /* The divisor is scaled by its magnitude, so that its square cannot leave the range. */                    \
  WL_FN C cuCdiv##f(C a, C b) {                                                                               \
    const R scale = 1 / (fabs##suffix(b.x) + fabs##suffix(b.y));                                              \
    const R ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                           \
    const R inverse = 1 / (bx * bx + by * by);                                                                \
    return make((ax * bx + ay * by) * inverse, (ay * bx - ax * by) * inverse);                                \
  }
WL_COMPLEX(f, cuFloatComplex, make_float2, float, f)
WL_COMPLEX(, cuDoubleComplex, make_double2, double, )
#undef WL_COMPLEX

WL_FN cuFloatComplex make_cuFloatComplex(float x, float y) { return make_float2(x, y); }
WL_FN cuComplex make_cuComplex(float x, float y) { return make_float2(x, y); }
WL_FN cuDoubleComplex make_cuDoubleComplex(double x, double y) { return make_double2(x, y); }
WL_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex c) { return make_double2((double)c.x, (double)c.y); }
WL_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex c) { return make_float2((float)c.x, (float)c.y); }
#undef WL_FN

#endif
