// SPDX-License-Identifier: Apache-2.0
// Warp functions, barriers, fences, special registers, address spaces, cache operators.
#include <cuda_pipeline.h>

#include <cassert>
#include <cstdio>

// PTX k_shuffle: shfl.sync.idx.b32
// PTX k_shuffle: shfl.sync.up.b32
// PTX k_shuffle: shfl.sync.down.b32
// PTX k_shuffle: shfl.sync.bfly.b32
extern "C" __global__ void k_shuffle(float* f, double* d, int* i, unsigned long long* u) {
  f[0] = __shfl_sync(~0u, f[1], 3) + __shfl_up_sync(~0u, f[2], 1) + __shfl_down_sync(~0u, f[3], 16, 16) +
         __shfl_xor_sync(~0u, f[4], 8);
  d[0] = __shfl_down_sync(~0u, d[1], 4);
  i[0] = __shfl_sync(~0u, i[1], 0);
  u[0] = __shfl_xor_sync(~0u, u[1], 1);
}
// PTX k_vote: vote.sync.ballot.b32
// PTX k_vote: vote.sync.all.pred
// PTX k_vote: vote.sync.any.pred
// PTX k_vote: match.any.sync.b32
// PTX k_vote: match.all.sync.b64
// PTX k_vote: activemask.b32
// PTX k_vote: redux.sync.add
extern "C" __global__ void k_vote(unsigned* o, const int* p, const long long* l) {
  int all;
  o[0] = __ballot_sync(~0u, p[0]) + __all_sync(~0u, p[1]) + __any_sync(~0u, p[2]) + __match_any_sync(~0u, p[3]) +
         __match_all_sync(~0u, l[4], &all) + all + __activemask() + __reduce_add_sync(~0u, (unsigned)p[5]);
}
// PTX k_barrier: bar.sync 0
// PTX k_barrier: bar.red.popc.u32
// PTX k_barrier: bar.red.and.pred
// PTX k_barrier: bar.red.or.pred
// PTX k_barrier: bar.warp.sync
// PTX k_barrier: membar.gl
// PTX k_barrier: membar.cta
// PTX k_barrier: membar.sys
extern "C" __global__ void k_barrier(int* o) {
  __syncthreads();
  o[0] = __syncthreads_count(o[1]) + __syncthreads_and(o[2]) + __syncthreads_or(o[3]);
  __syncwarp();
  __threadfence();
  o[4] = 1;
  __threadfence_block();
  o[5] = 2;
  __threadfence_system();
}
// PTX k_registers: %clock
// PTX k_registers: %clock64
// PTX k_registers: nanosleep.u32
// PTX k_registers: cp.async.ca.shared.global
// PTX k_registers: cp.async.wait_group 1
extern "C" __global__ void k_registers(long long* o) {
  o[0] = clock();
  o[1] = clock64();
  __shared__ long long s[32];
  __pipeline_memcpy_async(s + threadIdx.x, o + threadIdx.x, 8);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  o[2] = s[threadIdx.x];
  __nanosleep(100);
}
// PTX k_hints: ld.global.ca.f32
// PTX k_hints: ld.global.cg.u32
// PTX k_hints: ld.global.cs.v4.f32
// PTX k_hints: ld.global.nc.f32
// PTX k_hints: st.global.cs.v4.f32
// PTX k_hints: st.global.wt.f32
extern "C" __global__ void k_hints(float* f, const float* g, unsigned* u, const float4* v, float4* w) {
  f[0] = __ldca(g) + __ldg(g + 1);
  u[0] = __ldcg(u + 1);
  __stcs(w, __ldcs(v));
  __stwt(f + 2, 1.0f);
}
// PTX k_spaces: cvta.to.shared
// PTX k_spaces: isspacep.global
extern "C" __global__ void k_spaces(unsigned* o, void* p) {
  extern __shared__ unsigned s[];
  o[0] = (unsigned)__cvta_generic_to_shared(p) + s[threadIdx.x];
  o[1] = __isGlobal(p);
}
// PTX k_dims: %tid.x
// PTX k_dims: %nctaid.z
extern "C" __global__ void k_dims(uint3* a, dim3* d) {
  *a = threadIdx;
  *d = gridDim;
  d[1] = blockDim;
  d[2] = dim3(blockIdx.x, warpSize);
}
// PTX k_print: vprintf
// PTX k_print: __assertfail
extern "C" __global__ void k_print(const char* s, int n) {
  printf("%s %d %f\n", s, n, 1.5);
  assert(n > 3);
}
// PTX k_heap: malloc
// PTX k_heap: free
extern "C" __global__ void k_heap(int n) {
  int** p = (int**)malloc(n);
  *p = new int[n];
  free(*(int* volatile*)p);
  delete[] p;
}
// PTX k_bounds: .maxntid 128
// PTX k_bounds: .minnctapersm 4
extern "C" __global__ void __launch_bounds__(128, 4) k_bounds(float* p) { p[threadIdx.x] = 0; }
int main() {}
