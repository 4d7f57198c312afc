// SPDX-License-Identifier: Apache-2.0
// What kernels cost before they run: parsing, analysing and compiling all kernels of a committed PTX file, and finding
// them in the cache on disk. The table of docs/jit-cache.md is this one's.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/check.h"
#include "base/file_cache.h"
#include "base/text_file.h"
#include "engine_kernel.h"
#include "exec/executor.h"
#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::bench {
namespace {

using Kernels = std::vector<std::unique_ptr<exec::LoadedKernel>>;

/// One PTX file in a device memory of its own.
struct File {
  explicit File(const std::string& name) : path(source_path("truth/ptx/" + name)), module(path) {
    auto read = read_file(path, "PTX");
    WL_CHECK(read.has_value());
    text = std::move(*read);
  }
  Kernels kernels() const {
    Kernels all;
    for (const ptx::Function& f : module.loaded().module->functions) {
      if (!f.is_entry) continue;
      auto kernel = exec::load_kernel(module.loaded(), f);
      WL_CHECK(kernel.has_value());
      all.push_back(std::move(*kernel));
    }
    return all;
  }
  std::string path, text;
  EngineModule module;
};

void parse(benchmark::State& state, const File& file) {
  for (auto _ : state) benchmark::DoNotOptimize(ptx::parse(file.text, file.path, ops::instruction_set()));
}

void load(benchmark::State& state, const File& file) {
  for (auto _ : state) benchmark::DoNotOptimize(file.kernels());
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

void compile(benchmark::State& state, File& file, Copies copies) {
  const Kernels kernels = file.kernels();
  exec::JitOptions options;
  if (copies == Copies::kBoth) options.copies = exec::JitCopies::kOneFunction;
  const auto folder = std::filesystem::temp_directory_path() / ("warplens-bench-" + std::to_string(getpid()));
  if (copies == Copies::kCached) {
    options.cache = std::make_shared<FileCache>(folder.string(), kDefaultCacheBytes);
    prepare_all(kernels, file.module.arena(), options);
  }
  std::vector<double> last;
  for (auto _ : state) last = prepare_all(kernels, file.module.arena(), options);
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
  std::vector<std::unique_ptr<File>> files;
  for (const char* name : {"access.ptx", "ladder.ptx", "apps.ptx"}) {
    File& file = *files.emplace_back(std::make_unique<File>(name));
    const auto add = [&](const std::string& what, auto run) {
      benchmark::RegisterBenchmark((what + "/" + name).c_str(), run)->Unit(benchmark::kMillisecond);
    };
    add("parse", [&file](benchmark::State& s) { parse(s, file); });
    add("load", [&file](benchmark::State& s) { load(s, file); });
    add("full_copy", [&file](benchmark::State& s) { compile(s, file, Copies::kFull); });
    add("both_copies", [&file](benchmark::State& s) { compile(s, file, Copies::kBoth); });
    add("cached", [&file](benchmark::State& s) { compile(s, file, Copies::kCached); });
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
