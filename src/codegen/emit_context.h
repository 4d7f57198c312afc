// SPDX-License-Identifier: Apache-2.0
// What the parts of the code generator share while they emit one kernel: the LLVM builder, the warp context pointer, the
// current mask. Value and control-flow code is in lane_emitter and module_writer, memory accesses in memory_lowering.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "codegen/counter_layout.h"
#include "codegen/lane_builder.h"
#include "events/events.h"
#include "machine/access_list.h"

namespace warplens::codegen {

struct EmitOptions {
  bool count = true;         ///< fused counting
  bool emit_events = false;  ///< call the listeners' hook for every access, block and barrier instead
  bool bounds = true;
};

struct EmitContext {
  llvm::IRBuilder<>& ir;
  llvm::Module& module;
  llvm::Function* function = nullptr;
  llvm::BasicBlock* alloca_block = nullptr;  ///< entry block: allocas go here
  llvm::Value* warp = nullptr;               ///< pointer to exec::WarpContext
  EmitOptions options;
  CounterLayout layout;
  std::vector<ConstantCost> constants;       ///< filled while emitting the full-mask clone
  // the mask at the current point, guard of the current instruction included:
  bool full_mask = false;                    ///< all 32 lanes, known at compile time
  llvm::Value* mask_bits = nullptr;          ///< i32
  llvm::Value* mask_vector = nullptr;        ///< <32 x i1>
  uint32_t block = 0;                        ///< index of the PTX basic block being emitted
  /// A per-warp 64-bit counter: an alloca, zeroed at entry, added to counters[word] at the warp's end.
  llvm::Value* warp_counter(size_t word);
  std::vector<std::pair<size_t, llvm::Value*>> warp_counters;

  /// Widens any class to <32 x elem>.
  llvm::Value* widen(const LaneValue& v);
  /// Declares (once) a runtime hook from runtime_hooks.def.
  llvm::FunctionCallee hook(const char* name);
  /// Pointer / value of a WarpContext field: offset is offsetof(exec::WarpContext, field).
  llvm::Value* load_field(size_t offset, llvm::Type* type);
};

}  // namespace warplens::codegen
