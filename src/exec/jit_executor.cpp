// SPDX-License-Identifier: Apache-2.0
// The fast executor: compiles a kernel at its first launch with a class of block shapes, keeps the code, and runs each
// warp as one call. A version of a kernel is compiled once, however many threads ask; different ones are compiled side
// by side.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
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

/// For parts of the code that are made later, whose frames are not known when the stacks are made (mapped, not filled):
/// the full-mask part's, and for each instruction a vector that does not stay in registers. Random programs need up to
/// 350 bytes an instruction in all, most of that for buffers that do not grow with it.
uint64_t masked_frame_bytes(const LoadedKernel& kernel, const codegen::CompiledKernel& full_mask) {
  return full_mask.frame_bytes + (uint64_t{128} << 10) + kernel.function->body.size() * 256;
}

/// For code that assumes less: more of its values are vectors, each in both of its parts.
uint64_t cautious_frame_bytes(const LoadedKernel& kernel) {
  return (uint64_t{64} << 10) + kernel.function->body.size() * 256;
}

class JitExecutor final : public Executor {
 public:
  explicit JitExecutor(JitOptions options)
      : options_(std::move(options)), compiler_(jit_hooks(), options_.cache, options_.avx512) {}

  const char* name() const override { return "jit"; }

  Status prepare(LaunchState& launch) override {
    const LoadedKernel& kernel = *launch.request->kernel;
    if (too_large(kernel)) {
      interpret(launch, fmt::format("its {} PTX instructions are more than the {} that are compiled",
                                    kernel.function->body.size(), options_.most_instructions));
      return Done{};
    }
    const bool events = (launch.interest & ~events::kLaunches) != 0;
    const std::shared_ptr<Version> version = version_of(*launch.request, events);
    const std::lock_guard lock(version->mutex);
    if (Status made = make(kernel, *version); !made) {
      interpret(launch, render(made.error()[0]));
      return Done{};
    }
    if (!version->reported) {
      const codegen::CompiledKernel& code = version->code->compiled();
      launch.preparation = {code.from_cache ? CodeSource::kCache : CodeSource::kCompiled, code.seconds, {}};
      version->reported = true;
    }
    launch.prepared = version->code;
    const LaunchRequest& request = *launch.request;
    version->code->expect_warps(request.grid.count() * ((request.block.count() + 31) / 32));
    return Done{};
  }

  void prepare_ahead(const LaunchRequest& request) override {
    if (too_large(*request.kernel)) return;
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
    if (launch.prepared == nullptr) return interpreter_->stack_bytes(launch);
    return prepared(launch).frame_bytes() + kHookStackBytes;
  }

  void run_warp(LaunchState& launch, WarpContext& warp) override {
    if (launch.prepared == nullptr) return interpreter_->run_warp(launch, warp);
    prepared(launch).run(warp, warp.worker_counters);
  }

  size_t counter_words(const LaunchState& launch) const override {
    if (launch.prepared == nullptr) return interpreter_->counter_words(launch);
    return prepared(launch).counter_words();
  }

  void finish(LaunchState& launch) override {
    if (launch.prepared == nullptr) return;
    prepared(launch).stop_making();
    if (const auto made = prepared(launch).take_made_later()) {
      if (launch.preparation.source == CodeSource::kReady) launch.preparation.source = made->source;
      launch.preparation.seconds += made->seconds;
    }
  }

  void collect(LaunchState& launch, const std::vector<uint64_t>& words, events::LaunchCounts& out) override {
    if (launch.prepared == nullptr) return interpreter_->collect(launch, words, out);
    if (!launch.request->count) return;
    out = prepared(launch).counts(*launch.request->kernel, words);
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
    bool cautious = false;  ///< see make()
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

  /// Under the version's mutex. Code whose proofs failed on real data is made again, once, without the proofs that need
  /// a test; if that did not happen beside an earlier launch.
  Status make(const LoadedKernel& kernel, Version& version) {
    const std::shared_ptr<JitPrepared> code = version.code;
    if (code != nullptr && (!code->deoptimised() || version.cautious)) return Done{};
    version.cautious = code != nullptr;
    if (const auto cautious = code != nullptr ? code->cautious() : nullptr) {
      version.code = cautious;
      return Done{};
    }
    auto made = compile(kernel, version.key, !version.cautious);
    if (!made) return made.error();
    version.code = std::move(*made);
    version.reported = false;
    return Done{};
  }

  bool too_large(const LoadedKernel& kernel) const { return kernel.function->body.size() > options_.most_instructions; }

  static void interpret(LaunchState& launch, const std::string& why) {
    launch.prepared = nullptr;
    launch.preparation.slower =
        fmt::format("kernel {} runs in the interpreter, which is much slower: {}", launch.info.kernel->name, why);
  }

  static const JitPrepared& prepared(const LaunchState& launch) {
    return *static_cast<const JitPrepared*>(launch.prepared.get());
  }

  Result<std::shared_ptr<JitPrepared>> compile(const LoadedKernel& kernel, const Key& key, bool extend_patterns) {
    const codegen::CodePart part = options_.copies == JitCopies::kMaskedOnly ? codegen::CodePart::kMasked
                                   : options_.copies == JitCopies::kOneFunction || !can_be_parted(kernel)
                                       ? codegen::CodePart::kBoth
                                       : codegen::CodePart::kFullMask;
    auto compiled = compile_part(kernel, key, extend_patterns, part);
    if (!compiled) return compiled.error();
    JitPrepared::Plans plans = plans_of(kernel, key, extend_patterns, part, *compiled);
    return prepared_of(kernel, std::move(*compiled), std::move(plans));
  }

  static std::shared_ptr<JitPrepared> prepared_of(const LoadedKernel& kernel, codegen::CompiledKernel compiled,
                                                  JitPrepared::Plans plans) {
    const size_t words = deoptimised_counter_offset(compiled.layout) + interpreter_counter_words(kernel);
    return std::make_shared<JitPrepared>(std::move(compiled), words, std::move(plans));
  }

  JitPrepared::Plans plans_of(const LoadedKernel& kernel, const Key& key, bool extend_patterns, codegen::CodePart part,
                              const codegen::CompiledKernel& compiled) {
    JitPrepared::Plans plans;
    plans.later = [this](std::function<void()> task) { ahead_.push(std::move(task)); };
    if (part == codegen::CodePart::kFullMask) {
      plans.make_masked = [this, key, extend_patterns](const LoadedKernel& of) {
        return compile_part(of, key, extend_patterns, codegen::CodePart::kMasked);
      };
      plans.masked_frame_bytes = masked_frame_bytes(kernel, compiled);
      plans.whole.make = [this, key, extend_patterns](const LoadedKernel& of) -> Result<std::shared_ptr<JitPrepared>> {
        auto whole = compile_part(of, key, extend_patterns, codegen::CodePart::kBoth);
        if (!whole) return whole.error();
        return prepared_of(of, std::move(*whole), {});
      };
      const bool in_one = kernel.function->body.size() <= codegen::kMostInstructionsInTwoClones;
      plans.whole.many_warps = in_one ? options_.many_warps : std::numeric_limits<uint64_t>::max();
    }
    if (extend_patterns) {
      plans.cautious.make = [this, key](const LoadedKernel& of) { return compile(of, key, false); };
      plans.cautious.many_warps = options_.many_deoptimised;
      plans.cautious_frame_bytes = cautious_frame_bytes(kernel);
    }
    return plans;
  }

  Result<codegen::CompiledKernel> compile_part(const LoadedKernel& kernel, const Key& key, bool extend_patterns,
                                               codegen::CodePart part) {
    codegen::KernelSource source = source_of(kernel);
    source.shape = key.shape;
    source.options.count = key.count;
    source.options.emit_events = key.events;
    source.options.bounds = options_.bounds;
    source.lane_classes = options_.lane_classes;
    source.part = part;
    source.extend_patterns = extend_patterns;
    source.dump_after = options_.dump_after;
    return compiler_.compile(source);
  }

  /// Where lanes may be parked, a table says where they go, or arguments of calls lie in a frame of the function, the
  /// copies of the code stay in one function.
  static bool can_be_parted(const LoadedKernel& kernel) {
    const bool spins = std::ranges::count(kernel.spinning_loops, true) != 0;
    const bool by_table = std::ranges::any_of(
        kernel.function->body, [](const ptx::Instr& in) { return in.def->role == ptx::Role::kBranchIndexed; });
    return !spins && !by_table && kernel.call_frame_bytes == 0;
  }

  JitOptions options_;
  std::unique_ptr<Executor> interpreter_ = make_interpreter();  ///< for launches with nothing prepared
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
