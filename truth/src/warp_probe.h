// SPDX-License-Identifier: Apache-2.0
// What the programs of one-warp probes share (warp_costs.cu, warp_mixes.cu): patterns of lanes, and the list of probes
// that main fills and `finish` prints or runs.
#pragma once
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
static unsigned* map_d;
static char* mem_d;
#define A(...) asm volatile(__VA_ARGS__)

inline std::vector<Pattern> patterns(bool with_masks) {
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
/// Places are as far apart in address bits as in bytes: the memory begins at a multiple of its size, as it did on the
/// H200 by itself.
inline void begin() {
  CK(cudaMalloc(&map_d, 4096));
  CK(cudaMalloc(&mem_d, 1 << 23));
  mem_d += -reinterpret_cast<size_t>(mem_d) & ((1 << 22) - 1);
  CK(cudaMemset(mem_d, 0, 1 << 22));
}
/// `mode`: list or run.
inline void finish(const std::string& mode) {
  for (auto& [n, f] : probes) {
    printf("%s\n", n.c_str());
    if (mode == "run") f();
  }
}
