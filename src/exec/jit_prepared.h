// SPDX-License-Identifier: Apache-2.0
// One compiled version of a kernel, as the JIT executor keeps it: LaunchState::prepared of its launches.
#pragma once
#include <atomic>
#include <memory>

#include "codegen/compiler.h"
#include "exec/program.h"
#include "ptx/module.h"

namespace warplens::exec {

struct JitPrepared {
  codegen::CompiledKernel compiled;
  /// The generated code holds addresses of instructions and variables: these keep them, and the key's address, alive.
  std::shared_ptr<const Program> program;
  std::shared_ptr<const ptx::Module> module;
  /// A warp met a case that its proof of classes excluded.
  mutable std::atomic<bool> deoptimised{false};
};

}  // namespace warplens::exec
