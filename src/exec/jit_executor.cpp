// SPDX-License-Identifier: Apache-2.0
// The fast executor: compiles a kernel at its first launch with a class of block shapes, keeps the code, and runs each
// warp as one call. A version of a kernel is compiled once, however many threads ask; different ones are compiled side
// by side.
#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "base/bits.h"
#include "base/check.h"
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

/// For the masked part of the code, whose frame is not known when the stacks are made. They are mapped, not filled.
constexpr uint64_t kMaskedFrameBytes = 1 << 20;

/// Fewer warps that leave the full-mask part are not worth compiling again for.
constexpr uint64_t kManyWarps = 512;

/// Kernels with more instructions get one function, so that no frame comes near kMaskedFrameBytes.
constexpr size_t kMostInstructionsInTwoParts = 3000;

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
    const LaunchRequest& request = *launch.request;
    version->warps += request.grid.count() * ((request.block.count() + 31) / 32);
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
    const JitPrepared& code = prepared(launch);
    return code.compiled.frame_bytes + (code.make_masked ? kMaskedFrameBytes : 0) + kHookStackBytes;
  }

  void run_warp(LaunchState& launch, WarpContext& warp) override {
    const JitPrepared& code = prepared(launch);
    const bool full = warp.entry_mask == kFullMask || !code.make_masked;
    const codegen::RunWarp run = full ? code.compiled.run : code.masked(*launch.request->kernel);
    run(&warp, nullptr);
  }

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
    bool cautious = false, in_one = false;  ///< how it is made, see make()
    uint64_t warps = 0;                     ///< of all launches
    bool reported = false;                  ///< some launch has said where the code came from
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
  /// test; code that most warps leave for the masked part is made again as one function, in which they come back to
  /// the full-mask copy when their lanes meet.
  Status make(const LoadedKernel& kernel, Version& version) {
    if (const JitPrepared* code = version.code.get(); code != nullptr) {
      const uint64_t parted = code->parted;
      const bool often = code->make_masked && parted >= kManyWarps && 2 * parted >= version.warps;
      if (!often && (!code->deoptimised || version.cautious)) return Done{};
      version.cautious |= code->deoptimised;
      version.in_one |= often;
    }
    auto made = compile(kernel, version.key, !version.cautious, version.in_one);
    if (!made) return made.error();
    version.code = std::move(*made);
    version.reported = false;
    return Done{};
  }

  static const JitPrepared& prepared(const LaunchState& launch) {
    return *static_cast<const JitPrepared*>(launch.prepared.get());
  }

  Result<std::shared_ptr<JitPrepared>> compile(const LoadedKernel& kernel, const Key& key, bool extend_patterns,
                                               bool in_one) {
    const codegen::CodePart part = options_.copies == JitCopies::kMaskedOnly ? codegen::CodePart::kMasked
                                   : in_one || options_.copies == JitCopies::kOneFunction || !can_be_parted(kernel)
                                       ? codegen::CodePart::kBoth
                                       : codegen::CodePart::kFullMask;
    auto compiled = compile_part(kernel, key, extend_patterns, part);
    if (!compiled) return compiled.error();
    auto out = std::make_shared<JitPrepared>();
    out->compiled = std::move(*compiled);
    if (part == codegen::CodePart::kFullMask)
      out->make_masked = [this, key, extend_patterns, full = out.get()](const LoadedKernel& of) {
        const auto made = compile_part(of, key, extend_patterns, codegen::CodePart::kMasked);
        WL_CHECK(made.has_value(), "kernel {}: {}", of.function->name, render(made.error()[0]));
        WL_CHECK(made->frame_bytes <= kMaskedFrameBytes, "kernel {}: {} bytes of stack", of.function->name,
                 made->frame_bytes);
        check_constants(full->compiled, *made);
        return made->run;
      };
    return out;
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
    return !spins && !by_table && kernel.call_frame_bytes == 0 &&
           kernel.function->body.size() <= kMostInstructionsInTwoParts;
  }

  /// Collecting knows the full-mask part only: what the masked one leaves to it must be the same.
  static void check_constants(const codegen::CompiledKernel& full, const codegen::CompiledKernel& masked) {
    for (const codegen::ConstantCost& m : masked.constants)
      WL_CHECK(std::ranges::any_of(full.constants,
                                   [&](const codegen::ConstantCost& f) {
                                     return f.site == m.site && f.block == m.block && f.per == m.per;
                                   }),
               "site {}: counted in one part of the code only", m.site);
    for (const codegen::ConstantCost& f : full.constants)
      WL_CHECK(
          f.per != codegen::ConstantCost::Per::kRun ||
              std::ranges::any_of(masked.constants,
                                  [&](const codegen::ConstantCost& m) { return f.site == m.site && f.per == m.per; }),
          "site {}: counted in one part of the code only", f.site);
  }

  JitOptions options_;
  codegen::KernelCompiler compiler_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Version>> versions_;
  TaskQueue ahead_;  // last: its threads use the others
};

}  // namespace

codegen::RunWarp JitPrepared::masked(const LoadedKernel& kernel) const {
  // LLVM needs a real stack; a warp's own is small.
  std::call_once(masked_once_, [&] { std::thread([&] { masked_ = make_masked(kernel); }).join(); });
  return masked_;
}

std::shared_ptr<FileCache> open_code_cache() {
  const CacheLocation location = cache_location();
  return location.folder.empty() ? nullptr : std::make_shared<FileCache>(location.folder, location.bytes);
}

std::unique_ptr<Executor> make_jit(JitOptions options) { return std::make_unique<JitExecutor>(std::move(options)); }

}  // namespace warplens::exec
