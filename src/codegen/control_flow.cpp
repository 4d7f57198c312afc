// SPDX-License-Identifier: Apache-2.0
// Branches and the walk over waiting lanes; see kernel_writer.h and docs/divergence.md.
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/kernel_writer.h"
#include "exec/warp_context.h"

namespace warplens::codegen {

using ptx::Role;

llvm::Value* KernelWriter::pending(uint32_t position) { return word(position); }

uint32_t KernelWriter::destination_of(uint32_t instr) const {
  const auto& of = source_.graph->block_of;
  if (instr >= of.size() || of[instr] == ir::kNoBlock) return kEnd;
  return source_.loops->position_of[of[instr]];
}

/// Leaves generated code when the launch is being ended: on each way back, so that no loop goes on for ever.
void KernelWriter::check_stop() {
  llvm::Value* flag = e_.load_field(offsetof(exec::WarpContext, stop), ir_.getPtrTy());
  llvm::LoadInst* stop = ir_.CreateAlignedLoad(ir_.getInt32Ty(), flag, llvm::Align(4));
  stop->setAtomic(llvm::AtomicOrdering::Monotonic);
  llvm::BasicBlock *leave = new_block("stopped"), *go_on = new_block("again");
  ir_.CreateCondBr(ir_.CreateICmpEQ(stop, ir_.getInt32(0)), go_on, leave,
                   llvm::MDBuilder(e_.module.getContext()).createBranchWeights(1 << 20, 1));
  ir_.SetInsertPoint(leave);
  ir_.CreateCall(e_.hook("wl_abandon"), {e_.warp});
  ir_.CreateUnreachable();
  ir_.SetInsertPoint(go_on);
}

/// The loop whose header stands there, or kNoLoop.
uint32_t KernelWriter::loop_headed_at(uint32_t position) const {
  const auto& loops = source_.loops->loops;
  const auto at = std::ranges::find(loops, position, &analysis::Loop::first);
  return at == loops.end() ? analysis::kNoLoop : static_cast<uint32_t>(at - loops.begin());
}

// All lanes of the warp that are here go to `destination`, and none waits anywhere else.
void KernelWriter::jump(uint32_t destination) {
  if (destination == kEnd) {
    ir_.CreateBr(finish_);
    return;
  }
  if (destination <= position_) {
    const uint32_t loop = loop_headed_at(destination);
    check_stop();
    if (spins(loop)) count_turn(loop);
  }
  if (clone_ == Clone::kEqual && !equal_copy_->holds(destination)) return leave_equal_copy(destination);
  ir_.CreateBr(code_at(destination));
}

/// The code of a block in the copy being emitted.
llvm::BasicBlock* KernelWriter::code_at(uint32_t destination) {
  if (clone_ == Clone::kDyn) return body_[destination];
  if (clone_ == Clone::kEqual) return equal_copy_->blocks[destination - equal_copy_->first];
  const EqualCopy* copy = equal_copy_at(destination);
  return copy != nullptr && !copy->holds(position_) ? copy->enter : full_[destination];
}

/// A block that jumps: for the two sides of a branch.
llvm::BasicBlock* KernelWriter::edge(uint32_t destination) {
  if (destination == kEnd) return finish_;
  const bool leaves = clone_ == Clone::kEqual && !equal_copy_->holds(destination);
  if (destination > position_ && !leaves) return code_at(destination);
  const auto at = ir_.saveIP();
  llvm::BasicBlock* block = new_block("edge");
  ir_.SetInsertPoint(block);
  jump(destination);
  ir_.restoreIP(at);
  return block;
}

void KernelWriter::wait_for(uint32_t destination, llvm::Value* lanes) {
  if (destination == kEnd) return;
  llvm::Value* slot = pending(destination);
  ir_.CreateStore(ir_.CreateOr(ir_.CreateLoad(ir_.getInt32Ty(), slot), lanes), slot);
}

llvm::BasicBlock* KernelWriter::after(uint32_t position) {
  if (loops_ending_[position].empty()) return position + 1 < test_.size() ? test_[position + 1] : end_of_walk_;
  if (after_[position] == nullptr) after_[position] = new_block("after");
  return after_[position];
}

void KernelWriter::emit_after(uint32_t position) {
  ir_.SetInsertPoint(after_[position]);
  for (const uint32_t i : loops_ending_[position]) {
    const uint32_t header = source_.loops->loops[i].first;
    llvm::Value* lanes = ir_.CreateLoad(ir_.getInt32Ty(), pending(header));
    llvm::BasicBlock *again = new_block("again"), *on = new_block("on");
    llvm::Value* some = ir_.CreateICmpNE(lanes, ir_.getInt32(0));
    if (llvm::Value* stay = held(header)) some = ir_.CreateAnd(some, ir_.CreateNot(stay));
    if (lanes_.parks[i])
      ask_for_round(i, some, again, on);
    else
      ir_.CreateCondBr(some, again, on);
    ir_.SetInsertPoint(again);
    check_stop();
    if (spins(i) && !lanes_.parks[i]) count_turn(i);
    unpark_within(i);
    ir_.CreateBr(test_[header]);
    ir_.SetInsertPoint(on);
  }
  ir_.CreateBr(position + 1 < test_.size() ? test_[position + 1] : end_of_walk_);
}

void KernelWriter::emit_test(uint32_t position) {
  ir_.SetInsertPoint(test_[position]);
  llvm::Value* slot = pending(position);
  llvm::Value* lanes = ir_.CreateLoad(ir_.getInt32Ty(), slot);
  llvm::BasicBlock* take = new_block("take");
  llvm::Value* pass = ir_.CreateICmpEQ(lanes, ir_.getInt32(0));
  if (llvm::Value* stays = held(position)) pass = ir_.CreateOr(pass, stays);
  ir_.CreateCondBr(pass, after(position), take);
  ir_.SetInsertPoint(take);
  ir_.CreateStore(ir_.getInt32(0), slot);
  ir_.CreateStore(lanes, mask_);
  yield_if_asked();
  if (has_full())
    ir_.CreateCondBr(ir_.CreateICmpEQ(lanes, ir_.getInt32(kFullMask)), full_[position], body_[position]);
  else
    ir_.CreateBr(body_[position]);
}

// The lanes part (both sets have a lane, nobody waits elsewhere). Those that end are forgotten.
void KernelWriter::split(llvm::Value* yes_lanes, llvm::Value* no_lanes, uint32_t yes, uint32_t no) {
  if (!has_masked()) return hand_over(yes_lanes, no_lanes);
  if (yes == kEnd || no == kEnd) {
    const uint32_t rest = yes == kEnd ? no : yes;
    ir_.CreateStore(yes == kEnd ? no_lanes : yes_lanes, mask_);
    const Clone clone = clone_;
    clone_ = Clone::kDyn;
    jump(rest);
    clone_ = clone;
    return;
  }
  wait_for(yes, yes_lanes);
  wait_for(no, no_lanes);
  const uint32_t first = std::min(yes, no);
  // Both ahead: the nearer one is next, whatever lies between is empty.
  ir_.CreateBr(first > position_ ? test_[first] : after(position_));
}

void KernelWriter::jump_if(const LaneValue& condition, uint32_t yes, uint32_t no) {
  if (yes == no) return jump(yes);
  const bool apart = clone_ == Clone::kDyn && lanes_.diverged[block_];
  llvm::Value* none = ir_.getInt32(0);
  if (condition.cls.is_uniform()) {
    if (!apart) {
      ir_.CreateCondBr(condition.base, edge(yes), edge(no));
      return;
    }
    wait_for(yes, ir_.CreateSelect(condition.base, block_mask_bits_, none));
    wait_for(no, ir_.CreateSelect(condition.base, none, block_mask_bits_));
    ir_.CreateBr(after(position_));
    return;
  }
  WL_CHECK(clone_ != Clone::kEqual, "block {}: a branch of vectors in the copy for equal lanes", block_);
  if (clone_ == Clone::kFull)
    if (auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition.vector)) return jump_if_full(*compare, yes, no);
  llvm::Value* yes_lanes = ir_.CreateBitCast(condition.vector, ir_.getInt32Ty());
  if (clone_ == Clone::kDyn) yes_lanes = ir_.CreateAnd(yes_lanes, block_mask_bits_);
  llvm::Value* no_lanes = ir_.CreateXor(yes_lanes, block_mask_bits_);
  if (apart) {
    wait_for(yes, yes_lanes);
    wait_for(no, no_lanes);
    ir_.CreateBr(after(position_));
    return;
  }
  llvm::BasicBlock* some = new_block("some");
  ir_.CreateCondBr(ir_.CreateICmpEQ(no_lanes, none), edge(yes), some);
  ir_.SetInsertPoint(some);
  jump_unless_all(yes_lanes, no_lanes, yes, no);
}

/// Of a full warp: whether any lane goes the second way can be told without a mask of 32 bits, which costs more than
/// the comparison (AVX-512 has a test of two mask registers, AVX2 of one vector).
void KernelWriter::jump_if_full(llvm::ICmpInst& compare, uint32_t yes, uint32_t no) {
  llvm::Value* other = ir_.CreateICmp(compare.getInversePredicate(), compare.getOperand(0), compare.getOperand(1));
  llvm::BasicBlock* some = new_block("some");
  ir_.CreateCondBr(ir_.CreateOrReduce(other), some, edge(yes));
  ir_.SetInsertPoint(some);
  llvm::Value* no_lanes = ir_.CreateBitCast(other, ir_.getInt32Ty());
  jump_unless_all(ir_.CreateNot(no_lanes), no_lanes, yes, no);
}

/// Some lanes go the second way.
void KernelWriter::jump_unless_all(llvm::Value* yes_lanes, llvm::Value* no_lanes, uint32_t yes, uint32_t no) {
  llvm::BasicBlock* mixed = new_block("mixed");
  ir_.CreateCondBr(ir_.CreateICmpEQ(yes_lanes, ir_.getInt32(0)), edge(no), mixed);
  ir_.SetInsertPoint(mixed);
  split(yes_lanes, no_lanes, yes, no);
}

/// Where a block that does not end in an indexed branch leads: equal where it has one successor.
KernelWriter::BranchTargets KernelWriter::targets_of(ir::BlockId id) const {
  const ir::Block& block = source_.graph->blocks[id];
  if (block.begin == block.end) return {kEnd, kEnd};
  const uint32_t next = destination_of(block.end);
  const ptx::Instr& last = source_.function->body[block.end - 1];
  if (last.def->role == Role::kBranch) return {destination_of(last.operands[0].first), next};
  if (last.def->role == Role::kReturn || last.def->role == Role::kExit) return {kEnd, next};
  return {next, next};
}

void KernelWriter::emit_terminator(ir::BlockId id) {
  const ir::Block& block = source_.graph->blocks[id];
  const auto [taken, next] = targets_of(id);
  const ptx::Instr* last = block.begin == block.end ? nullptr : &source_.function->body[block.end - 1];
  if (last != nullptr) {
    instr_ = block.end - 1;
    if (last->def->role == Role::kBranchIndexed) return emit_indexed_branch(id);
  }
  if (taken != next && last->guard != ptx::kNoReg) return jump_if(read_guard(*last), taken, next);
  const bool apart = clone_ == Clone::kDyn && lanes_.diverged[id];
  if (!apart) return jump(taken);
  wait_for(taken, block_mask_bits_);
  ir_.CreateBr(after(position_));
}

// Each different target in turn; lanes whose index is beyond the table end, as in the interpreter.
void KernelWriter::emit_indexed_branch(ir::BlockId id) {
  const ir::Block& block = source_.graph->blocks[id];
  const ptx::Instr& in = source_.function->body[block.end - 1];
  emitter_.begin(in);
  llvm::Value* index = e_.widen(emitter_.src(0));
  llvm::Value* lanes = block_mask_bits_;
  if (in.guard != ptx::kNoReg) {
    llvm::Value* taken = ir_.CreateAnd(lanes, ir_.CreateBitCast(e_.widen(read_guard(in)), ir_.getInt32Ty()));
    wait_for(destination_of(block.end), ir_.CreateXor(lanes, taken));
    lanes = taken;
  }
  const auto table = std::find_if(in.operands.begin(), in.operands.end(),
                                  [](const ptx::Operand& o) { return o.tag == ptx::OperandTag::kBranchTable; });
  WL_CHECK(table != in.operands.end());
  const auto& targets = source_.function->branch_tables[table->first];
  for (size_t k = 0; k < targets.size(); ++k) {
    llvm::Value* match = ir_.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), k));
    wait_for(destination_of(targets[k]), ir_.CreateAnd(lanes, ir_.CreateBitCast(match, ir_.getInt32Ty())));
  }
  // Nobody waits at or before this block but for what was just stored, and the walk finds that.
  ir_.CreateBr(after(position_));
}

}  // namespace warplens::codegen
