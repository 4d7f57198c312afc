// SPDX-License-Identifier: Apache-2.0
// Addresses of which nothing is known when the code is made: most turn out to be consecutive, or all equal. The code
// asks, and then goes on as with a proven address, for check, access and count alike (measured: the question costs 1.5
// to 3 ns, a gather 9, counting addresses in no order 60 and more).
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "base/bits.h"
#include "codegen/memory_access.h"

namespace warplens::codegen {

bool MemoryAccess::asks_cases() const {
  const bool plain =
      op_.space == ptx::Space::kGlobal || op_.space == ptx::Space::kConst || op_.space == ptx::Space::kShared;
  return kind_ == Kind::kVector && plain && op_.elements == 1 && element_bytes_ >= 4 && !hooks_only();
}

/// Emits the questions; the builder is in none of the blocks afterwards.
MemoryAccess::Cases MemoryAccess::ask_cases(bool ask_equal) {
  llvm::Value* lanes = e_.widen(address_);
  llvm::Type* scalar = lanes->getType()->getScalarType();
  Cases cases;
  llvm::Value* lane = ir_.getInt32(0);
  if (!e_.full_mask) lane = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, e_.mask_bits, ir_.getTrue());
  cases.place = ir_.CreateExtractElement(lanes, lane);
  llvm::Value* before = ir_.CreateMul(ir_.CreateZExtOrTrunc(lane, scalar), llvm::ConstantInt::get(scalar, bytes_));
  cases.row = ir_.CreateSub(cases.place, before);
  std::vector<llvm::Constant*> steps;
  for (unsigned l = 0; l < kWarpSize; ++l) steps.push_back(llvm::ConstantInt::get(scalar, uint64_t{l} * bytes_));
  llvm::Value* row = ir_.CreateAdd(splat(cases.row), llvm::ConstantVector::get(steps));
  cases.consecutive = block("consecutive");
  cases.other = block("other");
  llvm::BasicBlock* next = ask_equal ? block("ask.equal") : cases.other;
  ir_.CreateCondBr(all_active(ir_.CreateICmpEQ(lanes, row)), cases.consecutive, next);
  if (ask_equal) {
    cases.equal = block("equal");
    ir_.SetInsertPoint(next);
    ir_.CreateCondBr(all_active(ir_.CreateICmpEQ(lanes, splat(cases.place))), cases.equal, cases.other);
  }
  cases.done = block("cases.done");
  return cases;
}

/// This access with an address that the code has found to be a row of lanes, or one place.
MemoryAccess MemoryAccess::case_of(llvm::Value* base, bool is_row) const {
  Pattern steps;
  for (unsigned l = 0; l < kWarpSize; ++l) steps[l] = int64_t{l} * bytes_;
  LaneValue address;
  address.elem = address_.elem;
  address.cls = is_row ? LaneClass::pattern(steps, 0) : LaneClass::uniform();
  address.base = base;
  MemoryAccess access(e_, op_, access_, address);
  access.is_case_ = true;
  return access;
}

MemoryAccess::Values MemoryAccess::load_by_case() {
  const Cases cases = ask_cases(true);
  llvm::PHINode* phi = llvm::PHINode::Create(lanes_of(element_type_), 3);
  const auto finish = [&](llvm::Value* v) {
    if (!v->getType()->isVectorTy()) v = splat(v);
    phi->addIncoming(v, ir_.GetInsertBlock());
    ir_.CreateBr(cases.done);
  };
  for (const bool is_row : {true, false}) {
    ir_.SetInsertPoint(is_row ? cases.consecutive : cases.equal);
    MemoryAccess access = case_of(is_row ? cases.row : cases.place, is_row);
    const Values values = access.load_plain();
    access.count_costs();
    finish(values[0]);
  }
  ir_.SetInsertPoint(cases.other);
  const Values values = load_plain();
  count_costs();
  finish(values[0]);
  ir_.SetInsertPoint(cases.done);
  ir_.Insert(phi);
  return {phi};
}

void MemoryAccess::store_by_case(std::span<const LaneValue> lanes) {
  const Cases cases = ask_cases(false);
  ir_.SetInsertPoint(cases.consecutive);
  MemoryAccess row = case_of(cases.row, true);
  row.store_plain(lanes);
  row.count_costs();
  ir_.CreateBr(cases.done);
  ir_.SetInsertPoint(cases.other);
  store_plain(lanes);
  count_costs();
  ir_.CreateBr(cases.done);
  ir_.SetInsertPoint(cases.done);
}

}  // namespace warplens::codegen
