// SPDX-License-Identifier: Apache-2.0
// What one warp instruction costs, by which lanes go where: each probe is a launch of one warp that executes one
// instruction kReps times, with lanes at the places of a pattern. The instructions are written as PTX so that the
// compiler neither merges nor drops them (where an atomic's result is not used, all but the last become reductions).
//
//   warp_costs GROUP list|run     GROUP: global shared_atomics shared matrix async cluster local
//   ncu --csv --page raw --cache-control none --metrics ... warp_costs GROUP run
//
// truth/h200/warps_GROUP.csv holds the counters' sums, in order. Kernels that use shared memory fill it first: 384
// stores.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#define CK(x)                                                          \
  do {                                                                 \
    cudaError_t e = (x);                                               \
    if (e) {                                                           \
      printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      exit(1);                                                         \
    }                                                                  \
  } while (0)
struct Pattern {
  std::string name;
  unsigned at[32];
  unsigned mask;
};
constexpr int kReps = 16;
static std::vector<std::pair<std::string, std::function<void()>>> probes;
unsigned* map_d;
char* mem_d;
float* out_d;

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
#define A(...) asm volatile(__VA_ARGS__)
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

std::vector<Pattern> patterns(bool with_masks) {
  std::vector<Pattern> all;
  unsigned s = 9;
  auto put = [&](const char* n, auto f, unsigned mask = ~0u) {
    Pattern p;
    p.name = n;
    p.mask = mask;
    for (unsigned l = 0; l < 32; ++l) p.at[l] = f(l);
    all.push_back(p);
  };
  put("unit", [](unsigned l) { return l; });
  put("same", [](unsigned) { return 0u; });
  put("pairs", [](unsigned l) { return l / 2; });
  put("quads", [](unsigned l) { return l / 4; });
  put("halves", [](unsigned l) { return l / 16; });
  put("alternate2", [](unsigned l) { return l % 2; });
  put("alternate4", [](unsigned l) { return l % 4; });
  put("alternate16", [](unsigned l) { return l % 16; });
  put("half_same", [](unsigned l) { return l < 16 ? 0u : l; });
  put("two_same", [](unsigned l) { return l == 1 ? 0u : l; });
  put("eights", [](unsigned l) { return l < 8 ? 0u : l < 16 ? 8u : l; });
  put("stride2", [](unsigned l) { return 2 * l; });
  put("stride3", [](unsigned l) { return 3 * l; });
  put("stride8", [](unsigned l) { return 8 * l; });
  put("stride32", [](unsigned l) { return 32 * l; });
  put("stride32_pairs", [](unsigned l) { return 32 * (l / 2); });
  put("reversed", [](unsigned l) { return 31 - l; });
  put("xor5", [](unsigned l) { return l ^ 5; });
  put("xor2_only", [](unsigned l) { return (l >> 2 << 1) | (l & 1); });
  put("random64", [&](unsigned) { return (s = s * 1664525u + 1013904223u) >> 26; });
  put("random8", [&](unsigned) { return (s = s * 1664525u + 1013904223u) >> 29; });
  put("random512", [&](unsigned) { return (s = s * 1664525u + 1013904223u) >> 23; });
  put("offset1", [](unsigned l) { return l + 1; });
  if (!with_masks) return all;
  struct {
    const char* n;
    unsigned m;
  } masks[] = {{"low_half", 0xffff},  {"odd", 0xaaaaaaaa},           {"first", 1},
               {"bytes", 0x00ff00ff}, {"pairs_of_four", 0x33333333}, {"all_but_one", 0xfffffffe}};
  for (auto [n, m] : masks) {
    put((std::string("unit_") + n).c_str(), [](unsigned l) { return l; }, m);
    put((std::string("same_") + n).c_str(), [](unsigned) { return 0u; }, m);
    put((std::string("pairs_") + n).c_str(), [](unsigned l) { return l / 2; }, m);
    put((std::string("stride8_") + n).c_str(), [](unsigned l) { return 8 * l; }, m);
    put((std::string("xor2_only_") + n).c_str(), [](unsigned l) { return (l >> 2 << 1) | (l & 1); }, m);
  }
  return all;
}
template <typename K, typename... X>
void add(const char* op, K kernel, int shared, bool masks, int grid, X... extra) {
  for (const Pattern& p : patterns(masks)) {
    std::string n = std::string(op) + ":" + p.name;
    probes.push_back({n, [=] {
                        CK(cudaMemcpy(map_d, p.at, 128, cudaMemcpyHostToDevice));
                        kernel<<<grid, 32, shared>>>(map_d, mem_d, p.mask, kReps, extra...);
                        CK(cudaGetLastError());
                        CK(cudaDeviceSynchronize());
                      }});
  }
}
int main(int argc, char** argv) {
  std::string g = argv[1];
  CK(cudaMalloc(&map_d, 4096));
  CK(cudaMalloc(&mem_d, 1 << 22));
  CK(cudaMemset(mem_d, 0, 1 << 22));
#define G(n) add(#n, n, 0, true, 1)
#define S(n)                                                                       \
  CK(cudaFuncSetAttribute(n, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152)); \
  add(#n, n, 49152, true, 1)
  if (g == "global") {
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
  if (g == "shared_atomics") {
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
  if (g == "shared") {
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
  if (g == "matrix") {
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
  if (g == "async") {
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
  if (g == "cluster") {
    for (int remote : {0, 1}) {
      std::string t = remote ? "_remote" : "_own";
      add(("ld4" + t).c_str(), dsm_ld<4>, 32768, false, 2, remote);
      add(("ld16" + t).c_str(), dsm_ld<16>, 32768, false, 2, remote);
      add(("st4" + t).c_str(), dsm_st<4>, 32768, false, 2, remote);
      add(("st16" + t).c_str(), dsm_st<16>, 32768, false, 2, remote);
    }
  }
  if (g == "local") {
    add("local_w1", local_rw<1>, 0, true, 1);
    add("local_w4", local_rw<4>, 0, true, 1);
    add("const", const_ld, 0, true, 1);
  }
  std::string mode = argv[2];
  for (auto& [n, f] : probes) {
    printf("%s\n", n.c_str());
    if (mode == "run") f();
  }
}
