// SPDX-License-Identifier: Apache-2.0
// Speed of counted kernels on one core: thread-instructions a second (one PTX instruction of the committed nvcc 13 -O3
// PTX times the active lanes) and GFLOP/s. Peers run in the same process where they are installed (pocl_matmul.cpp).
//
//   bench_engine --benchmark_filter=tiled
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "engine_kernels.h"

namespace warplens::bench {
namespace {

constexpr int kSize = 512;

struct Case {
  const char* name;
  const char* entry;
  events::Dim3 grid, block;
};
const Case kCases[] = {
    {"tiled32", "_Z8mm_tiledILi32ELi0EEvPKfS1_Pfiii", {kSize / 32, kSize / 32, 1}, {32, 32, 1}},
    {"tiled16", "_Z8mm_tiledILi16ELi0EEvPKfS1_Pfiii", {kSize / 16, kSize / 16, 1}, {16, 16, 1}},
    {"register_tile", "_Z16mm_register_tilePKfS0_Pfiii", {kSize / 128, kSize / 128, 1}, {256, 1, 1}},
    {"naive", "_Z14mm_naive_x_rowiiifPKfS0_fPf", {kSize / 32, kSize / 32, 1}, {32, 32, 1}},
    {"coalesced", "_Z15mm_coalesced_1dILj32EEviiifPKfS1_fPf", {kSize / 32, kSize / 32, 1}, {1024, 1, 1}},
};

void matmul(benchmark::State& state, const Case& c, bool count) {
  MatmulKernel kernel(c.entry, kSize, c.grid, c.block);
  const auto executor = exec::make_jit({});
  const auto counted = kernel.launch(*executor, true, 1);
  if (!counted.complete()) return state.SkipWithError(counted.findings[0].message.c_str());
  if (kernel.worst_error() > 1e-5) return state.SkipWithError("the product is wrong");
  kernel.launch(*executor, count, 1);
  double seconds = 0;
  for (auto _ : state) {
    const auto outcome = kernel.launch(*executor, count, 1);
    seconds += outcome.seconds;
    benchmark::DoNotOptimize(outcome);
  }
  using benchmark::Counter;
  state.counters["thread_instr/s"] = Counter(kernel.thread_instructions(counted), Counter::kIsIterationInvariantRate);
  state.counters["FLOP/s"] = Counter(kernel.flops(), Counter::kIsIterationInvariantRate);
}

}  // namespace

void register_matmul() {
  for (const Case& c : kCases) {
    for (bool count : {true, false}) {
      benchmark::RegisterBenchmark((std::string("warplens/") + c.name + (count ? "/counted" : "/uncounted")).c_str(),
                                   [&c, count](benchmark::State& s) { matmul(s, c, count); })
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
    }
  }
}

#ifdef WARPLENS_HAVE_OPENCL
void register_pocl();
#endif

}  // namespace warplens::bench

int main(int argc, char** argv) {
  setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);  // one core each
  setenv("POCL_CPU_MAX_CU_COUNT", "1", 1);
  warplens::bench::register_matmul();
#ifdef WARPLENS_HAVE_OPENCL
  warplens::bench::register_pocl();
#endif
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
