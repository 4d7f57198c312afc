// SPDX-License-Identifier: Apache-2.0
// More of what one warp instruction costs (see warp_costs.cu): lanes of one instruction in different memories, copies
// whose lanes choose both places, wide atomics of shared memory, bulk copies and barriers.
//
//   warp_mixes GROUP list|run     GROUP: tags less copies mixed cluster_mixed wide bulk, all, or high_tags
//
// truth/h200/warps_GROUP.csv holds the counters' sums, in order.
#include "warp_probe.h"

// ---- asynchronous copies: places in bytes, of the source in map[0, 32), of the destination in map[32, 64)
template <int B, bool PAST_L1>
__global__ void copy_places(const unsigned* map, const char* mem, unsigned mask, int reps) {
  extern __shared__ __align__(16) char raw[];
  const unsigned l = threadIdx.x;
  const char* from = mem + map[l];
  const unsigned to = (unsigned)__cvta_generic_to_shared(raw) + map[32 + l];
  if (mask >> l & 1)
    for (int i = 0; i < reps; ++i) {
      if (PAST_L1)
        A("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
      else
        A("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(B) : "memory");
    }
  A("cp.async.wait_all;");
}
template <typename From, typename To>
void add_copy(const std::string& name, void (*kernel)(const unsigned*, const char*, unsigned, int), unsigned mask,
              From from, To to) {
  std::vector<unsigned> places(64);
  for (unsigned l = 0; l < 32; ++l) {
    places[l] = from(l);
    places[32 + l] = to(l);
  }
  probes.push_back({name, [=] {
                      CK(cudaMemcpy(map_d, places.data(), 256, cudaMemcpyHostToDevice));
                      kernel<<<1, 32, 8192>>>(map_d, mem_d, mask, kReps);
                      CK(cudaGetLastError());
                      CK(cudaDeviceSynchronize());
                    }});
}
// Two lanes, whose lines differ in one bit or two: which lines can be looked up together.
void add_tags() {
  const auto pair = [](unsigned bits, const std::string& name) {
    add_copy(
        "pair:" + name, copy_places<4, false>, 3, [=](unsigned l) { return l == 1 ? bits + 4 : 0; },
        [](unsigned l) { return 4 * l; });
  };
  for (unsigned i = 7; i < 22; ++i) {
    pair(1u << i, std::to_string(i));
    for (unsigned j = 7; j < i; ++j) pair(1u << i | 1u << j, std::to_string(j) + "_" + std::to_string(i));
  }
}
// The same in a large allocation, by the higher bits.
__global__ void copy_far(const char* mem, unsigned long long bits, int reps) {
  extern __shared__ __align__(16) char raw[];
  const unsigned l = threadIdx.x;
  const char* from = mem + (l == 1 ? bits + 4 : 0);
  const unsigned to = (unsigned)__cvta_generic_to_shared(raw) + 4 * l;
  if (l < 2)
    for (int i = 0; i < reps; ++i) A("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
  A("cp.async.wait_all;");
}
void add_high_tags() {
  static char* large;
  CK(cudaMalloc(&large, 1ull << 36));
  for (int i = 22; i < 36; ++i)
    for (int j : {7, 8, 11, 0}) {
      const unsigned long long bits = (1ull << i) | (j == 0 ? 0 : 1ull << j);
      probes.push_back({"pair:" + (j == 0 ? "" : std::to_string(j) + "_") + std::to_string(i), [=] {
                          copy_far<<<1, 32, 8192>>>(large, bits, kReps);
                          CK(cudaGetLastError());
                          CK(cudaDeviceSynchronize());
                        }});
    }
}
// Copies that read less than they write: map[64, 96) has the bytes that each lane reads.
template <int B>
__global__ void copy_less(const unsigned* map, const char* mem, unsigned mask, int reps) {
  extern __shared__ __align__(16) char raw[];
  const unsigned l = threadIdx.x, size = map[64 + l];
  const char* from = mem + map[l];
  const unsigned to = (unsigned)__cvta_generic_to_shared(raw) + map[32 + l];
  if (mask >> l & 1)
    for (int i = 0; i < reps; ++i)
      A("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(B), "r"(size) : "memory");
  A("cp.async.wait_all;");
}
template <unsigned B>
void add_less() {
  const auto put = [](const char* name, unsigned pitch, unsigned reading, unsigned bytes, unsigned others) {
    std::vector<unsigned> places(96);
    for (unsigned l = 0; l < 32; ++l) {
      places[l] = l / 8 * pitch + l % 8 * B;
      places[32 + l] = l * B;
      places[64 + l] = reading >> l & 1 ? bytes : others;
    }
    probes.push_back({"less" + std::to_string(B) + ":" + name + "_" + std::to_string(pitch), [=] {
                        CK(cudaMemcpy(map_d, places.data(), 384, cudaMemcpyHostToDevice));
                        copy_less<B><<<1, 32, 8192>>>(map_d, mem_d, ~0u, kReps);
                        CK(cudaGetLastError());
                        CK(cudaDeviceSynchronize());
                      }});
  };
  for (unsigned pitch : {128, 256, 1024, 2560}) {
    put("all", pitch, ~0u, B, 0);
    put("none", pitch, 0, B, 0);
    put("low_half", pitch, 0xffff, B, 0);
    put("bytes", pitch, 0x00ff00ff, B, 0);
    put("odd", pitch, 0xaaaaaaaa, B, 0);
    put("first", pitch, 1, B, 0);
    put("part", pitch, 0xaaaaaaaa, B, B / 4);
  }
}
template <unsigned B>
void add_copies() {
  const std::string op = "copy" + std::to_string(B);
  const auto line = [](unsigned l) { return B * l; };
  const auto apart = [](unsigned l) { return B * l + l / 8 * B; };
  const auto turned = [](unsigned l) { return B * (l ^ l / 8); };
  const auto column = [](unsigned l) { return (128 + B) * l; };
  const auto random = [](unsigned seed) {
    std::vector<unsigned> at(32);
    for (unsigned& a : at) a = ((seed = seed * 1664525u + 1013904223u) >> 18) * B;
    return [=](unsigned l) { return at[l]; };
  };
  const auto rows = [](unsigned lanes, unsigned pitch) {
    return [=](unsigned l) { return l / lanes * pitch + l % lanes * B; };
  };
  for (unsigned lanes : {8, 4, 1})
    for (unsigned pitch = 128; pitch <= 16384; pitch *= 2)
      add_copy(op + ":rows" + std::to_string(lanes) + "_" + std::to_string(pitch), copy_places<B, false>, ~0u,
               rows(lanes, pitch), line);
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const std::string name = op + ":random" + std::to_string(seed);
    add_copy(name + "_line", copy_places<B, false>, ~0u, random(seed), line);
    add_copy(name + "_apart", copy_places<B, false>, ~0u, random(seed), apart);
    add_copy(name + "_turned", copy_places<B, false>, ~0u, random(seed), turned);
    add_copy(name + "_column", copy_places<B, false>, ~0u, random(seed), column);
  }
  const std::pair<const char*, unsigned> masks[] = {
      {"low_half", 0xffff}, {"odd", 0xaaaaaaaa}, {"bytes", 0x00ff00ff}, {"all_but_one", 0xfffffffe}};
  for (const auto& [name, mask] : masks) {
    add_copy(op + ":rows8_1024_" + name, copy_places<B, false>, mask, rows(8, 1024), line);
    add_copy(op + ":random1_line_" + name, copy_places<B, false>, mask, random(1), line);
    add_copy(op + ":random2_turned_" + name, copy_places<B, false>, mask, random(2), turned);
  }
  if (B == 16) add_copy("past16:random1_line", copy_places<16, true>, ~0u, random(1), line);
}

// ---- atomics: the lanes of `far` go to global memory (mixed) or to the other block of the cluster (cluster_mixed)
#define MIXED(NAME, BYTES, TYPE, BODY)                                                          \
  __global__ void NAME(const unsigned* map, char* mem, unsigned mask, int reps, unsigned far) { \
    extern __shared__ char raw[];                                                               \
    for (int i = threadIdx.x; i < 12288; i += 32) ((unsigned*)raw)[i] = 0;                      \
    __syncwarp();                                                                               \
    const unsigned l = threadIdx.x;                                                             \
    TYPE* p = (TYPE*)((far >> l & 1 ? mem : raw) + map[l] * BYTES);                             \
    if (mask >> l & 1)                                                                          \
      for (int i = 0; i < reps; ++i) {                                                          \
        BODY;                                                                                   \
      }                                                                                         \
  }
typedef unsigned long long u64;
MIXED(x_add_u32, 4, unsigned, atomicAdd(p, l + 1))
MIXED(x_cas_b32, 4, unsigned, atomicCAS(p, l, l + 1))
MIXED(x_add_u64, 8, u64, atomicAdd(p, l + 1ull))
MIXED(x_add_f32, 4, float, atomicAdd(p, 1.0f))
MIXED(x_add_f64, 8, double, atomicAdd(p, 1.0))
MIXED(x_cas_b64, 8, u64, atomicCAS(p, u64(l), l + 1ull))
MIXED(x_exch_b64, 8, u64, atomicExch(p, u64(l)))
MIXED(x_or_b64, 8, u64, atomicOr(p, l + 1ull))
MIXED(x_max_u64, 8, u64, atomicMax(p, l + 1ull))
MIXED(x_add_f16x2, 4, unsigned, A("red.add.noftz.f16x2 [%0], %1;" ::"l"(p), "r"(0x3c003c00) : "memory"))
MIXED(x_inc_u32, 4, unsigned, atomicInc(p, 1000u))
MIXED(x_add_one, 4, unsigned, atomicAdd(p, 1u))
template <int OP>
__global__ void __cluster_dims__(2) y_atomic(const unsigned* map, char* mem, unsigned mask, int reps, unsigned far) {
  extern __shared__ char raw[];
  for (int i = threadIdx.x; i < 8192; i += 32) ((unsigned*)raw)[i] = 0;
  A("barrier.cluster.arrive; barrier.cluster.wait;");
  unsigned rank;
  A("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  const unsigned l = threadIdx.x, width = OP >= 10 ? 8 : 4;
  const unsigned p = (unsigned)__cvta_generic_to_shared(raw) + map[l] * width;
  unsigned at;
  A("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(p), "r"(far >> l & 1 ? rank ^ 1 : rank));
  unsigned r = 0;
  u64 q = 0;
  if (rank == 0 && (mask >> l & 1))
    for (int i = 0; i < reps; ++i) {
      if (OP == 0) A("red.shared::cluster.add.u32 [%0], %1;" ::"r"(at), "r"(l + 1) : "memory");
      if (OP == 1) A("atom.shared::cluster.cas.b32 %0, [%1], %2, %3;" : "=r"(r) : "r"(at), "r"(l), "r"(i) : "memory");
      if (OP == 2) A("red.shared::cluster.add.f32 [%0], %1;" ::"r"(at), "f"(1.0f) : "memory");
      if (OP == 3) A("red.shared::cluster.add.u32 [%0], 1;" ::"r"(at) : "memory");
      if (OP == 10) A("red.shared::cluster.add.u64 [%0], %1;" ::"r"(at), "l"(u64(l + 1)) : "memory");
      if (OP == 11) A("red.shared::cluster.add.f64 [%0], %1;" ::"r"(at), "d"(1.0) : "memory");
      if (OP == 12)
        A("atom.shared::cluster.cas.b64 %0, [%1], %2, %3;" : "=l"(q) : "r"(at), "l"(u64(l)), "l"(u64(i)) : "memory");
      if (OP == 13) A("red.shared::cluster.max.u64 [%0], %1;" ::"r"(at), "l"(u64(l + 1)) : "memory");
    }
  A("barrier.cluster.arrive; barrier.cluster.wait;");
  if (r == 0x12345 || q == 0x12345) mem[l] = 1;
}
template <typename K>
void add_mixed(const std::string& op, K kernel, int shared, int grid, bool lanes_apart) {
  const auto put = [&](const char* place, const char* where, unsigned far, unsigned mask = ~0u) {
    for (const Pattern& p : patterns(false))
      if (p.name == place) {
        const unsigned* at = p.at;
        std::vector<unsigned> places(at, at + 32);
        probes.push_back({op + ":" + place + "_" + where, [=] {
                            CK(cudaMemset(mem_d, 0, 1 << 16));
                            CK(cudaMemcpy(map_d, places.data(), 128, cudaMemcpyHostToDevice));
                            kernel<<<grid, 32, shared>>>(map_d, mem_d, mask, kReps, far);
                            CK(cudaGetLastError());
                            CK(cudaDeviceSynchronize());
                          }});
      }
  };
  for (const char* place : {"unit", "same", "pairs", "stride8", "stride32_pairs", "random64", "random512"}) {
    put(place, "near", 0);
    put(place, "far", ~0u);
  }
  const std::pair<const char*, unsigned> masks[] = {
      {"low_half", 0xffff}, {"odd", 0xaaaaaaaa}, {"first", 1}, {"all_but_one", 0xfffffffe}};
  for (const auto& [name, mask] : masks)
    for (const char* place : {"unit", "same"}) {
      put(place, (std::string("near_") + name).c_str(), 0, mask);
      put(place, (std::string("far_") + name).c_str(), ~0u, mask);
    }
  if (!lanes_apart) return;
  for (const char* place : {"unit", "same", "pairs", "stride8", "random64"})
    for (const auto& [name, far] : masks) put(place, (std::string("some_") + name).c_str(), far);
  put("random64", "some_odd_low_half", 0xaaaaaaaa, 0xffff);
  put("random64", "some_first_odd", 1, 0xaaaaaaaa);
}

// ---- wide atomics of shared memory, which are loops, and the narrow compare and swap
#define WIDE(NAME, BYTES, BODY)                                                   \
  __global__ void NAME(const unsigned* map, char* mem, unsigned mask, int reps) { \
    extern __shared__ char raw[];                                                 \
    for (int i = threadIdx.x; i < 12288; i += 32) ((unsigned*)raw)[i] = 0;        \
    __syncwarp();                                                                 \
    const unsigned l = threadIdx.x;                                               \
    const unsigned p = (unsigned)__cvta_generic_to_shared(raw) + map[l] * BYTES;  \
    u64 q = 0;                                                                    \
    unsigned short h = 0;                                                         \
    if (mask >> l & 1)                                                            \
      for (int i = 0; i < reps; ++i) {                                            \
        BODY;                                                                     \
      }                                                                           \
    if (q == 0x1234567 || h == 0x1234) mem[l] = 1;                                \
  }
WIDE(w_or_b64, 8, A("atom.shared.or.b64 %0, [%1], %2;" : "+l"(q) : "r"(p), "l"(u64(l + 1)) : "memory"))
WIDE(w_red_max_u64, 8, A("red.shared.max.u64 [%0], %1;" ::"r"(p), "l"(u64(32 - l)) : "memory"))
WIDE(w_min_u64, 8, A("atom.shared.min.u64 %0, [%1], %2;" : "+l"(q) : "r"(p), "l"(u64(l + 1)) : "memory"))
WIDE(w_min_s64, 8, A("atom.shared.min.s64 %0, [%1], %2;" : "+l"(q) : "r"(p), "l"(-(long long)(l + i)) : "memory"))
WIDE(w_and_b64, 8, A("atom.shared.and.b64 %0, [%1], %2;" : "+l"(q) : "r"(p), "l"(u64(l + 1)) : "memory"))
WIDE(w_cas_b16, 2,
     A("atom.shared.cas.b16 %0, [%1], %2, %3;" : "+h"(h) : "r"(p), "h"((unsigned short)l),
       "h"((unsigned short)i) : "memory"))
WIDE(w_cas_miss, 2,
     A("atom.shared.cas.b16 %0, [%1], %2, %3;" : "+h"(h) : "r"(p), "h"((unsigned short)7),
       "h"((unsigned short)i) : "memory"))

// ---- bulk copies and barriers: one thread
template <int OP>
__global__ void bulk(const char* from, char* to, unsigned bytes, int reps) {
  extern __shared__ __align__(16) char raw[];
  __shared__ __align__(8) u64 barrier;
  const unsigned b = (unsigned)__cvta_generic_to_shared(&barrier), s = (unsigned)__cvta_generic_to_shared(raw);
  if (threadIdx.x != 0) return;
  A("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
  for (int i = 0; i < reps; ++i) {
    if (OP <= 1)
      A("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(OP == 0 ? bytes : 0) : "memory");
    if (OP == 0)
      A("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s), "l"(from),
        "r"(bytes), "r"(b) : "memory");
    if (OP <= 1) {
      unsigned done = 0;
      while (!done)
        A("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(
              done) : "r"(b),
          "r"(i & 1) : "memory");
    }
    if (OP == 2) {
      A("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(s), "r"(bytes) : "memory");
      A("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
    }
  }
}
template <int OP>
void add_bulk(const char* op) {
  for (unsigned bytes : {16, 32, 48, 64, 128, 256, 1024, 4096, 8192})
    for (unsigned offset : {0, 16, 64, 112}) {
      if (OP == 1 && (bytes > 16 || offset > 0)) continue;
      if (offset > 16 && bytes != 64 && bytes != 1024) continue;
      probes.push_back({std::string(op) + ":" + std::to_string(bytes) + "_" + std::to_string(offset), [=] {
                          bulk<OP><<<1, 32, 8192>>>(mem_d + offset, mem_d + offset, bytes, kReps);
                          CK(cudaGetLastError());
                          CK(cudaDeviceSynchronize());
                        }});
    }
}

int main(int argc, char** argv) {
  const std::string g = argv[1];
  const auto is = [&](const char* name) { return g == name || g == "all"; };
  begin();
#define SPACIOUS(n) CK(cudaFuncSetAttribute(n, cudaFuncAttributeMaxDynamicSharedMemorySize, 49152))
#define X(n, apart) \
  SPACIOUS(n);      \
  add_mixed(#n, n, 49152, 1, apart)
#define Y(n, op, apart) add_mixed(n, y_atomic<op>, 32768, 2, apart)
#define W(n)   \
  SPACIOUS(n); \
  add(#n, n, 49152, false, 1)
  if (is("tags")) add_tags();
  if (g == "high_tags") add_high_tags();  // 64 GiB
  if (is("less")) {
    add_less<4>();
    add_less<16>();
  }
  if (is("copies")) {
    add_copies<4>();
    add_copies<8>();
    add_copies<16>();
  }
  if (is("mixed")) {
    X(x_add_u32, true);
    X(x_cas_b32, true);
    X(x_add_u64, true);
    X(x_add_f32, true);
    X(x_add_f64, true);
    X(x_cas_b64, false);
    X(x_exch_b64, false);
    X(x_or_b64, true);
    X(x_max_u64, false);
    X(x_add_f16x2, false);
    X(x_inc_u32, false);
    X(x_add_one, false);
  }
  if (is("cluster_mixed")) {
    Y("y_add_u32", 0, true);
    Y("y_cas_b32", 1, true);
    Y("y_add_f32", 2, true);
    Y("y_add_one", 3, false);
    Y("y_add_u64", 10, true);
    Y("y_add_f64", 11, true);
    Y("y_cas_b64", 12, false);
    Y("y_max_u64", 13, false);
  }
  if (is("wide")) {
    W(w_or_b64);
    W(w_red_max_u64);
    W(w_min_u64);
    W(w_min_s64);
    W(w_and_b64);
    W(w_cas_b16);
    W(w_cas_miss);
  }
  if (is("bulk")) {
    add_bulk<0>("bulk_load");
    add_bulk<1>("barrier");
    add_bulk<2>("bulk_store");
  }
  finish(argv[2]);
}
