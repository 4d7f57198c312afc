// SPDX-License-Identifier: Apache-2.0
// The copy of a loop for warps whose lanes hold equal values (equal_loops.h). FULL enters it where the loop begins,
// after a test of the vectors that the loop's branches depend on, and goes on in FULL where the loop is left. Webs that
// have another form in the copy (mostly: a scalar instead of a vector) have a variable of their own there; where lanes
// are together, a scalar is the vector of that value in all lanes.
#include <algorithm>

#include "codegen/kernel_writer.h"

namespace warplens::codegen {

void KernelWriter::make_equal_copies() {
  if (!has_full()) return;
  equal_loops_ = find_equal_loops(source_, lanes_);
  for (const EqualLoop& loop : equal_loops_) {
    const analysis::Loop& range = source_.loops->loops[loop.loop];
    EqualCopy copy;
    copy.of = &loop;
    copy.first = range.first;
    copy.last = range.last;
    copy.enter = new_block("enter");
    for (uint32_t p = range.first; p < range.last; ++p) copy.blocks.push_back(new_block("equal"));
    copy.variables.resize(variables_.size());
    for (WebId w = 0; w < variables_.size(); ++w)
      if (!same_form(loop.info[w].cls, lanes_.info[w].cls)) copy.variables[w] = make_variable(w, loop.info[w].cls);
    equal_copies_.push_back(std::move(copy));
  }
}

/// The copy of the loop whose header stands there, or null.
const KernelWriter::EqualCopy* KernelWriter::equal_copy_at(uint32_t position) const {
  const auto at = std::ranges::find(equal_copies_, position, &EqualCopy::first);
  return at == equal_copies_.end() ? nullptr : &*at;
}

/// Whether the web has another form in the copy being emitted than outside.
bool KernelWriter::own_form(WebId web) const {
  return equal_copy_ != nullptr && !same_form(equal_copy_->of->info[web].cls, lanes_.info[web].cls);
}

const WebInfo& KernelWriter::info_of(WebId web) const {
  return equal_copy_ != nullptr ? equal_copy_->of->info[web] : lanes_.info[web];
}

const KernelWriter::Variable& KernelWriter::variable_of(WebId web) const {
  return own_form(web) ? equal_copy_->variables[web] : variables_[web];
}

void KernelWriter::emit_equal_copy(const EqualCopy& copy) {
  emit_enter(copy);
  clone_ = Clone::kEqual;
  equal_copy_ = &copy;
  for (uint32_t p = copy.first; p < copy.last; ++p) emit_block(p);
  equal_copy_ = nullptr;
  clone_ = Clone::kFull;
}

/// To the copy where each vector compared has the same bits in all lanes.
void KernelWriter::emit_enter(const EqualCopy& copy) {
  ir_.SetInsertPoint(copy.enter);
  llvm::Value* differ = nullptr;
  std::vector<std::pair<llvm::Value*, llvm::AllocaInst*>> scalars;
  for (const WebId web : copy.of->compared) {
    llvm::AllocaInst* variable = variables_[web].base;
    llvm::Value* vector = ir_.CreateLoad(variable->getAllocatedType(), variable);
    llvm::Value* first = ir_.CreateExtractElement(vector, uint64_t{0});
    const unsigned bits = vector->getType()->getScalarSizeInBits();
    auto* integers = llvm::FixedVectorType::get(ir_.getIntNTy(bits), kWarpSize);
    llvm::Value* all_first = ir_.CreateVectorSplat(kWarpSize, ir_.CreateBitCast(first, ir_.getIntNTy(bits)));
    llvm::Value* other = ir_.CreateICmpNE(ir_.CreateBitCast(vector, integers), all_first);
    differ = differ == nullptr ? other : ir_.CreateOr(differ, other);
    scalars.emplace_back(first, copy.variables[web].base);
  }
  llvm::BasicBlock* equal = new_block("lanes_equal");
  ir_.CreateCondBr(ir_.CreateOrReduce(differ), full_[copy.first], equal);
  ir_.SetInsertPoint(equal);
  for (const auto& [value, slot] : scalars) ir_.CreateStore(value, slot);
  ir_.CreateBr(copy.blocks[0]);
}

/// From the copy to a block behind the loop, in FULL: what is alive there takes its form from outside.
void KernelWriter::leave_equal_copy(uint32_t destination) {
  for (const auto& [reg, web] : lanes_.webs.live_in[source_.loops->layout[destination]])
    if (web != kNoWeb && own_form(web)) ir_.CreateStore(e_.widen(read_web(web)), variables_[web].base);
  const EqualCopy* left = equal_copy_;
  equal_copy_ = nullptr;
  clone_ = Clone::kFull;
  ir_.CreateBr(code_at(destination));
  clone_ = Clone::kEqual;
  equal_copy_ = left;
}

}  // namespace warplens::codegen
