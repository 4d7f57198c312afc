// SPDX-License-Identifier: Apache-2.0
// Runs PTX text in tests: parse, load, launch with an executor, and look at memory, counts, findings and events.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "exec/executor.h"
#include "memory/arena.h"
#include "memory/trace_listener.h"
#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::test {

inline std::string texts_of(const Diagnostics& errors) {
  std::string text;
  for (const Diagnostic& d : errors) text += render(d);
  return text;
}

/// Kernel parameters, packed as PTX lays them out.
class Params {
 public:
  template <typename T>
  Params& add(T value) {
    while (bytes_.size() % sizeof(T) != 0) bytes_.push_back(0);
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

class PtxLauncher {
 public:
  explicit PtxLauncher(const std::string& ptx, exec::Level level = exec::Level::kMachine) : level_(level) {
    auto arena = memory::Arena::create(uint64_t{6} << 30);
    EXPECT_TRUE(arena.has_value());
    arena_ = std::move(arena).value();
    auto module = ptx::parse(ptx, "test.ptx", ops::instruction_set());
    EXPECT_TRUE(module.has_value()) << (module ? "" : texts_of(module.error()));
    if (!module) return;
    auto loaded = exec::load_module(std::make_shared<const ptx::Module>(std::move(module).value()), *arena_);
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : texts_of(loaded.error()));
    if (loaded) module_ = std::make_unique<exec::LoadedModule>(std::move(loaded).value());
  }

  memory::Arena& arena() { return *arena_; }
  const exec::LoadedModule& module() const { return *module_; }

  /// The kernel, loaded once; null (and a test failure) when it cannot be.
  const exec::LoadedKernel* kernel(const std::string& name) {
    for (const auto& k : kernels_)
      if (k->function->name == name) return k.get();
    const ptx::Function* function = module_ ? module_->module->find_function(name) : nullptr;
    EXPECT_NE(function, nullptr) << name;
    if (function == nullptr) return nullptr;
    auto loaded = exec::load_kernel(*module_, *function, level_);
    EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : texts_of(loaded.error()));
    if (!loaded) return nullptr;
    kernels_.push_back(std::move(loaded).value());
    return kernels_.back().get();
  }

  /// Device array with these elements; its address is also the host's.
  template <typename T>
  T* array(const std::vector<T>& values) {
    T* at = zeros<T>(values.size());
    std::memcpy(at, values.data(), values.size() * sizeof(T));
    return at;
  }
  /// Device array of zeros.
  template <typename T>
  T* zeros(size_t count) {
    return reinterpret_cast<T*>(static_cast<uintptr_t>(*arena_->allocate(count * sizeof(T))));
  }

  struct Options {
    events::Dim3 grid = {}, block = {};
    events::Dim3 cluster = {};
    uint32_t dynamic_shared_bytes = 0;
    unsigned workers = 1;
    std::vector<events::Listener*> listeners = {};
    std::string* printed = nullptr;
    const std::atomic<uint32_t>* interrupt = nullptr;
    uint64_t resident_blocks = 1024;
    uint64_t grid_workspace = 0;
    events::SampleChoice sample = {};
  };
  exec::LaunchOutcome launch(const std::string& name, const Options& options, const Params& params,
                             exec::Executor* executor = nullptr) {
    exec::LaunchRequest request;
    request.kernel = kernel(name);
    if (request.kernel == nullptr) return {};
    request.grid = options.grid;
    request.block = options.block;
    request.cluster = options.cluster;
    request.dynamic_shared_bytes = options.dynamic_shared_bytes;
    request.params = params.bytes();
    request.params.resize(request.kernel->function->param_bytes);
    request.workers = options.workers;
    request.listeners = options.listeners;
    request.interrupt = options.interrupt;
    request.resident_blocks = options.resident_blocks;
    request.grid_workspace = options.grid_workspace;
    request.sample = options.sample;
    if (options.printed != nullptr) request.print = [&options](std::string_view text) { *options.printed += text; };
    if (executor == nullptr) {
      if (!interpreter_) interpreter_ = exec::make_interpreter();
      executor = interpreter_.get();
    }
    return exec::run_launch(request, *arena_, *executor);
  }

 private:
  exec::Level level_;
  std::unique_ptr<memory::Arena> arena_;
  std::unique_ptr<exec::LoadedModule> module_;
  std::vector<std::unique_ptr<exec::LoadedKernel>> kernels_;
  std::unique_ptr<exec::Executor> interpreter_;
};

/// The head that all test modules begin with.
inline const std::string kPtxHead = ".version 8.5\n.target sm_90\n.address_size 64\n";

}  // namespace warplens::test
