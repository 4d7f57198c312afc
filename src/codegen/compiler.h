// SPDX-License-Identifier: Apache-2.0
// KernelCompiler: from a KernelSource to machine code in this process. The pipeline is short because code generation is
// 90 % of the time: mem2reg, early-cse, dce, then SelectionDAG at O2 without the machine scheduler; more IR passes made
// nothing faster (measured: within 8 %). With a cache the object file is kept under a digest of all that it depends on,
// and the next process only links it (docs/jit-cache.md).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/file_cache.h"
#include "base/result.h"
#include "codegen/counter_layout.h"
#include "codegen/kernel_source.h"
#include "codegen/object_loader.h"
#include "codegen/stored_kernel.h"

namespace warplens::exec {
struct WarpContext;
}

namespace warplens::codegen {

/// Kernels with more instructions get no function with both copies of their code (CodePart::kBoth becomes kMasked): two
/// would take seconds to compile.
constexpr size_t kMostInstructionsInTwoClones = 3000;

/// Runs a warp to its end. `handover`: null, or what the full-mask part has passed to wl_run_masked.
using RunWarp = void (*)(exec::WarpContext*, const void* handover);

struct CompiledKernel {
  RunWarp run = nullptr;
  CounterLayout layout;
  std::vector<ConstantCost> constants;
  uint64_t frame_bytes = 0;  ///< stack of the generated function
  double seconds = 0;        ///< that compiling or loading took
  bool from_cache = false;
};

class KernelCompiler {
 public:
  /// `cache`: where code is looked for before it is made, and kept; null: nowhere. `avx512`: use it where the machine
  /// has it.
  KernelCompiler(std::span<const HookAddress> hooks, std::shared_ptr<FileCache> cache, bool avx512);
  ~KernelCompiler();
  KernelCompiler(const KernelCompiler&) = delete;
  KernelCompiler& operator=(const KernelCompiler&) = delete;
  /// Thread safe: kernels are compiled side by side. The code lives as long as the compiler.
  Result<CompiledKernel> compile(KernelSource source);

 private:
  struct Generator;
  Result<StoredKernel> generate(const KernelSource& source);
  std::optional<CompiledKernel> find(const KernelSource& source, const FileCache::Key& key);
  Result<CompiledKernel> load(const StoredKernel& kernel);

  ObjectLoader loader_;
  std::unique_ptr<Generator> generator_;
  std::shared_ptr<FileCache> cache_;
};

}  // namespace warplens::codegen
