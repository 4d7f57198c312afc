// SPDX-License-Identifier: Apache-2.0
// KernelCompiler: from a KernelSource to machine code in this process. The pipeline is short because code generation is
// 90 % of the time: mem2reg, early-cse, dce, then SelectionDAG at O2 without the machine scheduler; more IR passes made
// nothing faster (measured: within 8 %). One dynamic library a kernel in one ORC LLJIT session.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/counter_layout.h"
#include "codegen/kernel_source.h"

namespace warplens::exec {
struct WarpContext;
}

namespace warplens::codegen {

struct CompiledKernel {
  void (*run)(exec::WarpContext*) = nullptr;
  CounterLayout layout;
  std::vector<ConstantCost> constants;
  uint64_t frame_bytes = 0;  ///< stack of the generated function
  double seconds = 0;        ///< that compiling took
};

/// A function of exec that generated code calls by name (runtime_hooks.def).
struct HookAddress {
  const char* name;
  void* address;
};

class KernelCompiler {
 public:
  explicit KernelCompiler(std::span<const HookAddress> hooks);
  ~KernelCompiler();
  KernelCompiler(const KernelCompiler&) = delete;
  KernelCompiler& operator=(const KernelCompiler&) = delete;
  /// Thread safe. The code lives as long as the compiler.
  Result<CompiledKernel> compile(KernelSource source);

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace warplens::codegen
