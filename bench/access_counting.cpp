// SPDX-License-Identifier: Apache-2.0
// Cost of one warp-level load in generated code, by what is known of its address, with and without exact counting; and
// of counting alone, by each form of cost_of that this machine runs.
//
//   bench_access --benchmark_filter=global
//   bench_access --benchmark_filter=cost_of
#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <random>
#include <string>

#include "codegen/access_cost_variants.h"
#include "memory_lab.h"

namespace warplens::bench {
namespace {

using codegen::LaneClass;
using codegen::Pattern;
using codegen::Shape;

template <typename F>
Pattern pattern_of(F f) {
  Pattern p;
  for (int64_t l = 0; l < 32; ++l) p[static_cast<size_t>(l)] = f(l);
  return p;
}

struct Shaped {
  std::string name;
  LaneClass address;
  Pattern lanes = {};  ///< what the lanes of a vector class hold
  uint64_t scale = 0;
};

std::vector<Shaped> shapes() {
  const Pattern row = pattern_of([](int64_t l) { return l * 4; });
  const Pattern column = pattern_of([](int64_t l) { return l * 128; });
  const Pattern zero = {};
  const Pattern rows = pattern_of([](int64_t l) { return l % 8 * 4; });
  const Pattern steps = pattern_of([](int64_t l) { return l / 8; });
  const Pattern lane = pattern_of([](int64_t l) { return l; });
  const Pattern mixed = pattern_of([](int64_t l) { return (l * 37 + 11) % 101 * 36 / 4 * 4; });
  const Pattern backwards = pattern_of([](int64_t l) { return (31 - l) * 4; });
  return {
      {"uniform", LaneClass::uniform(2)},
      {"row", LaneClass::pattern(row, 2)},
      {"row_aligned", LaneClass::pattern(row, 7)},
      {"column", LaneClass::pattern(column, 2)},
      {"scaled", LaneClass{Shape::kScaled, {}, 2, nullptr, codegen::intern_pattern(lane)}, {}, 128},
      {"scaled_rows",
       LaneClass{Shape::kScaled, {}, 2, codegen::intern_pattern(rows), codegen::intern_pattern(steps)},
       {},
       512},
      {"unknown_equal", LaneClass::vector(), zero},
      {"unknown_row", LaneClass::vector(), row},
      {"unknown_column", LaneClass::vector(), column},
      {"unknown_backwards", LaneClass::vector(), backwards},
      {"unknown_mixed", LaneClass::vector(), mixed},
  };
}

lab::MemoryLab& shared_lab() {
  static lab::MemoryLab lab;
  return lab;
}

void load(benchmark::State& state, const Shaped& shape, ptx::Space space, bool full, bool count) {
  lab::MemoryLab& lab = shared_lab();
  lab::AccessPlan plan;
  plan.space = space;
  plan.address = shape.address;
  plan.full_mask = full;
  plan.avx512 = lab.avx512();
  plan.count = count;
  plan.loop = true;
  const lab::Compiled code = lab.compile({plan})[0];
  auto run = std::make_unique<lab::AccessRun>();
  run->base = space == ptx::Space::kShared ? 1024 : lab.allocations()[4].begin;
  run->scale = shape.scale;
  run->mask = full ? 0xffffffffu : 0x0ffffffeu;
  run->repeat = 10000;
  run->advance = 4;
  for (size_t l = 0; l < 32; ++l) run->lanes[l] = run->base + static_cast<uint64_t>(shape.lanes[l]);
  lab.forget_ranges();
  for (auto _ : state) {
    const auto outcome = lab.run(code, plan, *run);
    if (outcome.finding) return state.SkipWithError(outcome.finding->message.c_str());
  }
  state.counters["ns/access"] =
      benchmark::Counter(1e-9 * static_cast<double>(run->repeat),
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Random addresses, a different set each time.
void cost(benchmark::State& state, codegen::CostFunction cost_of, events::Space space, unsigned bytes) {
  std::mt19937_64 random(1);
  std::array<std::array<uint64_t, 32>, 64> places;
  for (auto& lanes : places)
    for (uint64_t& at : lanes) at = random() % (space == events::Space::kGlobal ? 1u << 20 : 8192) * bytes;
  size_t turn = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(cost_of(space, events::Access::kLoad, bytes, ~0u, places[turn++ % 64].data()));
}

}  // namespace
}  // namespace warplens::bench

int main(int argc, char** argv) {
  using namespace warplens;
  const std::vector<bench::Shaped> all = bench::shapes();
  for (const bench::Shaped& shape : all)
    for (const ptx::Space space : {ptx::Space::kGlobal, ptx::Space::kShared})
      for (const bool full : {true, false})
        for (const bool count : {true, false}) {
          const std::string name = fmt::format("{}/{}/{}/{}", ptx::name_of(space), shape.name,
                                               full ? "full" : "partial", count ? "counted" : "uncounted");
          benchmark::RegisterBenchmark(name.c_str(), [&shape, space, full, count](benchmark::State& s) {
            bench::load(s, shape, space, full, count);
          });
        }
  for (const codegen::CostVariant& variant : codegen::cost_variants())
    for (const events::Space space : {events::Space::kGlobal, events::Space::kShared})
      for (const unsigned bytes : {4u, 16u}) {
        const std::string name = fmt::format("cost_of/{}/{}/{}_bytes", variant.name,
                                             space == events::Space::kGlobal ? "global" : "shared", bytes);
        benchmark::RegisterBenchmark(
            name.c_str(), [variant, space, bytes](benchmark::State& s) { bench::cost(s, variant.cost, space, bytes); });
      }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
