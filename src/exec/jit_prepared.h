// SPDX-License-Identifier: Apache-2.0
// One compiled version of a kernel, as the JIT executor keeps it: LaunchState::prepared of its launches. Its code may
// be there in parts (codegen::CodePart): the masked part is made when a warp needs it; when many do, both are made once
// more as one function beside the running launch, for warps that begin after that. So is code that assumes less, when
// what this one assumes makes many warps leave for the interpreter.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <span>

#include "codegen/compiler.h"
#include "exec/executor.h"

namespace warplens::exec {

/// Something that is made at most once, beside running launches.
class MadeBeside {
 public:
  /// True, once: the caller has it made.
  bool ask() { return change(State::kNone, State::kAsked); }
  /// False: stop() came first.
  bool begin() { return change(State::kAsked, State::kBeingMade); }
  void end();
  /// Returns when it is not being made, nor will be unless somebody asks again.
  void stop();

 private:
  enum class State : uint8_t { kNone, kAsked, kBeingMade, kDone };
  bool change(State from, State to) { return state_.compare_exchange_strong(from, to); }
  std::atomic<State> state_{State::kNone};
};

class JitPrepared {
 public:
  /// Code of the same kernel for warps that begin when it is there. It counts apart: what its constants stand for are
  /// its own runs.
  struct Successor {
    std::function<Result<std::shared_ptr<JitPrepared>>(const LoadedKernel&)> make;  ///< on any thread; null: none
    uint64_t many_warps = 0;  ///< fewer that leave this code are not worth it
  };
  /// What may be made beside a launch that has begun.
  struct Plans {
    std::function<void(std::function<void()>)> later;  ///< does something on another thread
    /// Where the launch begins with the full-mask part alone, the masked part, and both as one function.
    std::function<Result<codegen::CompiledKernel>(const LoadedKernel&)> make_masked;  ///< on any thread
    uint64_t masked_frame_bytes = 0;  ///< that the masked part may take of a warp's stack
    Successor whole;
    Successor cautious;                 ///< assumes nothing of what this code does
    uint64_t cautious_frame_bytes = 0;  ///< that it may take of a warp's stack beyond what this code takes
  };
  /// `compiled` does all by itself, or is the full-mask part; it counts in `counter_words` words.
  JitPrepared(codegen::CompiledKernel compiled, size_t counter_words, Plans plans);

  const codegen::CompiledKernel& compiled() const { return compiled_; }
  uint64_t frame_bytes() const {
    return compiled_.frame_bytes + plans_.masked_frame_bytes + plans_.cautious_frame_bytes;
  }
  /// Of a worker, for this code and all its successors.
  size_t counter_words() const { return all_words_; }
  /// Runs a warp, here or in what was made of the kernel since, which counts from `counters` on. On the warp's stack.
  void run(WarpContext& warp, uint64_t* counters) const;
  /// Runs the rest of a warp that leaves the full-mask part. On the warp's stack.
  void run_parted(WarpContext& warp, void* handover) const;
  /// A warp has met a case that the code of its launch, which this is, excludes; it leaves for the interpreter.
  void note_deoptimised(WarpContext& warp) const;
  bool deoptimised() const { return left_.load(std::memory_order_relaxed) != 0; }
  /// The code that assumes less, if it was made. Null: it was not.
  std::shared_ptr<JitPrepared> cautious() const { return cautious_.made(); }

  /// The launches in all are to have so many warps more.
  void expect_warps(uint64_t warps) const { warps_.fetch_add(warps, std::memory_order_relaxed); }
  /// Returns when nothing that uses the launch's kernel is being made, nor will be.
  void stop_making() const;
  /// What was made since the last call, if anything.
  std::optional<Preparation> take_made_later() const;
  /// Of the warps that ran this code or its successors, and of those that left them for the interpreter.
  events::LaunchCounts counts(const LoadedKernel& kernel, std::span<const uint64_t> words) const;

 private:
  struct Later {
    MadeBeside state;
    size_t counters_at = 0;
    std::shared_ptr<JitPrepared> code;             ///< written once, before `ready`
    std::atomic<bool> ready{false};                ///< before `now`: who collects has to see it when some warp has
    std::atomic<const JitPrepared*> now{nullptr};  ///< the same, if the stacks that there are suffice
    std::shared_ptr<JitPrepared> made() const { return ready.load(std::memory_order_acquire) ? code : nullptr; }
  };
  void ask_for(Later& later, const Successor& how, const WarpContext& warp) const;
  void make(Later& later, const Successor& how, const LoadedKernel& kernel) const;
  codegen::RunWarp masked(WarpContext& warp) const;
  std::optional<codegen::CompiledKernel> make_masked(const LoadedKernel& kernel) const;
  bool many_parted() const;
  void add_made_later(const codegen::CompiledKernel& made) const;
  void check_constants(const codegen::CompiledKernel& masked) const;

  codegen::CompiledKernel compiled_;
  size_t words_ = 0, all_words_ = 0;
  Plans plans_;
  mutable std::once_flag masked_once_;
  mutable codegen::RunWarp masked_ = nullptr;
  mutable Later whole_, cautious_;
  mutable std::atomic<uint64_t> warps_{0}, parted_{0}, left_{0};
  mutable std::mutex mutex_;
  mutable std::optional<Preparation> made_later_;  // under the mutex
};

}  // namespace warplens::exec
