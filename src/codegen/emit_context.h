// SPDX-License-Identifier: Apache-2.0
// What the parts of the code generator share while they emit one kernel: the LLVM builder, the warp context pointer,
// the current mask. Value and control-flow code is in lane_emitter and module_writer, memory accesses in
// memory_lowering.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <string>
#include <utility>
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
  bool avx512 = false;  ///< the machine that runs the code has AVX-512 F, BW, DQ, VL
};

/// The LLVM type of one lane.
llvm::Type* lane_type(llvm::LLVMContext& context, Elem e);

/// A per-warp counter: `words` consecutive 64-bit counters from `word`, held in one alloca (i64 or <words x i64>).
struct WarpCounter {
  size_t word = 0;
  unsigned words = 1;
  llvm::AllocaInst* slot = nullptr;
};

struct EmitContext {
  llvm::IRBuilder<>& ir;
  llvm::Module& module;
  llvm::Function* function = nullptr;
  llvm::BasicBlock* alloca_block = nullptr;  ///< entry block: allocas go here
  llvm::Value* warp = nullptr;               ///< pointer to exec::WarpContext
  EmitOptions options = {};
  CounterLayout layout = {};
  std::vector<ConstantCost> constants = {};  ///< filled while emitting the full-mask clone
  // the mask at the current point, guard of the current instruction included:
  bool full_mask = false;          ///< all 32 lanes, known at compile time
  bool masked_copy = false;        ///< emitting the copy of the code whose mask is a variable
  bool equal_copy = false;         ///< emitting a loop's copy for equal lanes, whose runs are no full runs
  bool mask_may_be_empty = false;  ///< a guard that varies by lane: perhaps no lane is active
  /// The instruction runs with exactly its block's mask, so that its requests and lanes are its block's. False under
  /// any guard, also one that became a scalar branch.
  bool unguarded = true;
  llvm::Value* mask_bits = nullptr;    ///< i32
  llvm::Value* mask_vector = nullptr;  ///< <32 x i1>
  uint32_t block = 0;                  ///< index of the PTX basic block being emitted

  /// Adds `amount` (i64, or a vector of i64: consecutive words) to counters[word]. In the full-mask copy of the code
  /// through a per-warp counter, which becomes a register; in the masked one, and when there are too many for
  /// registers, directly.
  void count(size_t word, llvm::Value* amount);
  /// The same on paths that are seldom taken: no register is kept for it on the others.
  void count_seldom(size_t word, llvm::Value* amount);
  /// A per-warp counter of `words` consecutive words: an alloca, zeroed at entry. Asked for twice, it is the same one.
  llvm::AllocaInst* warp_counter(size_t word, unsigned words = 1);
  std::vector<WarpCounter> warp_counters = {};
  /// Adds all warp counters to WarpContext::counters, at the builder's place. All counters must exist by then: emit the
  /// one exit of the function last.
  void flush_counters();

  /// The 32 numbers as a constant array of i64 in the module, one for all that ask; null for null.
  llvm::Constant* pattern_table(const Pattern* p);
  /// Widens any class to <32 x elem>.
  llvm::Value* widen(const LaneValue& v);
  /// Declares (once) a runtime hook from runtime_hooks.def.
  llvm::FunctionCallee hook(const char* name);
  /// Pointer / value of a WarpContext field: offset is offsetof(exec::WarpContext, field).
  /// The fields never change during a warp, so the load is marked invariant and may be hoisted.
  llvm::Value* load_field(size_t offset, llvm::Type* type);
  /// A buffer in the frame for calls of hooks (cold): one for each name, at least `bytes` large, 64-byte aligned.
  llvm::Value* scratch(const std::string& name, uint64_t bytes);
  std::vector<std::pair<std::string, llvm::AllocaInst*>> scratches = {};
};

}  // namespace warplens::codegen
