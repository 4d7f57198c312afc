// SPDX-License-Identifier: Apache-2.0
// Spinning loops in generated code: the rules of docs/divergence.md, word for word what exec/schedule.cpp does, so that
// a warp gives way to others at the same rounds in both executors. Where the analysis shows that no lanes can wait that
// a loop's lanes wait for (LaneAnalysis::parks), as in a grid barrier's one thread, only rounds are counted and other
// warps let run. Else a hook decides at the loop's end whether it goes round or its lanes are parked.
#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "codegen/kernel_writer.h"

namespace warplens::codegen {

bool KernelWriter::spins() const {
  return std::find(source_.spinning_loops.begin(), source_.spinning_loops.end(), true) != source_.spinning_loops.end();
}

bool KernelWriter::parks() const {
  return std::find(lanes_.parks.begin(), lanes_.parks.end(), true) != lanes_.parks.end();
}

llvm::Value* KernelWriter::word(uint32_t index) {
  return ir_.CreateConstInBoundsGEP2_32(pending_->getAllocatedType(), pending_, 0, index);
}

/// A round of a spinning loop outside of which nobody waits: each 64th lets other warps run.
void KernelWriter::count_turn(uint32_t loop) {
  llvm::Value* slot = word(words_.turns(loop));
  llvm::Value* turns = ir_.CreateAdd(ir_.CreateLoad(ir_.getInt32Ty(), slot), ir_.getInt32(1));
  ir_.CreateStore(turns, slot);
  llvm::BasicBlock *yield = new_block("yield"), *on = new_block("on");
  llvm::Value* none = ir_.CreateICmpEQ(ir_.CreateURem(turns, ir_.getInt32(analysis::kSpinBudget)), ir_.getInt32(0));
  ir_.CreateCondBr(none, yield, on);
  ir_.SetInsertPoint(yield);
  ir_.CreateCall(e_.hook("wl_yield"), {e_.warp});
  ir_.CreateBr(on);
  ir_.SetInsertPoint(on);
}

/// At the end of a loop whose lanes may be parked: `some` have taken its back edge. Goes to `again` or `on`.
void KernelWriter::ask_for_round(uint32_t loop, llvm::Value* some, llvm::BasicBlock* again, llvm::BasicBlock* on) {
  llvm::BasicBlock *ask = new_block("ask"), *none = new_block("none");
  ir_.CreateCondBr(some, ask, none);
  ir_.SetInsertPoint(none);
  ir_.CreateStore(ir_.getInt32(0), word(words_.rounds(loop)));
  ir_.CreateBr(on);
  ir_.SetInsertPoint(ask);
  llvm::Value* goes = ir_.CreateCall(e_.hook("wl_spin_round"), {e_.warp, pending_, ir_.getInt32(loop)});
  ir_.CreateCondBr(ir_.CreateICmpNE(goes, ir_.getInt32(0)), again, on);
}

/// Lanes parked in the loop, or in one inside of it, wait for their headers again.
void KernelWriter::unpark_within(uint32_t loop) {
  const auto& loops = source_.loops->loops;
  for (uint32_t i = 0; i < loops.size(); ++i) {
    if (!lanes_.parks[i] || loops[i].first < loops[loop].first || loops[i].last > loops[loop].last) continue;
    llvm::Value *parked = word(words_.parked(i)), *waiting = word(loops[i].first);
    llvm::Value* both =
        ir_.CreateOr(ir_.CreateLoad(ir_.getInt32Ty(), waiting), ir_.CreateLoad(ir_.getInt32Ty(), parked));
    ir_.CreateStore(both, waiting);
    ir_.CreateStore(ir_.getInt32(0), parked);
  }
}

/// i1: lanes that wait at a barrier of the thread block at the beginning of the block there go on waiting, since others
/// of the warp are parked. Null: never.
llvm::Value* KernelWriter::held(uint32_t position) {
  if (!parks() || !analysis::begins_with_barrier(*source_.graph, source_.loops->layout[position])) return nullptr;
  const auto& loops = source_.loops->loops;
  const uint32_t here = loop_headed_at(position);
  llvm::Value* lanes = ir_.getInt32(0);
  for (uint32_t i = 0; i < loops.size(); ++i) {
    const bool inside =
        here != analysis::kNoLoop && loops[i].first >= loops[here].first && loops[i].last <= loops[here].last;
    if (lanes_.parks[i] && !inside)
      lanes = ir_.CreateOr(lanes, ir_.CreateLoad(ir_.getInt32Ty(), word(words_.parked(i))));
  }
  return ir_.CreateICmpNE(lanes, ir_.getInt32(0));
}

/// Before the next block of a walk in which a loop asked for it.
void KernelWriter::yield_if_asked() {
  if (!parks()) return;
  llvm::Value* slot = word(words_.yields());
  llvm::BasicBlock *yield = new_block("yield"), *on = new_block("on");
  ir_.CreateCondBr(ir_.CreateICmpEQ(ir_.CreateLoad(ir_.getInt32Ty(), slot), ir_.getInt32(0)), on, yield,
                   llvm::MDBuilder(e_.module.getContext()).createBranchWeights(64, 1));
  ir_.SetInsertPoint(yield);
  ir_.CreateStore(ir_.getInt32(0), slot);
  ir_.CreateCall(e_.hook("wl_yield"), {e_.warp});
  ir_.CreateBr(on);
  ir_.SetInsertPoint(on);
}

/// The walk has come to its end: where lanes are parked a new one begins.
void KernelWriter::emit_end_of_walk() {
  ir_.SetInsertPoint(end_of_walk_);
  llvm::Value* again = ir_.CreateCall(e_.hook("wl_walk_again"), {e_.warp, pending_});
  ir_.CreateCondBr(ir_.CreateICmpNE(again, ir_.getInt32(0)), test_[0], finish_);
}

// --- Memory that other warps write while this one looks. Host threads keep what they read of it in no register, and
// the order of the accesses around it: the fences cost nothing on x86-64 but hold the compiler back.

namespace {

bool is_seen_by_other_blocks(const ptx::Instr& in) {
  return in.space() == ptx::Space::kGlobal || in.space() == ptx::Space::kGeneric;
}

bool has_order(const ptx::Instr& in) {
  return in.has("volatile") || in.has("relaxed") || in.has("acquire") || in.has("release") || in.has("mmio");
}

}  // namespace

void KernelWriter::order_before(const ptx::Instr& in) {
  if (!has_order(in) || !is_seen_by_other_blocks(in)) return;
  if (in.def->role == ptx::Role::kStore) ir_.CreateFence(llvm::AtomicOrdering::Release);
  if (in.def->role == ptx::Role::kLoad)
    ir_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

void KernelWriter::order_behind(const ptx::Instr& in) {
  if (!has_order(in) || !is_seen_by_other_blocks(in)) return;
  if (in.def->role == ptx::Role::kLoad) ir_.CreateFence(llvm::AtomicOrdering::Acquire);
}

}  // namespace warplens::codegen
