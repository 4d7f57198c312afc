// SPDX-License-Identifier: Apache-2.0
// One compiled version of a kernel, as the JIT executor keeps it: LaunchState::prepared of its launches. Its code may
// be there in parts (codegen::CodePart): the masked part is made when a warp needs it; when many do, both are made once
// more as one function beside the running launch, for warps that begin after that.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>

#include "codegen/compiler.h"
#include "exec/executor.h"

namespace warplens::exec {

class JitPrepared {
 public:
  /// How the others are made when the launch begins with the full-mask part alone.
  struct OtherParts {
    std::function<Result<codegen::CompiledKernel>(const LoadedKernel&, codegen::CodePart)> make;  ///< on any thread
    std::function<void(std::function<void()>)> later;  ///< does something on another thread
    uint64_t frame_bytes = 0;                          ///< that they may take of a warp's stack
    uint64_t many_warps = 0;  ///< fewer that leave the full-mask part are not worth the one function
  };
  /// `compiled` does all by itself, or is the full-mask part.
  explicit JitPrepared(codegen::CompiledKernel compiled) : compiled_(std::move(compiled)) {}
  JitPrepared(codegen::CompiledKernel full_mask, OtherParts others)
      : compiled_(std::move(full_mask)), others_(std::move(others)) {}

  /// Of what the launches began with; counters and their constants are the same in all parts.
  const codegen::CompiledKernel& compiled() const { return compiled_; }
  uint64_t frame_bytes() const { return compiled_.frame_bytes + others_.frame_bytes; }
  bool in_parts() const { return others_.make != nullptr; }
  /// What a warp begins with. On the warp's stack.
  codegen::RunWarp begin(WarpContext& warp) const;
  /// Runs the rest of a warp that leaves the full-mask part. On the warp's stack.
  void run_parted(WarpContext& warp, void* handover) const;

  /// The launches in all are to have so many warps more.
  void expect_warps(uint64_t warps) const { warps_.fetch_add(warps, std::memory_order_relaxed); }
  /// Returns when nothing that uses the launch's kernel is being made, nor will be.
  void stop_making() const;
  /// What was made since the last call, if anything.
  std::optional<Preparation> take_made_later() const;

  /// A warp met a case that its proof of classes excluded.
  mutable std::atomic<bool> deoptimised{false};

 private:
  enum class Whole : uint8_t { kNone, kAsked, kBeingMade, kDone };
  std::optional<codegen::CompiledKernel> make_part(const LoadedKernel& kernel, codegen::CodePart part) const;
  codegen::RunWarp masked(WarpContext& warp) const;
  bool whole_is_due() const;
  void make_whole(const LoadedKernel& kernel) const;
  void check_constants(const codegen::CompiledKernel& other, codegen::CodePart part) const;

  codegen::CompiledKernel compiled_;
  OtherParts others_;
  mutable std::once_flag masked_once_;
  mutable codegen::RunWarp masked_ = nullptr;
  mutable std::atomic<codegen::RunWarp> whole_run_{nullptr};
  mutable std::atomic<Whole> whole_{Whole::kNone};
  mutable std::atomic<uint64_t> warps_{0}, parted_{0};
  mutable std::mutex mutex_;
  mutable std::optional<Preparation> made_later_;  // under the mutex
};

}  // namespace warplens::exec
