// SPDX-License-Identifier: Apache-2.0
// What kernels cost before they run: parsing, analysing and compiling all kernels of a committed PTX file, and finding
// them in the cache on disk. The table of docs/jit-cache.md is this one's.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "base/file_cache.h"
#include "exec/executor.h"
#include "memory/arena.h"
#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::bench {
namespace {

using Kernels = std::vector<std::unique_ptr<exec::LoadedKernel>>;

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  WL_CHECK(in.good(), "cannot read {}", path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// One PTX file in a device memory of its own.
struct Module {
  explicit Module(const std::string& file) : path(std::string(WARPLENS_SOURCE_DIR) + "/truth/ptx/" + file) {
    text = text_of(path);
    arena = std::move(*memory::Arena::create(uint64_t{1} << 30));
    auto made = exec::load_module(std::make_shared<const ptx::Module>(parsed()), *arena);
    WL_CHECK(made.has_value());
    loaded = std::move(*made);
  }
  ptx::Module parsed() const {
    auto module = ptx::parse(text, path, ops::instruction_set());
    WL_CHECK(module.has_value());
    return std::move(*module);
  }
  Kernels kernels() const {
    Kernels all;
    for (const ptx::Function& f : loaded.module->functions) {
      if (!f.is_entry) continue;
      auto kernel = exec::load_kernel(loaded, f);
      WL_CHECK(kernel.has_value());
      all.push_back(std::move(*kernel));
    }
    return all;
  }
  std::string path, text;
  std::unique_ptr<memory::Arena> arena;
  exec::LoadedModule loaded;
};

void parse(benchmark::State& state, const Module& module) {
  for (auto _ : state) benchmark::DoNotOptimize(module.parsed());
}

void load(benchmark::State& state, const Module& module) {
  for (auto _ : state) benchmark::DoNotOptimize(module.kernels());
}

/// Seconds that each kernel takes to be ready for a launch of blocks of 32 x 8 threads.
std::vector<double> prepare_all(const Kernels& kernels, memory::Arena& arena, const exec::JitOptions& options) {
  const auto jit = exec::make_jit(options);
  std::vector<double> seconds;
  for (const auto& kernel : kernels) {
    exec::LaunchRequest request;
    request.kernel = kernel.get();
    request.block = {32, 8, 1};
    exec::LaunchState launch;
    launch.request = &request;
    launch.arena = &arena;
    const auto begin = std::chrono::steady_clock::now();
    WL_CHECK(jit->prepare(launch).has_value(), "{}", kernel->function->name);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    jit->finish(launch);
  }
  return seconds;
}

enum class Copies { kFull, kBoth, kCached };

void compile(benchmark::State& state, const Module& module, Copies copies) {
  const Kernels kernels = module.kernels();
  exec::JitOptions options;
  if (copies == Copies::kBoth) options.copies = exec::JitCopies::kOneFunction;
  const auto folder = std::filesystem::temp_directory_path() / ("warplens-bench-" + std::to_string(getpid()));
  if (copies == Copies::kCached) {
    options.cache = std::make_shared<FileCache>(folder.string(), kDefaultCacheBytes);
    prepare_all(kernels, *module.arena, options);
  }
  std::vector<double> last;
  for (auto _ : state) last = prepare_all(kernels, *module.arena, options);
  std::filesystem::remove_all(folder);
  std::ranges::sort(last);
  size_t instructions = 0;
  for (const auto& kernel : kernels) instructions += kernel->function->body.size();
  state.counters["kernels"] = double(kernels.size());
  state.counters["ptx"] = double(instructions);
  state.counters["median_ms"] = last[last.size() / 2] * 1e3;
  state.counters["slowest_ms"] = last.back() * 1e3;
}

}  // namespace
}  // namespace warplens::bench

int main(int argc, char** argv) {
  using namespace warplens::bench;
  for (const char* file : {"access.ptx", "ladder.ptx", "apps.ptx"}) {
    static std::vector<std::unique_ptr<Module>> modules;
    const Module& module = *modules.emplace_back(std::make_unique<Module>(file));
    const auto add = [&](const std::string& what, auto run) {
      benchmark::RegisterBenchmark((what + "/" + file).c_str(), run)->Unit(benchmark::kMillisecond);
    };
    add("parse", [&](benchmark::State& s) { parse(s, module); });
    add("load", [&](benchmark::State& s) { load(s, module); });
    add("full_copy", [&](benchmark::State& s) { compile(s, module, Copies::kFull); });
    add("both_copies", [&](benchmark::State& s) { compile(s, module, Copies::kBoth); });
    add("cached", [&](benchmark::State& s) { compile(s, module, Copies::kCached); });
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
