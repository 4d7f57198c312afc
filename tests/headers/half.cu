// SPDX-License-Identifier: Apache-2.0
// 16-bit formats: the instructions of nvcc 13.0, and what programs do with them on the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define HALF(name, T, e) \
  extern "C" __global__ void name(T* o, const T* p) { T a = p[0], b = p[1], c = p[2]; o[0] = e; (void)b, (void)c; }
// PTX k_hadd: add.f16
HALF(k_hadd, __half, __hadd(a, b))
// PTX k_hadd2: add.f16x2
HALF(k_hadd2, half2, __hadd2(a, b))
// PTX k_hfma2: fma.rn.f16x2
HALF(k_hfma2, __half2, __hfma2(a, b, c))
// Operators do not contract, as in nvcc.
// PTX k_operators: mul.f16
// PTX k_operators: add.f16
HALF(k_operators, half, a* b + c)
// PTX k_max: max.f16
HALF(k_max, half, __hmax(a, b))
// PTX k_neg: neg.f16
HALF(k_neg, half, -a)
// PTX k_less: setp.lt.f16
HALF(k_less, half, a < b ? a : b)
// PTX k_relu: fma.rn.relu.f16
HALF(k_relu, half, __hfma_relu(a, b, c))
// PTX k_sqrt: cvt.f32.f16
// PTX k_sqrt: cvt.rn.f16.f32
HALF(k_sqrt, half, hsqrt(a))
// PTX k_exp: ex2.approx
HALF(k_exp, half, hexp(a))
// PTX k_badd: add.bf16
HALF(k_badd, __nv_bfloat16, a + b)
// PTX k_bfma2: fma.rn.bf16x2
HALF(k_bfma2, __nv_bfloat162, __hfma2(a, b, c))
// PTX k_convert: cvt.rn.f16.f32
// PTX k_convert: cvt.rn.bf16.f32
extern "C" __global__ void k_convert(float* f, half* h, __nv_bfloat16* b, half2* h2) {
  h[0] = __float2half(f[0]);
  f[1] = __half2float(h[1]);
  h2[0] = __floats2half2_rn(f[2], f[3]);
  const float2 pair = __half22float2(h2[1]);
  f[4] = pair.x + pair.y + __low2float(h2[2]);
  b[0] = __float2bfloat16(f[5]);
  f[6] = __bfloat162float(b[1]);
  h[2] = __int2half_rn((int)f[7]);
}
// PTX k_device: atom.add.noftz.f16x2
// PTX k_device: shfl.sync.down.b32
// PTX k_device: ld.global.nc
extern "C" __global__ void k_device(half* h, half2* h2) {
  atomicAdd(h2, h2[1]);
  atomicAdd(h, h[1]);
  h[2] = __shfl_down_sync(~0u, h[3], 1);
  h2[2] = __shfl_xor_sync(~0u, h2[3], 1);
  h[4] = __ldg(h + 5);
}
int main() {
  half h = __float2half(1.5f);
  half2 p(h, half(2));
  h += p.y;
  __nv_bfloat16 b = 3.0f;
  return (float)h == 3.5f && __half2float(p.x) == 1.5f && (float)(b * b) == 9.0f ? 0 : 1;
}
