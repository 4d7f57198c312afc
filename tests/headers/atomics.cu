// SPDX-License-Identifier: Apache-2.0
// Atomics name their address space and type.
// PTX k_global: atom.global.add.u32
// PTX k_global: atom.global.add.f32
// PTX k_global: atom.global.add.f64
// PTX k_global: atom.global.add.u64
// PTX k_global: atom.global.min.s32
// PTX k_global: atom.global.max.u32
// PTX k_global: atom.inc.u32
// PTX k_global: atom.global.cas.b32
// PTX k_global: atom.global.exch.b32
// PTX k_global: atom.global.and.b32
extern "C" __global__ void k_global(int* i, unsigned* u, float* f, double* d, unsigned long long* l) {
  *i = atomicAdd(i, 1) + atomicSub(i + 1, 2) + atomicMin(i + 2, 3) + atomicMax(i + 3, 4) + atomicCAS(i + 4, 5, 6) +
       atomicExch(i + 5, 7) + atomicAnd(i + 6, 8) + atomicOr(i + 7, 9) + atomicXor(i + 8, 10);
  *u = atomicAdd(u, 1u) + atomicInc(u + 1, 10u) + atomicDec(u + 2, 10u) + atomicMax(u + 3, 3u) + atomicMin(u + 4, 3u);
  *f = atomicAdd(f, 1.0f) + atomicExch(f + 1, 2.0f);
  *d = atomicAdd(d, 1.0);
  *l = atomicAdd(l, 1ull) + atomicCAS(l + 1, 2ull, 3ull) + atomicExch(l + 2, 4ull) + atomicMax(l + 3, 5ull);
}
// PTX k_shared: atom.shared.add.u32
// PTX k_shared: atom.shared.add.f32
extern "C" __global__ void k_shared(int* out) {
  __shared__ int i[32];
  __shared__ float f[32];
  i[threadIdx.x] = 0, f[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&i[threadIdx.x & 3], 1);
  atomicAdd(&f[threadIdx.x & 3], 1.0f);
  __syncthreads();
  out[threadIdx.x] = i[threadIdx.x] + (int)f[threadIdx.x];
}
// PTX k_scopes: cta
// PTX k_scopes: sys
extern "C" __global__ void k_scopes(int* i, unsigned long long* l, float* f) {
  *i = atomicAdd_block(i, 1) + atomicAdd_system(i + 1, 1) + atomicCAS_system(i + 2, 0, 1) + atomicMax_block(i + 3, 1);
  *l = atomicAdd_system(l, 1ull) + atomicExch_block(l + 1, 1ull);
  *f = atomicAdd_block(f, 1.0f) + atomicExch_system(f + 1, 1.0f);
}
// PTX k_unsigned: atom.cta.min.u32
// PTX k_unsigned: atom.sys.max.u64
// PTX-NOT k_unsigned: .s32
// PTX-NOT k_unsigned: .s64
extern "C" __global__ void k_unsigned(unsigned* u, unsigned long long* l) {
  atomicMin_block(u, 3u);
  atomicMax_block(u, 3u);
  atomicMin_system(l, 3ull);
  atomicMax_system(l, 3ull);
}
// An unused float minimum by compare and swap, as programs write it.
// PTX k_loop: atom.global.cas.b32
extern "C" __global__ void k_loop(float* p, float v) {
  int* bits = (int*)p;
  int seen = *bits, expected;
  do {
    expected = seen;
    seen = atomicCAS(bits, expected, __float_as_int(fminf(v, __int_as_float(expected))));
  } while (seen != expected);
}
int main() {}
