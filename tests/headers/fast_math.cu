// SPDX-License-Identifier: Apache-2.0
// OPTIONS: -use_fast_math
// PTX k_sqrtf: sqrt.approx.ftz.f32
extern "C" __global__ void k_sqrtf(float* o, float a) { o[0] = sqrtf(a); }
// PTX k_divide: div.approx.ftz.f32
extern "C" __global__ void k_divide(float* o, float a, float b) { o[0] = a / b; }
// PTX k_sinf: sin.approx
extern "C" __global__ void k_sinf(float* o, float a) { o[0] = sinf(a); }
// PTX k_add: add.ftz.f32
extern "C" __global__ void k_add(float* o, float a, float b) { o[0] = a + b; }
// PTX k_powf: lg2.approx
// PTX-NOT k_powf: call
extern "C" __global__ void k_powf(float* o, float a, float b) { o[0] = __powf(a, b); }
