// SPDX-License-Identifier: Apache-2.0
// One compiled version of a kernel, as the JIT executor keeps it: LaunchState::prepared of its launches.
#pragma once
#include <atomic>

#include "codegen/compiler.h"

namespace warplens::exec {

struct JitPrepared {
  codegen::CompiledKernel compiled;
  /// A warp met a case that its proof of classes excluded.
  mutable std::atomic<bool> deoptimised{false};
};

}  // namespace warplens::exec
