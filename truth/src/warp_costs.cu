// SPDX-License-Identifier: Apache-2.0
// What one warp instruction costs, by which lanes go where: each probe is a launch of one warp that executes one
// instruction kReps times, with lanes at the places of a pattern. The instructions are written as PTX so that the
// compiler neither merges nor drops them (where an atomic's result is not used, all but the last become reductions).
//
//   warp_costs GROUP list|run     GROUP: global global_more shared shared_atomics shared_more matrix async cluster
//                                 cluster_atomics generic local constant uniform uniform_more, or all
//   ncu --csv --page raw --cache-control none --metrics ... warp_costs GROUP run
//
// truth/h200/warps_GROUP.csv (of global: warps_global_atomics.csv) holds the counters' sums, in order. Kernels that use
// shared memory fill it first: 384 stores.
#include "warp_probe.h"

#define GLOBAL(NAME, BYTES, BODY)                                                 \
  __global__ void NAME(const unsigned* map, char* mem, unsigned mask, int reps) { \
    unsigned l = threadIdx.x;                                                     \
    char* p = mem + size_t(map[l]) * BYTES;                                       \
    unsigned v = l + 1;                                                           \
    unsigned long long w = l + 1;                                                 \
    unsigned r = 0;                                                               \
    unsigned long long q = 0;                                                     \
    float f = 1.0f;                                                               \
    double d = 1.0;                                                               \
    float rf = 0;                                                                 \
    double rd = 0;                                                                \
    if (mask >> l & 1)                                                            \
      for (int i = 0; i < reps; ++i) {                                            \
        BODY;                                                                     \
      }                                                                           \
    if (r == 0x12345 || q == 0x1234567 || rf == 1e30f || rd == 1e300) mem[l] = 1; \
    (void)v;                                                                      \
    (void)w;                                                                      \
    (void)f;                                                                      \
    (void)d;                                                                      \
  }
#define SHARED(NAME, BYTES, BODY)                                                 \
  __global__ void NAME(const unsigned* map, char* mem, unsigned mask, int reps) { \
    extern __shared__ char raw[];                                                 \
    for (int i = threadIdx.x; i < 12288; i += 32) ((unsigned*)raw)[i] = 0;        \
    __syncwarp();                                                                 \
    unsigned l = threadIdx.x;                                                     \
    unsigned p = (unsigned)__cvta_generic_to_shared(raw) + map[l] * BYTES;        \
    unsigned v = l + 1;                                                           \
    unsigned long long w = l + 1;                                                 \
    unsigned r = 0;                                                               \
    unsigned long long q = 0;                                                     \
    float f = 1.0f;                                                               \
    double d = 1.0;                                                               \
    float rf = 0;                                                                 \
    double rd = 0;                                                                \
    if (mask >> l & 1)                                                            \
      for (int i = 0; i < reps; ++i) {                                            \
        BODY;                                                                     \
      }                                                                           \
    if (r == 0x12345 || q == 0x1234567 || rf == 1e30f || rd == 1e300) mem[l] = 1; \
    (void)v;                                                                      \
    (void)w;                                                                      \
    (void)f;                                                                      \
    (void)d;                                                                      \
  }
GLOBAL(g_red_add_u32, 4, A("red.global.add.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"))
GLOBAL(g_red_add_f32, 4, A("red.global.add.f32 [%0], %1;" ::"l"(p), "f"(f) : "memory"))
GLOBAL(g_red_add_u64, 8, A("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(w) : "memory"))
GLOBAL(g_red_add_f64, 8, A("red.global.add.f64 [%0], %1;" ::"l"(p), "d"(d) : "memory"))
GLOBAL(g_red_max_s32, 4, A("red.global.max.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"))
GLOBAL(g_red_and_b32, 4, A("red.global.and.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory"))
GLOBAL(g_red_add_f16x2, 4, A("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(p), "r"(v) : "memory"))
GLOBAL(g_atom_add_u32, 4, A("atom.global.add.u32 %0, [%1], %2;" : "+r"(r) : "l"(p), "r"(v) : "memory"))
GLOBAL(g_atom_add_f32, 4, A("atom.global.add.f32 %0, [%1], %2;" : "+f"(rf) : "l"(p), "f"(f) : "memory"))
GLOBAL(g_atom_add_u64, 8, A("atom.global.add.u64 %0, [%1], %2;" : "+l"(q) : "l"(p), "l"(w) : "memory"))
GLOBAL(g_atom_add_f64, 8, A("atom.global.add.f64 %0, [%1], %2;" : "+d"(rd) : "l"(p), "d"(d) : "memory"))
GLOBAL(g_atom_exch_b32, 4, A("atom.global.exch.b32 %0, [%1], %2;" : "+r"(r) : "l"(p), "r"(v) : "memory"))
GLOBAL(g_atom_cas_b32, 4, A("atom.global.cas.b32 %0, [%1], %2, %3;" : "+r"(r) : "l"(p), "r"(v), "r"(i) : "memory"))
GLOBAL(g_atom_cas_b64, 8,
       A("atom.global.cas.b64 %0, [%1], %2, %3;" : "+l"(q) : "l"(p), "l"(w), "l"((unsigned long long)i) : "memory"))
GLOBAL(g_atom_max_s32, 4, A("atom.global.max.s32 %0, [%1], %2;" : "+r"(r) : "l"(p), "r"(v) : "memory"))
SHARED(s_atom_add_u32, 4, A("atom.shared.add.u32 %0, [%1], %2;" : "+r"(r) : "r"(p), "r"(v) : "memory"))
SHARED(s_atom_add_one, 4, A("atom.shared.add.u32 %0, [%1], 1;" : "+r"(r) : "r"(p) : "memory"))
SHARED(s_red_add_u32, 4, A("red.shared.add.u32 [%0], %1;" ::"r"(p), "r"(v) : "memory"))
SHARED(s_red_add_one, 4, A("red.shared.add.u32 [%0], 1;" ::"r"(p) : "memory"))
SHARED(s_atom_add_f32, 4, A("atom.shared.add.f32 %0, [%1], %2;" : "+f"(rf) : "r"(p), "f"(f) : "memory"))
SHARED(s_atom_add_u64, 8, A("atom.shared.add.u64 %0, [%1], %2;" : "+l"(q) : "r"(p), "l"(w) : "memory"))
SHARED(s_atom_exch_b32, 4, A("atom.shared.exch.b32 %0, [%1], %2;" : "+r"(r) : "r"(p), "r"(v) : "memory"))
SHARED(s_atom_cas_b32, 4, A("atom.shared.cas.b32 %0, [%1], %2, %3;" : "+r"(r) : "r"(p), "r"(v), "r"(i) : "memory"))
SHARED(s_atom_cas_b64, 8,
       A("atom.shared.cas.b64 %0, [%1], %2, %3;" : "+l"(q) : "r"(p), "l"(w), "l"((unsigned long long)i) : "memory"))
SHARED(s_atom_max_s32, 4, A("atom.shared.max.s32 %0, [%1], %2;" : "+r"(r) : "r"(p), "r"(v) : "memory"))
SHARED(s_atom_inc_u32, 4, A("atom.shared.inc.u32 %0, [%1], %2;" : "+r"(r) : "r"(p), "r"(v) : "memory"))
// What ptxas makes of the other forms.
GLOBAL(g_red_xor_b32, 4, A("red.global.xor.b32 [%0], %1;" ::"l"(p), "r"(v) : "memory"))
GLOBAL(g_red_inc_u32, 4, A("red.global.inc.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory"))
GLOBAL(g_red_min_u64, 8, A("red.global.min.u64 [%0], %1;" ::"l"(p), "l"(w) : "memory"))
GLOBAL(g_red_add_bf16x2, 4, A("red.global.add.noftz.bf16x2 [%0], %1;" ::"l"(p), "r"(v) : "memory"))
GLOBAL(g_atom_xor_b32, 4, A("atom.global.xor.b32 %0, [%1], %2;" : "+r"(r) : "l"(p), "r"(v) : "memory"))
GLOBAL(g_atom_dec_u32, 4, A("atom.global.dec.u32 %0, [%1], %2;" : "+r"(r) : "l"(p), "r"(v) : "memory"))
GLOBAL(g_atom_max_u64, 8, A("atom.global.max.u64 %0, [%1], %2;" : "+l"(q) : "l"(p), "l"(w) : "memory"))
GLOBAL(g_atom_exch_b64, 8, A("atom.global.exch.b64 %0, [%1], %2;" : "+l"(q) : "l"(p), "l"(w) : "memory"))
GLOBAL(g_atom_add_f16x2, 4, A("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "+r"(r) : "l"(p), "r"(v) : "memory"))
SHARED(s_red_add_f32, 4, A("red.shared.add.f32 [%0], %1;" ::"r"(p), "f"(f) : "memory"))
SHARED(s_red_add_f64, 8, A("red.shared.add.f64 [%0], %1;" ::"r"(p), "d"(d) : "memory"))
SHARED(s_red_add_u64, 8, A("red.shared.add.u64 [%0], %1;" ::"r"(p), "l"(w) : "memory"))
SHARED(s_red_add_f16x2, 4, A("red.shared.add.noftz.f16x2 [%0], %1;" ::"r"(p), "r"(0x3c003c00) : "memory"))
SHARED(s_red_xor_b32, 4, A("red.shared.xor.b32 [%0], %1;" ::"r"(p), "r"(v) : "memory"))
SHARED(s_red_or_b32, 4, A("red.shared.or.b32 [%0], %1;" ::"r"(p), "r"(v) : "memory"))
SHARED(s_red_min_u32, 4, A("red.shared.min.u32 [%0], %1;" ::"r"(p), "r"(v) : "memory"))
SHARED(s_red_inc_u32, 4, A("red.shared.inc.u32 [%0], %1;" ::"r"(p), "r"(v) : "memory"))
SHARED(s_red_dec_u32, 4, A("red.shared.dec.u32 [%0], %1;" ::"r"(p), "r"(v) : "memory"))
SHARED(s_red_add_two, 4, A("red.shared.add.u32 [%0], 2;" ::"r"(p) : "memory"))
SHARED(s_red_add_minus_one, 4, A("red.shared.add.u32 [%0], -1;" ::"r"(p) : "memory"))
SHARED(s_atom_exch_b64, 8, A("atom.shared.exch.b64 %0, [%1], %2;" : "+l"(q) : "r"(p), "l"(w) : "memory"))
SHARED(s_atom_max_u64, 8, A("atom.shared.max.u64 %0, [%1], %2;" : "+l"(q) : "r"(p), "l"(w) : "memory"))
SHARED(s_atom_xor_b64, 8, A("atom.shared.xor.b64 %0, [%1], %2;" : "+l"(q) : "r"(p), "l"(w) : "memory"))
SHARED(s_ld_b32, 4, unsigned x; A("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(p) : "memory"); r ^= x)
SHARED(s_ld_b64, 8, unsigned long long x; A("ld.shared.b64 %0, [%1];" : "=l"(x) : "r"(p) : "memory"); q ^= x)
SHARED(s_ld_v2, 8, unsigned x; unsigned y; A("ld.shared.v2.b32 {%0,%1}, [%2];" : "=r"(x), "=r"(y) : "r"(p) : "memory");
       r ^= x ^ y)
SHARED(s_ld_v4, 16, unsigned x; unsigned y; unsigned z; unsigned u;
       A("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(u) : "r"(p) : "memory");
       r ^= x ^ y ^ z ^ u)
SHARED(s_ld_u8, 1, unsigned x; A("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(p) : "memory"); r ^= x)
SHARED(s_ld_u16, 2, unsigned x; A("ld.shared.u16 %0, [%1];" : "=r"(x) : "r"(p) : "memory"); r ^= x)
SHARED(s_st_v2, 8, A("st.shared.v2.b32 [%0], {%1,%1};" ::"r"(p), "r"(v) : "memory"))
SHARED(s_st_v4, 16, A("st.shared.v4.b32 [%0], {%1,%1,%1,%1};" ::"r"(p), "r"(v) : "memory"))
SHARED(s_st_b32, 4, A("st.shared.b32 [%0], %1;" ::"r"(p), "r"(v) : "memory"))
SHARED(s_st_u8, 1, A("st.shared.u8 [%0], %1;" ::"r"(p), "r"(v) : "memory"))
SHARED(m_x1, 16, unsigned x; A("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(p) : "memory");
       r ^= x)
SHARED(m_x2, 16, unsigned x; unsigned y;
       A("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(x), "=r"(y) : "r"(p) : "memory"); r ^= x ^ y)
SHARED(m_x4, 16, unsigned x; unsigned y; unsigned z; unsigned u;
       A("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x), "=r"(y), "=r"(z),
         "=r"(u) : "r"(p) : "memory");
       r ^= x ^ y ^ z ^ u)
SHARED(m_x1t, 16, unsigned x;
       A("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(x) : "r"(p) : "memory"); r ^= x)
SHARED(m_x2t, 16, unsigned x; unsigned y;
       A("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];" : "=r"(x), "=r"(y) : "r"(p) : "memory");
       r ^= x ^ y)
SHARED(m_x4t, 16, unsigned x; unsigned y; unsigned z; unsigned u;
       A("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x), "=r"(y), "=r"(z),
         "=r"(u) : "r"(p) : "memory");
       r ^= x ^ y ^ z ^ u)
SHARED(m_st1, 16, A("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(p), "r"(v) : "memory"))
SHARED(m_st2, 16, A("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%1};" ::"r"(p), "r"(v) : "memory"))
SHARED(m_st4, 16, A("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(p), "r"(v) : "memory"))
SHARED(m_st4t, 16, A("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%1,%1,%1};" ::"r"(p), "r"(v) : "memory"))
template <int B>
__global__ void cp_async(const unsigned* map, const char* mem, unsigned mask, int reps, int shared_step) {
  extern __shared__ __align__(16) char raw[];
  unsigned l = threadIdx.x;
  const char* g = mem + size_t(map[l]) * B;
  unsigned s = (unsigned)__cvta_generic_to_shared(raw) + l * shared_step;
  if (mask >> l & 1)
    for (int i = 0; i < reps; ++i) {
      if (B == 16)
        A("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(g) : "memory");
      else
        A("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(s), "l"(g), "n"(B) : "memory");
    }
  A("cp.async.wait_all;");
}
template <int B>
__global__ void cp_async_ca16(const unsigned* map, const char* mem, unsigned mask, int reps, int shared_step) {
  extern __shared__ __align__(16) char raw[];
  unsigned l = threadIdx.x;
  const char* g = mem + size_t(map[l]) * 16;
  unsigned s = (unsigned)__cvta_generic_to_shared(raw) + l * shared_step;
  if (mask >> l & 1)
    for (int i = 0; i < reps; ++i) A("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(s), "l"(g) : "memory");
  A("cp.async.wait_all;");
}
template <int W>
__global__ void __cluster_dims__(2) dsm_ld(const unsigned* map, char* mem, unsigned mask, int reps, int remote) {
  extern __shared__ char raw[];
  for (int i = threadIdx.x; i < 8192; i += 32) ((unsigned*)raw)[i] = i;
  A("barrier.cluster.arrive; barrier.cluster.wait;");
  unsigned rank;
  A("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  unsigned l = threadIdx.x;
  unsigned p = (unsigned)__cvta_generic_to_shared(raw) + map[l] * W;
  unsigned at;
  A("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(p), "r"(remote ? rank ^ 1 : rank));
  unsigned r = 0;
  if (rank == 0 && (mask >> l & 1))
    for (int i = 0; i < reps; ++i) {
      if (W == 4) {
        unsigned x;
        A("ld.shared::cluster.b32 %0, [%1];" : "=r"(x) : "r"(at) : "memory");
        r ^= x;
      } else {
        unsigned x, y, z, u;
        A("ld.shared::cluster.v4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(u) : "r"(at) : "memory");
        r ^= x ^ y ^ z ^ u;
      }
    }
  A("barrier.cluster.arrive; barrier.cluster.wait;");
  if (r == 0x12345) mem[l] = 1;
}
template <int W>
__global__ void __cluster_dims__(2) dsm_st(const unsigned* map, char* mem, unsigned mask, int reps, int remote) {
  extern __shared__ char raw[];
  A("barrier.cluster.arrive; barrier.cluster.wait;");
  unsigned rank;
  A("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  unsigned l = threadIdx.x;
  unsigned p = (unsigned)__cvta_generic_to_shared(raw) + map[l] * W;
  unsigned at;
  A("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(p), "r"(remote ? rank ^ 1 : rank));
  if (rank == 0 && (mask >> l & 1))
    for (int i = 0; i < reps; ++i) {
      if (W == 4)
        A("st.shared::cluster.b32 [%0], %1;" ::"r"(at), "r"(l) : "memory");
      else
        A("st.shared::cluster.v4.b32 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(l) : "memory");
    }
  A("barrier.cluster.arrive; barrier.cluster.wait;");
}
__constant__ unsigned table_c[16384];
__global__ void const_ld(const unsigned* map, char* mem, unsigned mask, int reps) {
  unsigned l = threadIdx.x, r = 0;
  unsigned at = map[l] * 4;
  if (mask >> l & 1)
    for (int i = 0; i < reps; ++i) {
      unsigned x;
      A("{.reg .u64 a, b; mov.u64 a, table_c; cvta.const.u64 b, a; cvta.to.const.u64 a, b; cvt.u64.u32 b, %1; add.u64 "
        "a, a, b; ld.const.u32 %0, [a];}" : "=r"(x) : "r"(at) : "memory");
      r ^= x;
    }
  if (r == 0x12345) mem[l] = 1;
}
template <int W>
__global__ void const_wide(const unsigned* map, char* mem, unsigned mask, int reps) {
  unsigned l = threadIdx.x, r = 0;
  unsigned at = map[l] * W;
  if (mask >> l & 1)
    for (int i = 0; i < reps; ++i) {
      const char* p = (const char*)table_c + at;
      if (W == 1) r ^= *(const volatile unsigned char*)p;
      if (W == 8) r ^= unsigned(*(const volatile unsigned long long*)p);
      if (W == 16) {
        unsigned x, y, z, u;
        A("{.reg .u64 a; cvta.to.const.u64 a, %4; ld.const.v4.u32 {%0,%1,%2,%3}, [a];}" : "=r"(x), "=r"(y), "=r"(z),
          "=r"(u) : "l"(p) : "memory");
        r ^= x ^ y ^ z ^ u;
      }
    }
  if (r == 0x12345) mem[l] = 1;
}
template <int W>
__global__ void local_rw(const unsigned* map, char* mem, unsigned mask, int reps) {
  struct alignas(16) T {
    unsigned a[256];
  } t;
  for (int i = 0; i < 256; ++i) t.a[i] = i * reps;
  unsigned l = threadIdx.x, r = 0;
  volatile unsigned* p = t.a + map[l] % 256 / W * W;
  if (mask >> l & 1)
    for (int i = 0; i < reps; ++i) {
      if (W == 1) {
        unsigned x;
        A("ld.local.b32 %0, [%1];" : "=r"(x) : "l"((unsigned long long)__cvta_generic_to_local((void*)p)) : "memory");
        r ^= x;
        A("st.local.b32 [%0], %1;" ::"l"((unsigned long long)__cvta_generic_to_local((void*)p)), "r"(r) : "memory");
      } else {
        unsigned x, y, z, u;
        A("ld.local.v4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(x), "=r"(y), "=r"(z),
          "=r"(u) : "l"((unsigned long long)__cvta_generic_to_local((void*)p)) : "memory");
        r ^= x ^ y ^ z ^ u;
        A("st.local.v4.b32 [%0], {%1,%1,%1,%1};" ::"l"((unsigned long long)__cvta_generic_to_local((void*)p)),
          "r"(r) : "memory");
      }
    }
  for (int i = 0; i < 256; ++i) r ^= t.a[i];
  if (r == 0x12345) mem[l] = 1;
}

// One address for all lanes, which the compiler can see: one execution, `n` is the same for all lanes.
#define UNIFORM(NAME, BODY)                                                                 \
  __global__ void NAME(unsigned* at, unsigned mask, int n, unsigned* out, unsigned* zero) { \
    const unsigned l = threadIdx.x;                                                         \
    if (mask >> l & 1) {                                                                    \
      BODY;                                                                                 \
    }                                                                                       \
  }
#define UNIFORM_SHARED(NAME, BODY)                                                       \
  __global__ void NAME(unsigned*, unsigned mask, int n, unsigned* out, unsigned* zero) { \
    __shared__ __align__(16) unsigned at[64];                                            \
    const unsigned l = threadIdx.x;                                                      \
    at[l] = at[l + 32] = 0;                                                              \
    __syncwarp();                                                                        \
    if (mask >> l & 1) {                                                                 \
      BODY;                                                                              \
    }                                                                                    \
    __syncwarp();                                                                        \
    out[l + 32] = at[l];                                                                 \
  }
#define EACH_UNIFORM(F, X)                                                         \
  F(X##_add_one, atomicAdd(at, 1u))                                                \
  F(X##_add_same, atomicAdd(at, unsigned(n)))                                      \
  F(X##_add_lane, atomicAdd(at, l))                                                \
  F(X##_add_one_used, out[l] = atomicAdd(at, 1u))                                  \
  F(X##_add_same_used, out[l] = atomicAdd(at, unsigned(n)))                        \
  F(X##_add_lane_used, out[l] = atomicAdd(at, l))                                  \
  F(X##_sub_one, atomicSub(at, 1u))                                                \
  F(X##_add_f32, atomicAdd((float*)at, 1.0f))                                      \
  F(X##_add_f32_used, out[l] = unsigned(atomicAdd((float*)at, 1.0f)))              \
  F(X##_add_u64, atomicAdd((unsigned long long*)at, 1ull))                         \
  F(X##_add_u64_used, out[l] = unsigned(atomicAdd((unsigned long long*)at, 1ull))) \
  F(X##_max_lane, atomicMax((int*)at, int(l)))                                     \
  F(X##_min_lane, atomicMin(at, l))                                                \
  F(X##_max_same, atomicMax((int*)at, n))                                          \
  F(X##_max_lane_used, out[l] = atomicMax(at, l))                                  \
  F(X##_and_lane, atomicAnd(at, l))                                                \
  F(X##_or_lane, atomicOr(at, l))                                                  \
  F(X##_xor_lane, atomicXor(at, l))                                                \
  F(X##_or_same_used, out[l] = atomicOr(at, unsigned(n)))                          \
  F(X##_inc, atomicInc(at, unsigned(n)))                                           \
  F(X##_exch_used, out[l] = atomicExch(at, l))                                     \
  F(X##_exch, atomicExch(at, l))                                                   \
  F(X##_cas_used, out[l] = atomicCAS(at, unsigned(n), l))                          \
  F(X##_cas, atomicCAS(at, unsigned(n), l))                                        \
  F(X##_loop_one, for (int i = 0; i < n; ++i) atomicAdd(at, 1u))                   \
  F(X##_by_block_one, atomicAdd(at + blockIdx.x, 1u))                              \
  F(X##_by_block_one_used, out[l] = atomicAdd(at + blockIdx.x, 1u))                \
  F(X##_loaded_one, atomicAdd(at + *zero, 1u))                                     \
  F(X##_loaded_one_used, out[l] = atomicAdd(at + *zero, 1u))                       \
  F(X##_by_warp_one, atomicAdd(at + threadIdx.x / 32, 1u))                         \
  F(X##_by_warp_one_used, out[l] = atomicAdd(at + threadIdx.x / 32, 1u))           \
  F(X##_by_lane_one_used, out[l] = atomicAdd(at + l % 2, 1u))                      \
  F(X##_by_lane_used, out[l] = atomicAdd(at + l % 2, l))
EACH_UNIFORM(UNIFORM, u_global)
EACH_UNIFORM(UNIFORM_SHARED, u_shared)

// Operands that differ by lane, and wider ones.
#define MORE_UNIFORM(F, X)                                                                               \
  F(X##_add_loaded, atomicAdd(at, zero[l]))                                                              \
  F(X##_add_loaded_used, out[l] = atomicAdd(at, zero[l]))                                                \
  F(X##_add_linear_used, out[l] = atomicAdd(at, 3 * l + n))                                              \
  F(X##_add_u64_lane, atomicAdd((unsigned long long*)at, (unsigned long long)l))                         \
  F(X##_add_u64_lane_used, out[l] = unsigned(atomicAdd((unsigned long long*)at, (unsigned long long)l))) \
  F(X##_or_u64_lane, atomicOr((unsigned long long*)at, (unsigned long long)l))                           \
  F(X##_or_one_used, out[l] = atomicOr(at, 1u))                                                          \
  F(X##_xor_same, atomicXor(at, unsigned(n)))                                                            \
  F(X##_two_adds_used, { out[l] = atomicAdd(at, 1u) + atomicAdd(at + 1, 2u); })
MORE_UNIFORM(UNIFORM, u_global)
MORE_UNIFORM(UNIFORM_SHARED, u_shared)

// Addresses that only running tells the space of: shared memory, or global if `mask` says so.
#define GENERIC(NAME, BYTES, TYPE, BODY)                                                         \
  __global__ void NAME(const unsigned* map, char* mem, unsigned mask, int reps, int in_global) { \
    extern __shared__ char raw[];                                                                \
    for (int i = threadIdx.x; i < 12288; i += 32) ((unsigned*)raw)[i] = 0;                       \
    __syncwarp();                                                                                \
    const unsigned l = threadIdx.x;                                                              \
    TYPE* p = (TYPE*)((in_global ? mem : raw) + map[l] * BYTES);                                 \
    if (mask >> l & 1)                                                                           \
      for (int i = 0; i < reps; ++i) {                                                           \
        BODY;                                                                                    \
      }                                                                                          \
  }
GENERIC(gen_add_u32, 4, unsigned, atomicAdd(p, l + 1))
GENERIC(gen_add_f32, 4, float, atomicAdd(p, 1.0f))
GENERIC(gen_exch_b32, 4, unsigned, atomicExch(p, l))
GENERIC(gen_cas_b32, 4, unsigned, atomicCAS(p, l, l + 1))
GENERIC(gen_add_u64, 8, unsigned long long, atomicAdd(p, l + 1ull))
template <int OP>
__global__ void __cluster_dims__(2) dsm_atomic(const unsigned* map, char* mem, unsigned mask, int reps, int remote) {
  extern __shared__ char raw[];
  for (int i = threadIdx.x; i < 8192; i += 32) ((unsigned*)raw)[i] = 0;
  A("barrier.cluster.arrive; barrier.cluster.wait;");
  unsigned rank;
  A("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  unsigned l = threadIdx.x;
  unsigned p = (unsigned)__cvta_generic_to_shared(raw) + map[l] * 4;
  unsigned at;
  A("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(p), "r"(remote ? rank ^ 1 : rank));
  unsigned r = 0;
  if (rank == 0 && (mask >> l & 1))
    for (int i = 0; i < reps; ++i) {
      if (OP == 0) A("red.shared::cluster.add.u32 [%0], %1;" ::"r"(at), "r"(l + 1) : "memory");
      if (OP == 1) A("atom.shared::cluster.exch.b32 %0, [%1], %2;" : "=r"(r) : "r"(at), "r"(l + 1) : "memory");
      if (OP == 2) A("atom.shared::cluster.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "r"(at), "r"(l), "r"(i) : "memory");
      if (OP == 3) A("red.shared::cluster.add.f32 [%0], %1;" ::"r"(at), "f"(1.0f) : "memory");
    }
  A("barrier.cluster.arrive; barrier.cluster.wait;");
  if (r == 0x12345) mem[l] = 1;
}

template <typename K>
void add_uniform(const char* op, K kernel) {
  const std::pair<const char*, unsigned> masks[] = {
      {"all", ~0u}, {"low_half", 0xffff}, {"odd", 0xaaaaaaaa}, {"first", 1}};
  for (const auto& m : masks) {
    const unsigned mask = m.second;
    probes.push_back({std::string(op) + ":" + m.first, [=] {
                        CK(cudaMemset(mem_d, 0, 4096));
                        kernel<<<1, 32>>>((unsigned*)mem_d, mask, 3, (unsigned*)mem_d + 256, (unsigned*)mem_d + 512);
                        CK(cudaGetLastError());
                        CK(cudaDeviceSynchronize());
                      }});
  }
}
int main(int argc, char** argv) {
  std::string g = argv[1];
  const auto is = [&](const char* name) { return g == name || g == "all"; };
  begin();
#define G(n) add(#n, n, 0, true, 1)
#define S(n)                                                                       \
  CK(cudaFuncSetAttribute(n, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152)); \
  add(#n, n, 49152, true, 1)
  if (is("global")) {
    G(g_red_add_u32);
    G(g_red_add_f32);
    G(g_red_add_u64);
    G(g_red_add_f64);
    G(g_red_max_s32);
    G(g_red_and_b32);
    G(g_red_add_f16x2);
    G(g_atom_add_u32);
    G(g_atom_add_f32);
    G(g_atom_add_u64);
    G(g_atom_add_f64);
    G(g_atom_exch_b32);
    G(g_atom_cas_b32);
    G(g_atom_cas_b64);
    G(g_atom_max_s32);
  }
  if (is("shared_atomics")) {
    S(s_atom_add_u32);
    S(s_atom_add_one);
    S(s_red_add_u32);
    S(s_red_add_one);
    S(s_atom_add_f32);
    S(s_atom_add_u64);
    S(s_atom_exch_b32);
    S(s_atom_cas_b32);
    S(s_atom_cas_b64);
    S(s_atom_max_s32);
    S(s_atom_inc_u32);
  }
  if (is("shared")) {
    S(s_ld_b32);
    S(s_ld_b64);
    S(s_ld_v2);
    S(s_ld_v4);
    S(s_ld_u8);
    S(s_ld_u16);
    S(s_st_b32);
    S(s_st_v2);
    S(s_st_v4);
    S(s_st_u8);
  }
#define M(n)                                                                       \
  CK(cudaFuncSetAttribute(n, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152)); \
  add(#n, n, 49152, false, 1)
  if (is("matrix")) {
    M(m_x1);
    M(m_x2);
    M(m_x4);
    M(m_x1t);
    M(m_x2t);
    M(m_x4t);
    M(m_st1);
    M(m_st2);
    M(m_st4);
    M(m_st4t);
  }
#define GM(n) add(#n, n, 0, false, 1)
  if (is("global_more")) {
    GM(g_red_xor_b32);
    GM(g_red_inc_u32);
    GM(g_red_min_u64);
    GM(g_red_add_bf16x2);
    GM(g_atom_xor_b32);
    GM(g_atom_dec_u32);
    GM(g_atom_max_u64);
    GM(g_atom_exch_b64);
    GM(g_atom_add_f16x2);
  }
  if (is("shared_more")) {
    M(s_red_add_f32);
    M(s_red_add_f64);
    M(s_red_add_u64);
    M(s_red_add_f16x2);
    M(s_red_xor_b32);
    M(s_red_or_b32);
    M(s_red_min_u32);
    M(s_red_inc_u32);
    M(s_red_dec_u32);
    M(s_red_add_two);
    M(s_red_add_minus_one);
    M(s_atom_exch_b64);
    M(s_atom_max_u64);
    M(s_atom_xor_b64);
  }
#define U(n, ...) add_uniform(#n, n);
  if (is("uniform")) {
    EACH_UNIFORM(U, u_global)
    EACH_UNIFORM(U, u_shared)
  }
  if (is("uniform_more")) {
    MORE_UNIFORM(U, u_global)
    MORE_UNIFORM(U, u_shared)
  }
#define GEN(n)                                                                     \
  CK(cudaFuncSetAttribute(n, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152)); \
  add(#n "_shared", n, 49152, false, 1, 0);                                        \
  add(#n "_global", n, 49152, false, 1, 1)
  if (is("generic")) {
    GEN(gen_add_u32);
    GEN(gen_add_f32);
    GEN(gen_exch_b32);
    GEN(gen_cas_b32);
    GEN(gen_add_u64);
  }
  if (is("cluster_atomics"))
    for (int remote : {0, 1}) {
      std::string t = remote ? "_remote" : "_own";
      add(("d_red_add_u32" + t).c_str(), dsm_atomic<0>, 32768, false, 2, remote);
      add(("d_atom_exch_b32" + t).c_str(), dsm_atomic<1>, 32768, false, 2, remote);
      add(("d_atom_cas_b32" + t).c_str(), dsm_atomic<2>, 32768, false, 2, remote);
      add(("d_red_add_f32" + t).c_str(), dsm_atomic<3>, 32768, false, 2, remote);
    }
  if (is("constant")) {
    add("const4", const_ld, 0, true, 1);
    add("const1", const_wide<1>, 0, false, 1);
    add("const8", const_wide<8>, 0, false, 1);
    add("const16", const_wide<16>, 0, false, 1);
  }
  if (is("async")) {
    for (int step : {4, 16, 128}) {
      std::string t = "_s" + std::to_string(step);
      add(("cp4" + t).c_str(), cp_async<4>, 8192, false, 1, step);
      if (step >= 8) add(("cp8" + t).c_str(), cp_async<8>, 8192, false, 1, step);
      if (step >= 16) {
        add(("cp16" + t).c_str(), cp_async<16>, 8192, false, 1, step);
        add(("cp16ca" + t).c_str(), cp_async_ca16<0>, 8192, false, 1, step);
      }
    }
  }
  if (is("cluster")) {
    for (int remote : {0, 1}) {
      std::string t = remote ? "_remote" : "_own";
      add(("ld4" + t).c_str(), dsm_ld<4>, 32768, false, 2, remote);
      add(("ld16" + t).c_str(), dsm_ld<16>, 32768, false, 2, remote);
      add(("st4" + t).c_str(), dsm_st<4>, 32768, false, 2, remote);
      add(("st16" + t).c_str(), dsm_st<16>, 32768, false, 2, remote);
    }
  }
  if (is("local")) {
    add("local_w1", local_rw<1>, 0, true, 1);
    add("local_w4", local_rw<4>, 0, true, 1);
    add("const", const_ld, 0, true, 1);
  }
  finish(argv[2]);
}
