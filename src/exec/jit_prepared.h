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
  using Later = std::function<void(std::function<void()>)>;  ///< does something on another thread
  /// How the others are made when the launch begins with the full-mask part alone.
  struct OtherParts {
    std::function<Result<codegen::CompiledKernel>(const LoadedKernel&, codegen::CodePart)> make;  ///< on any thread
    Later later;
    uint64_t frame_bytes = 0;  ///< that they may take of a warp's stack
    uint64_t many_warps = 0;   ///< fewer that leave the full-mask part are not worth the one function
  };
  /// How code is made that assumes nothing of what this one does.
  struct Cautious {
    std::function<Result<std::shared_ptr<JitPrepared>>(const LoadedKernel&)> make;  ///< on any thread
    Later later;
    uint64_t frame_bytes = 0;    ///< that it may take of a warp's stack beyond what this one takes
    uint64_t counter_words = 0;  ///< of each: a worker's counters are this one's, then the other's
    uint64_t many_warps = 0;     ///< fewer that leave for the interpreter are not worth it
  };
  /// `compiled` does all by itself, or is the full-mask part.
  explicit JitPrepared(codegen::CompiledKernel compiled) : compiled_(std::move(compiled)) {}
  JitPrepared(codegen::CompiledKernel full_mask, OtherParts others)
      : compiled_(std::move(full_mask)), others_(std::move(others)) {}
  void set_cautious(Cautious how) { cautious_ = std::move(how); }

  /// Of what the launches began with; counters and their constants are the same in all parts.
  const codegen::CompiledKernel& compiled() const { return compiled_; }
  uint64_t frame_bytes() const { return compiled_.frame_bytes + others_.frame_bytes + cautious_.frame_bytes; }
  uint64_t counter_words() const { return cautious_.counter_words * (cautious_.make != nullptr ? 2 : 1); }
  bool in_parts() const { return others_.make != nullptr; }
  /// Runs a warp, here or in what was made of the kernel since. On the warp's stack.
  void run(WarpContext& warp) const;
  /// Runs the rest of a warp that leaves the full-mask part. On the warp's stack.
  void run_parted(WarpContext& warp, void* handover) const;
  /// The warp has met a case that this code excludes, and leaves for the interpreter. On the warp's stack.
  void deoptimise(WarpContext& warp) const;
  bool deoptimised() const { return left_.load(std::memory_order_relaxed) != 0; }
  /// The code that assumes less, if it was made. Null: it was not.
  const std::shared_ptr<JitPrepared>& cautious() const;

  /// The launches in all are to have so many warps more.
  void expect_warps(uint64_t warps) const { warps_.fetch_add(warps, std::memory_order_relaxed); }
  /// Returns when nothing that uses the launch's kernel is being made, nor will be.
  void stop_making() const;
  /// What was made since the last call, if anything.
  std::optional<Preparation> take_made_later() const;

 private:
  codegen::RunWarp begin(WarpContext& warp) const;
  std::optional<codegen::CompiledKernel> make_part(const LoadedKernel& kernel, codegen::CodePart part) const;
  codegen::RunWarp masked(WarpContext& warp) const;
  bool whole_is_due() const;
  void make_whole(const LoadedKernel& kernel) const;
  void make_cautious(const LoadedKernel& kernel) const;
  void add_made_later(const codegen::CompiledKernel& made) const;
  void check_constants(const codegen::CompiledKernel& other, codegen::CodePart part) const;

  codegen::CompiledKernel compiled_;
  OtherParts others_;
  Cautious cautious_;
  mutable std::once_flag masked_once_;
  mutable codegen::RunWarp masked_ = nullptr;
  mutable std::atomic<codegen::RunWarp> whole_run_{nullptr};
  mutable MadeBeside whole_, cautious_made_;
  mutable std::shared_ptr<JitPrepared> cautious_code_;  ///< written once, before `ready`
  mutable std::atomic<bool> cautious_ready_{false};
  mutable std::atomic<const JitPrepared*> cautious_now_{nullptr};  ///< the same, if the stacks that there are suffice
  mutable std::atomic<uint64_t> warps_{0}, parted_{0}, left_{0};
  mutable std::mutex mutex_;
  mutable std::optional<Preparation> made_later_;  // under the mutex
};

}  // namespace warplens::exec
