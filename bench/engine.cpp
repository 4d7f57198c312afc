// SPDX-License-Identifier: Apache-2.0
// Speed of the engine on one core, with its peers in the same run, as one table.
//
//   bench_engine                                        all, about three minutes
//   bench_engine --benchmark_filter=tiled
//   bench_engine --benchmark_out=FILE                   every repetition as JSON
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "calibration.h"
#include "engine_table.h"
#include "host_matmul.h"
#include "opencl_peer.h"
#include "workloads.h"

namespace warplens::bench {
namespace {

constexpr int kPeerSize = 512;

Workloads& workloads() {
  static Workloads all;
  return all;
}

exec::Executor& executor(bool bounds) {
  static const auto checked = exec::make_jit({}), unchecked = [] {
    exec::JitOptions options;
    options.bounds = false;
    return exec::make_jit(options);
  }();
  return bounds ? *checked : *unchecked;
}

/// Times `step` between two looks at what the core can do.
template <typename F>
void time(benchmark::State& state, F&& step) {
  const double before = fma_lanes_per_second();
  for (auto _ : state) step();
  state.counters["fma"] = (before + fma_lanes_per_second()) / 2;
}

struct Variant {
  const char* name;
  bool count, bounds;
  unsigned workers;
  double sample = 1;
};

void run(benchmark::State& state, const std::string& name, const Variant& variant) {
  Workload& work = workloads()[name];
  exec::Executor& jit = executor(variant.bounds);
  if (work.rewind) work.rewind();
  const auto counted = work.kernel->launch(jit, true, 1);
  if (!work.right()) return state.SkipWithError("the result is wrong");
  work.kernel->launch(jit, variant.count, variant.workers, {0, 0, 0}, variant.sample);
  time(state, [&] {
    if (work.rewind) {
      state.PauseTiming();
      work.rewind();
      state.ResumeTiming();
    }
    benchmark::DoNotOptimize(work.kernel->launch(jit, variant.count, variant.workers, {0, 0, 0}, variant.sample));
  });
  state.counters["thread_instructions"] = work.kernel->thread_instructions(counted);
  state.counters["warps"] = work.kernel->warps();
  if (work.flops > 0) state.counters["flops"] = work.flops;
  if (work.warp_atomics > 0) state.counters["warp_atomics"] = work.warp_atomics;
}

/// From a kernel that was only loaded to the end of a launch of one block.
void compile(benchmark::State& state, const std::string& name, bool cached) {
  Workload& work = workloads()[name];
  exec::JitOptions options;
  const auto folder = std::filesystem::temp_directory_path() / ("warplens-bench-" + std::to_string(getpid()));
  if (cached) {
    options.cache = std::make_shared<FileCache>(folder.string(), kDefaultCacheBytes);
    work.kernel->launch(*exec::make_jit(options), true, 1, {1, 1, 1});
  }
  time(state, [&] {
    const auto jit = exec::make_jit(options);
    benchmark::DoNotOptimize(work.kernel->launch(*jit, true, 1, {1, 1, 1}));
  });
  std::filesystem::remove_all(folder);
  state.counters["ptx"] = double(work.kernel->instructions());
}

void peer(benchmark::State& state, const std::string& name) {
  static const auto pocl = OpenClPeer::create();
  if (!pocl) return state.SkipWithError("no PoCL here (Debian's pocl-opencl-icd)");
  pocl->prepare(name, kPeerSize);
  time(state, [&] { pocl->run(); });
  state.counters["flops"] = 2.0 * kPeerSize * kPeerSize * kPeerSize;
}

void host(benchmark::State& state, void (*product)(int, const float*, const float*, float*)) {
  std::vector<float> a(size_t(kPeerSize) * kPeerSize, 1.0f), b = a, c(a.size());
  product(kPeerSize, a.data(), b.data(), c.data());
  for (float value : c)
    if (value != float(kPeerSize)) return state.SkipWithError("the product is wrong");
  time(state, [&] {
    product(kPeerSize, a.data(), b.data(), c.data());
    benchmark::ClobberMemory();
  });
  state.counters["flops"] = 2.0 * kPeerSize * kPeerSize * kPeerSize;
}

/// What the machine gives two threads that share nothing.
void multiply_adds(benchmark::State& state, int threads) {
  constexpr int kTimes = 8;
  time(state, [&] {
    std::thread other([&] {
      for (int i = 0; i < kTimes / threads; ++i) benchmark::DoNotOptimize(fma_lanes_per_second());
    });
    if (threads == 2)
      for (int i = 0; i < kTimes / threads; ++i) benchmark::DoNotOptimize(fma_lanes_per_second());
    other.join();
  });
}

template <typename F>
void add(const std::string& name, F&& f) {
  benchmark::RegisterBenchmark(name.c_str(), std::forward<F>(f))->MeasureProcessCPUTime();
}

void add_all() {
  static const Variant kVariants[] = {
      {"counted", true, true, 1}, {"uncounted", false, true, 1}, {"unchecked", true, false, 1}};
  for (const char* name : {"coalesced",
                           "tiled",
                           "register_tiled",
                           "naive",
                           "random_loads_16KiB",
                           "random_loads_16MiB",
                           "collatz",
                           "mandelbrot",
                           "nested_if",
                           "collatz_equal",
                           "collatz_steered",
                           "collatz_by_block",
                           "nested_if_equal",
                           "nested_if_steered",
                           "tree_sum",
                           "bitonic_sort",
                           "axpy",
                           "atomics_spread",
                           "atomics_one_place",
                           "atomics_one_place_float",
                           "atomics_shared",
                           "atomics_shared_float",
                           "atomics_shared_cas"})
    for (const Variant& v : kVariants)
      add(std::string(name) + "/" + v.name, [name, &v](benchmark::State& s) { run(s, name, v); });
  // 2048 blocks, of which 104 are counted, against all and none.
  static const Variant kSampled = {"sampled", true, true, 1, 0.05};
  for (const char* name : {"random_loads_many_16KiB", "random_loads_many_16MiB"})
    for (const Variant* v : {&kSampled, &kVariants[0], &kVariants[1]})
      add(std::string(name) + "/" + v->name, [name, v](benchmark::State& s) { run(s, name, *v); });
  static const Variant kThreads[] = {{"one_thread", true, true, 1}, {"two_threads", true, true, 2}};
  for (const Variant& v : kThreads)
    add(std::string("axpy_long/") + v.name, [&v](benchmark::State& s) { run(s, "axpy_long", v); });
  for (const Variant& v : kThreads)
    add(std::string("multiply_adds/") + v.name,
        [&v](benchmark::State& s) { multiply_adds(s, static_cast<int>(v.workers)); });
  for (const char* name : {"tiled", "register_tiled"})
    for (const bool cached : {false, true})
      add(std::string(cached ? "cached/" : "compile/") + name,
          [name, cached](benchmark::State& s) { compile(s, name, cached); });
  for (const char* name : {"coalesced", "tiled", "naive"})
    add(std::string("pocl/") + name, [name](benchmark::State& s) { peer(s, name); });
  add("host/tiled", [](benchmark::State& s) { host(s, host_matmul_tiled); });
  add("host/naive", [](benchmark::State& s) { host(s, host_matmul_naive); });
}

}  // namespace
}  // namespace warplens::bench

int main(int argc, char** argv) {
  setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);  // one core each
  setenv("POCL_CPU_MAX_CU_COUNT", "1", 1);
  // Repetitions of all benchmarks mixed, so that a slow minute does not fall on one of them. Later options win.
  std::vector<std::string> defaults = {"--benchmark_repetitions=7", "--benchmark_min_time=0.05",
                                       "--benchmark_enable_random_interleaving=true"};
  std::vector<char*> arguments = {argv[0]};
  for (std::string& option : defaults) arguments.push_back(option.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  warplens::bench::add_all();
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  warplens::bench::TableReporter table;
  benchmark::RunSpecifiedBenchmarks(&table);
  return 0;
}
