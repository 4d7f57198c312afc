// SPDX-License-Identifier: Apache-2.0
// The fast executor: compiles a kernel at its first launch with a class of block shapes, keeps the code, and runs each
// warp as one call. A version of a kernel is compiled once, however many threads ask; different ones are compiled side
// by side.
#include <map>
#include <mutex>

#include "codegen/compiler.h"
#include "exec/code_source.h"
#include "exec/executor.h"
#include "exec/jit_hooks.h"
#include "exec/jit_prepared.h"
#include "exec/task_queue.h"

namespace warplens::exec {
namespace {

/// Beside the generated frame: hooks, the interpreter after a deoptimisation, printf.
constexpr uint64_t kHookStackBytes = 192 << 10;

class JitExecutor final : public Executor {
 public:
  explicit JitExecutor(JitOptions options)
      : options_(std::move(options)), compiler_(jit_hooks(), options_.cache, options_.avx512) {}

  const char* name() const override { return "jit"; }

  Status prepare(LaunchState& launch) override {
    const LoadedKernel& kernel = *launch.request->kernel;
    const bool events = (launch.interest & ~events::kLaunches) != 0;
    const std::shared_ptr<Version> version = version_of(*launch.request, events);
    const std::lock_guard lock(version->mutex);
    if (Status made = make(kernel, *version); !made) return made;
    if (!version->reported) {
      const codegen::CompiledKernel& code = version->code->compiled;
      launch.preparation = {code.from_cache ? CodeSource::kCache : CodeSource::kCompiled, code.seconds};
      version->reported = true;
    }
    launch.prepared = version->code;
    return Done{};
  }

  void prepare_ahead(const LaunchRequest& request) override {
    const std::shared_ptr<Version> version = version_of(request, false);
    {
      // Held: it is being made. Else a look is quick.
      const std::unique_lock lock(version->mutex, std::try_to_lock);
      if (!lock || version->code != nullptr) return;
    }
    ahead_.push([this, version, kernel = request.kernel] {
      const std::lock_guard lock(version->mutex);
      (void)make(*kernel, *version);  // why it failed is said to the launch, which tries again
    });
  }
  void finish_ahead() override { ahead_.finish(); }

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
  struct Key {
    const Program* program = nullptr;
    codegen::BlockShape shape = codegen::BlockShape::kGeneral;
    bool count = false, events = false;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  /// The code of one key, or the place for it. The key names a program, so that must live as long.
  struct Version {
    Key key;
    std::shared_ptr<const Program> program;
    std::mutex mutex;  ///< of all that follows; held while the code is being made
    std::shared_ptr<JitPrepared> code;
    bool reported = false;  ///< some launch has said where the code came from
  };

  std::shared_ptr<Version> version_of(const LaunchRequest& request, bool events) {
    const auto shape = codegen::block_shape_of(request.block.x, request.block.y, request.block.z);
    const Key key{request.kernel->program.get(), shape, request.count, events};
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Version>& version = versions_[key];
    if (version == nullptr) {
      version = std::make_shared<Version>();
      version->key = key;
      version->program = request.kernel->program;
    }
    return version;
  }

  /// Under the version's mutex. Code whose proofs failed on real data is made again without the proofs that need a
  /// test.
  Status make(const LoadedKernel& kernel, Version& version) {
    const bool cautious = version.code != nullptr && version.code->deoptimised;
    if (version.code != nullptr && !cautious) return Done{};
    auto made = compile(kernel, version.key, !cautious);
    if (!made) return made.error();
    version.code = std::move(*made);
    version.reported = false;
    return Done{};
  }

  static const JitPrepared& prepared(const LaunchState& launch) {
    return *static_cast<const JitPrepared*>(launch.prepared.get());
  }

  Result<std::shared_ptr<JitPrepared>> compile(const LoadedKernel& kernel, const Key& key, bool extend_patterns) {
    codegen::KernelSource source = source_of(kernel);
    source.shape = key.shape;
    source.options.count = key.count;
    source.options.emit_events = key.events;
    source.options.bounds = options_.bounds;
    source.lane_classes = options_.lane_classes;
    source.full_mask_clone = options_.full_mask_clone;
    source.extend_patterns = extend_patterns;
    source.dump_after = options_.dump_after;
    auto compiled = compiler_.compile(source);
    if (!compiled) return compiled.error();
    auto out = std::make_shared<JitPrepared>();
    out->compiled = std::move(*compiled);
    return out;
  }

  JitOptions options_;
  codegen::KernelCompiler compiler_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Version>> versions_;
  TaskQueue ahead_;  // last: its threads use the others
};

}  // namespace

std::shared_ptr<FileCache> open_code_cache() {
  const CacheLocation location = cache_location();
  return location.folder.empty() ? nullptr : std::make_shared<FileCache>(location.folder, location.bytes);
}

std::unique_ptr<Executor> make_jit(JitOptions options) { return std::make_unique<JitExecutor>(std::move(options)); }

}  // namespace warplens::exec
