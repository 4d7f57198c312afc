// SPDX-License-Identifier: Apache-2.0
// The fast executor: compiles a kernel at its first launch with a class of block shapes, keeps the code, and runs each
// warp as one call.
#include <map>
#include <mutex>
#include <tuple>

#include "codegen/compiler.h"
#include "exec/code_source.h"
#include "exec/executor.h"
#include "exec/jit_hooks.h"
#include "exec/jit_prepared.h"

namespace warplens::exec {
namespace {

/// Beside the generated frame: hooks, the interpreter after a deoptimisation, printf.
constexpr uint64_t kHookStackBytes = 192 << 10;

class JitExecutor final : public Executor {
 public:
  explicit JitExecutor(JitOptions options) : options_(std::move(options)), compiler_(jit_hooks()) {}

  const char* name() const override { return "jit"; }

  Status prepare(LaunchState& launch) override {
    const LoadedKernel& kernel = *launch.request->kernel;
    const bool events = (launch.interest & ~events::kLaunches) != 0;
    const auto shape = codegen::block_shape_of(launch.info.block.x, launch.info.block.y, launch.info.block.z);
    const std::lock_guard lock(mutex_);
    const Key key{kernel.program.get(), shape, launch.request->count, events};
    auto& slot = compiled_[key];
    // Code whose proofs failed on real data is made again without the proofs that need a test.
    const bool cautious = slot != nullptr && slot->deoptimised;
    if (slot == nullptr || cautious) {
      auto made = compile(kernel, key, !cautious);
      if (!made) {
        if (slot == nullptr) compiled_.erase(key);
        return made.error();
      }
      slot = *made;
    }
    launch.prepared = slot;
    return Done{};
  }

  uint64_t stack_bytes(const LaunchState& launch) const override {
    return prepared(launch).compiled.frame_bytes + kHookStackBytes;
  }

  void run_warp(LaunchState& launch, WarpContext& warp) override { prepared(launch).compiled.run(&warp); }

  size_t counter_words(const LaunchState& launch) const override {
    return deoptimised_counter_offset(prepared(launch).compiled.layout) +
           interpreter_counter_words(*launch.request->kernel);
  }

  void collect(LaunchState& launch, const std::vector<uint64_t>& words, events::LaunchCounts& out) override {
    if (!launch.request->count) return;
    const codegen::CompiledKernel& compiled = prepared(launch).compiled;
    const codegen::CounterLayout& layout = compiled.layout;
    // Generated code counts runs with a full mask apart; they are runs like the others.
    std::vector<uint64_t> all = words;
    for (size_t b = 0; b < layout.blocks; ++b) {
      const uint64_t full = all[layout.block_word(b, 2)];
      all[layout.block_word(b, 0)] += full;
      all[layout.block_word(b, 1)] += 32 * full;
    }
    out = codegen::counts_from_words(layout, all, compiled.constants);
    add_interpreter_counts(*launch.request->kernel, words.data() + deoptimised_counter_offset(layout), out);
  }

 private:
  using Key = std::tuple<const Program*, codegen::BlockShape, bool, bool>;

  static const JitPrepared& prepared(const LaunchState& launch) {
    return *static_cast<const JitPrepared*>(launch.prepared.get());
  }

  Result<std::shared_ptr<JitPrepared>> compile(const LoadedKernel& kernel, const Key& key, bool extend_patterns) {
    codegen::KernelSource source = source_of(kernel);
    source.shape = std::get<codegen::BlockShape>(key);
    source.options.count = std::get<2>(key);
    source.options.emit_events = std::get<3>(key);
    source.lane_classes = options_.lane_classes;
    source.full_mask_clone = options_.full_mask_clone;
    source.extend_patterns = extend_patterns;
    source.dump_after = options_.dump_after;
    auto compiled = compiler_.compile(source);
    if (!compiled) return compiled.error();
    auto out = std::make_shared<JitPrepared>();
    out->compiled = std::move(*compiled);
    out->program = kernel.program;
    out->module = kernel.module->module;
    return out;
  }

  JitOptions options_;
  codegen::KernelCompiler compiler_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<JitPrepared>> compiled_;
};

}  // namespace

std::unique_ptr<Executor> make_jit(JitOptions options) { return std::make_unique<JitExecutor>(std::move(options)); }

}  // namespace warplens::exec
