// SPDX-License-Identifier: Apache-2.0
// Host sides of CUDA's mathematical functions that no C library has. In double arithmetic they lose at most the last
// bit or two; the float forms are computed in double and rounded once.
#ifndef WARPLENS_CUDA_HOST_MATH_H
#define WARPLENS_CUDA_HOST_MATH_H
#include <math.h>

#define WL_HOST static inline __attribute__((unused))
WL_HOST double rsqrt(double a) { return 1.0 / ::sqrt(a); }
WL_HOST float rsqrtf(float a) { return (float)(1.0 / ::sqrt((double)a)); }
WL_HOST double rcbrt(double a) { return 1.0 / ::cbrt(a); }
WL_HOST float rcbrtf(float a) { return (float)(1.0 / ::cbrt((double)a)); }
WL_HOST double rhypot(double a, double b) { return 1.0 / ::hypot(a, b); }
WL_HOST float rhypotf(float a, float b) { return (float)(1.0 / ::hypot((double)a, (double)b)); }
WL_HOST double norm3d(double a, double b, double c) { return ::hypot(::hypot(a, b), c); }
WL_HOST float norm3df(float a, float b, float c) { return (float)norm3d(a, b, c); }
WL_HOST double norm4d(double a, double b, double c, double d) { return ::hypot(::hypot(a, b), ::hypot(c, d)); }
WL_HOST float norm4df(float a, float b, float c, float d) { return (float)norm4d(a, b, c, d); }
// sin and cos of pi a: reduce first, so that whole and half numbers are exact.
WL_HOST double sinpi(double a) {
  const double r = ::remainder(a, 2.0);
  if (::fabs(r) > 0.5) return ::sin(M_PI * (r > 0 ? 1.0 - r : -1.0 - r));
  return ::sin(M_PI * r);
}
WL_HOST double cospi(double a) {
  const double r = ::fabs(::remainder(a, 2.0));
  return r <= 0.25 ? ::cos(M_PI * r) : ::sin(M_PI * (0.5 - r));
}
WL_HOST float sinpif(float a) { return (float)sinpi((double)a); }
WL_HOST float cospif(float a) { return (float)cospi((double)a); }
WL_HOST void sincospi(double a, double* s, double* c) { *s = sinpi(a), *c = cospi(a); }
WL_HOST void sincospif(float a, float* s, float* c) { *s = sinpif(a), *c = cospif(a); }
WL_HOST double normcdf(double a) { return 0.5 * ::erfc(-a * M_SQRT1_2); }
WL_HOST float normcdff(float a) { return (float)normcdf((double)a); }
WL_HOST double fdivide(double a, double b) { return a / b; }
WL_HOST float fdividef(float a, float b) { return a / b; }
WL_HOST float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
WL_HOST unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
WL_HOST unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
WL_HOST long long llmin(long long a, long long b) { return a < b ? a : b; }
WL_HOST long long llmax(long long a, long long b) { return a > b ? a : b; }
WL_HOST unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
WL_HOST unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
WL_HOST float rsqrt(float a) { return rsqrtf(a); }
WL_HOST float rcbrt(float a) { return rcbrtf(a); }
WL_HOST float sinpi(float a) { return sinpif(a); }
WL_HOST float cospi(float a) { return cospif(a); }
WL_HOST void sincospi(float a, float* s, float* c) { sincospif(a, s, c); }
WL_HOST float normcdf(float a) { return normcdff(a); }
#undef WL_HOST

#endif
