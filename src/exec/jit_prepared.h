// SPDX-License-Identifier: Apache-2.0
// One compiled version of a kernel, as the JIT executor keeps it: LaunchState::prepared of its launches.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>

#include "codegen/compiler.h"
#include "exec/executor.h"

namespace warplens::exec {

struct JitPrepared {
  codegen::CompiledKernel compiled;
  /// Makes the masked part, when `compiled` is the full-mask part of the code alone. Null: it does all by itself.
  std::function<codegen::RunWarp(const LoadedKernel&)> make_masked;
  /// A warp met a case that its proof of classes excluded.
  mutable std::atomic<bool> deoptimised{false};
  /// Warps whose lanes parted in the full-mask part.
  mutable std::atomic<uint64_t> parted{0};

  /// The masked part, for warps that are not or no longer full; made when the first one asks. Any stack, any thread.
  codegen::RunWarp masked(const LoadedKernel& kernel) const;

 private:
  mutable std::once_flag masked_once_;
  mutable codegen::RunWarp masked_ = nullptr;
};

}  // namespace warplens::exec
