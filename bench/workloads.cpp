// SPDX-License-Identifier: Apache-2.0
#include "workloads.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace warplens::bench {
namespace {

struct Generator {
  uint32_t state;
  uint32_t operator()() { return state = state * 1664525u + 1013904223u; }
};

float* random_floats(EngineModule& module, size_t count, uint32_t seed) {
  float* p = module.array<float>(count);
  Generator next{seed};
  std::generate_n(p, count, [&] { return static_cast<float>(next() >> 8) * (1.0f / 16777216.0f) - 0.5f; });
  return p;
}

/// 50 elements of C against a double-precision product.
bool product_is_right(int n, const float* a, const float* b, const float* c) {
  Generator next{7};
  for (int sample = 0; sample < 50; ++sample) {
    const size_t row = (next() >> 16) % uint32_t(n), column = (next() >> 4) % uint32_t(n);
    double sum = 0, size = 0;
    for (size_t k = 0; k < size_t(n); ++k) {
      const double term = double(a[row * size_t(n) + k]) * b[k * size_t(n) + column];
      sum += term;
      size += std::fabs(term);
    }
    if (!(std::fabs(c[row * size_t(n) + column] - sum) <= 1e-5 * size)) return false;
  }
  return true;
}

uint32_t collatz_steps(uint32_t v) {
  uint32_t steps = 0;
  for (; v != 1; ++steps) v = v & 1 ? 3 * v + 1 : v / 2;
  return steps;
}

int mandelbrot_steps(float cr, float ci, int limit) {
  float zr = 0, zi = 0;
  int n = 0;
  for (; n < limit && zr * zr + zi * zi < 4.0f; ++n) {
    const float r = zr * zr - zi * zi + cr;
    zi = 2.0f * zr * zi + ci;
    zr = r;
  }
  return n;
}

uint32_t nested_if(uint32_t v, uint32_t rounds) {
  uint32_t sum = 0;
  for (uint32_t r = 0; r < rounds; ++r) {
    v = v * 1664525u + 1013904223u;
    if (v & 0x80000000u) {
      sum += v >> 7;
      if (v & 0x40000000u) {
        sum = sum * 5 + r;
        if (v & 0x20000000u)
          for (uint32_t k = 0; k < (v >> 26 & 3); ++k) sum += sum >> 3;
        else
          sum ^= v * 3;
      } else {
        sum = (sum << 3) ^ (sum >> 5);
      }
    } else {
      sum -= v >> 9;
      if (v & 0x08000000u)
        sum = sum % 1000003u + v;
      else if (v & 0x04000000u)
        sum |= r << 4;
    }
  }
  return sum;
}

template <typename F>
bool all_are(const uint32_t* values, size_t count, F&& want) {
  for (size_t i = 0; i < count; ++i)
    if (values[i] != want(i)) return false;
  return true;
}

}  // namespace

Workloads::Workloads()
    : ladder_(std::make_unique<EngineModule>(source_path("truth/ptx/ladder.ptx"))),
      kernels_(std::make_unique<EngineModule>(source_path("bench/kernels.ptx"))) {
  add_matmul("coalesced", "_Z15mm_coalesced_1dILj32EEviiifPKfS1_fPf", 512, 32, {1024, 1, 1});
  add_matmul("tiled", "_Z8mm_tiledILi32ELi0EEvPKfS1_Pfiii", 512, 32, {32, 32, 1});
  add_matmul("register_tiled", "_Z16mm_register_tilePKfS0_Pfiii", 1024, 128, {256, 1, 1});
  add_matmul("naive", "_Z14mm_naive_x_rowiiifPKfS0_fPf", 512, 32, {32, 32, 1});
  add_axpy("axpy", 1 << 20);
  add_axpy("axpy_long", 1 << 24);  // so long that to wake a thread (75 us on a virtual machine) is nothing
  add_divergent();
  add_random_loads("random_loads_16KiB", 4096, 1 << 14);
  add_random_loads("random_loads_16MiB", 4 << 20, 1 << 14);
  add_random_loads("random_loads_many_16KiB", 4096, 1 << 19);
  add_random_loads("random_loads_many_16MiB", 4 << 20, 1 << 19);
  add_barriers();
  add_atomics();
}

Workloads::~Workloads() = default;

Workload& Workloads::operator[](const std::string& name) {
  const auto found = all_.find(name);
  WL_CHECK(found != all_.end(), "no workload {}", name);
  return found->second;
}

EngineKernel& Workloads::kernel(EngineModule& module, const std::string& entry, events::Dim3 grid, events::Dim3 block) {
  owned_.push_back(std::make_unique<EngineKernel>(module, entry, grid, block));
  return *owned_.back();
}

void Workloads::add_matmul(const std::string& name, const std::string& entry, int n, unsigned tile,
                           events::Dim3 block) {
  const size_t elements = size_t(n) * size_t(n);
  const float *a = random_floats(*ladder_, elements, 1), *b = random_floats(*ladder_, elements, 2);
  auto* c = ladder_->array<float>(elements);
  EngineKernel& k = kernel(*ladder_, entry, {unsigned(n) / tile, unsigned(n) / tile, 1}, block);
  if (entry.find("iiif") != std::string::npos)
    k.argument(n).argument(n).argument(n).argument(1.0f).argument(a).argument(b).argument(0.0f).argument(c);
  else
    k.argument(a).argument(b).argument(c).argument(n).argument(n).argument(n);
  all_[name] = {&k, 2.0 * double(elements) * n, [=] { return product_is_right(n, a, b, c); }, {}};
}

void Workloads::add_axpy(const std::string& name, int n) {
  const float* x = random_floats(*kernels_, size_t(n), 3);
  auto* y = kernels_->array<float>(size_t(n));
  EngineKernel& k = kernel(*kernels_, "_Z4axpyifPKfPf", {unsigned(n) / 256, 1, 1}, {256, 1, 1});
  k.argument(n).argument(2.0f).argument(x).argument(y);
  all_[name] = {&k, 0,
                [=] {
                  for (int i = 0; i < n; ++i)
                    if (y[i] != 2.0f * x[i] + 1.0f) return false;
                  return true;
                },
                [=] { std::fill_n(y, n, 1.0f); }};
}

void Workloads::add_divergent() {
  constexpr uint32_t kThreads = 1 << 16, kBlock = 256, kRounds = 200;
  const events::Dim3 grid{kThreads / kBlock, 1, 1}, block{kBlock, 1, 1};
  auto *mixed = kernels_->array<uint32_t>(kThreads), *equal = kernels_->array<uint32_t>(kThreads),
       *out = kernels_->array<uint32_t>(kThreads);
  Generator next{5};
  for (uint32_t i = 0; i < kThreads; ++i) mixed[i] = 1 + (next() >> 8) % 99'999;  // 32 bits hold all that follows
  for (uint32_t i = 0; i < kThreads; ++i) equal[i] = mixed[i / kBlock * kBlock];
  const auto add_collatz = [&](const char* name, const char* entry, const uint32_t* start) {
    EngineKernel& k = kernel(*kernels_, entry, grid, block);
    k.argument(start).argument(out);
    all_[name] = {&k, 0, [=] { return all_are(out, kThreads, [=](size_t i) { return collatz_steps(start[i]); }); }, {}};
  };
  add_collatz("collatz", "_Z7collatzPKjPj", mixed);
  add_collatz("collatz_equal", "_Z7collatzPKjPj", equal);
  add_collatz("collatz_by_block", "_Z16collatz_by_blockPKjPj", equal);
  add_collatz("collatz_steered", "_Z15collatz_steeredPKjPj", equal);

  constexpr int kWidth = 512, kLimit = 256;
  const float step = 2.5f / kWidth;
  auto* steps = kernels_->array<int>(kWidth * kWidth);
  EngineKernel& m = kernel(*kernels_, "_Z10mandelbrotiifPi", {kWidth / 32, kWidth / 8, 1}, {32, 8, 1});
  m.argument(kWidth).argument(kLimit).argument(step).argument(steps);
  all_["mandelbrot"] = {&m,
                        0,
                        [=] {
                          // nvcc fuses products and sums: points at the set's edge may differ.
                          int same = 0;
                          for (int y = 0; y < kWidth; ++y)
                            for (int x = 0; x < kWidth; ++x)
                              same += steps[y * kWidth + x] ==
                                      mandelbrot_steps(-2.0f + float(x) * step, -1.25f + float(y) * step, kLimit);
                          return same > kWidth * kWidth / 100 * 98;
                        },
                        {}};

  constexpr uint32_t kFew = kThreads / 4;
  const auto add_nested_if = [&](const char* name, const char* entry, const uint32_t* seed) {
    EngineKernel& k = kernel(*kernels_, entry, {kFew / kBlock, 1, 1}, block);
    k.argument(kRounds).argument(seed).argument(out);
    all_[name] = {&k, 0, [=] { return all_are(out, kFew, [=](size_t i) { return nested_if(seed[i], kRounds); }); }, {}};
  };
  add_nested_if("nested_if", "_Z9nested_ifiPKjPj", mixed);
  add_nested_if("nested_if_equal", "_Z9nested_ifiPKjPj", equal);
  add_nested_if("nested_if_steered", "_Z17nested_if_steerediPKjPj", equal);
}

void Workloads::add_random_loads(const std::string& name, uint32_t elements, uint32_t threads) {
  constexpr uint32_t kBlock = 256;
  constexpr int kRounds = 64;
  const float* x = random_floats(*kernels_, elements, 11);
  auto* out = kernels_->array<float>(threads);
  EngineKernel& k = kernel(*kernels_, "_Z12random_loadsijPKfPf", {threads / kBlock, 1, 1}, {kBlock, 1, 1});
  k.argument(kRounds).argument(elements - 1).argument(x).argument(out);
  all_[name] = {&k,
                0,
                [=] {
                  for (uint32_t i = 0; i < threads; ++i) {
                    Generator next{i * 2654435761u};
                    float sum = 0;
                    for (int r = 0; r < kRounds; ++r) sum += x[next() >> 8 & (elements - 1)];
                    if (out[i] != sum) return false;
                  }
                  return true;
                },
                {}};
}

void Workloads::add_barriers() {
  constexpr uint32_t kSums = 4096, kSorted = 256;
  const float* x = random_floats(*kernels_, kSums * 256, 13);
  auto* sums = kernels_->array<float>(kSums);
  EngineKernel& t = kernel(*kernels_, "_Z8tree_sumPKfPf", {kSums, 1, 1}, {256, 1, 1});
  t.argument(x).argument(sums);
  all_["tree_sum"] = {&t,
                      0,
                      [=] {
                        for (uint32_t b = 0; b < kSums; ++b) {
                          double sum = 0;
                          for (uint32_t i = 0; i < 256; ++i) sum += double(x[b * 256 + i]);
                          if (!(std::fabs(sums[b] - sum) < 1e-4)) return false;
                        }
                        return true;
                      },
                      {}};

  auto* data = kernels_->array<uint32_t>(kSorted * 512);
  std::vector<uint32_t> shuffled(kSorted * 512);
  std::generate(shuffled.begin(), shuffled.end(), Generator{17});
  EngineKernel& s = kernel(*kernels_, "_Z12bitonic_sortPj", {kSorted, 1, 1}, {256, 1, 1});
  s.argument(data);
  all_["bitonic_sort"] = {&s, 0,
                          [=] {
                            std::vector<uint32_t> want = shuffled;
                            for (size_t b = 0; b < kSorted; ++b)
                              std::sort(want.begin() + long(b) * 512, want.begin() + long(b + 1) * 512);
                            return std::equal(want.begin(), want.end(), data);
                          },
                          [=] { std::copy(shuffled.begin(), shuffled.end(), data); }};
}

}  // namespace warplens::bench
