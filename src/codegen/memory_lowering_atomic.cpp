// SPDX-License-Identifier: Apache-2.0
// Atomics and reductions: the hook goes lane by lane in lane order, with the row's own reference for the combination
// and host atomics on global memory, since blocks on other threads act at the same time. It counts, too: what an atomic
// costs depends on which lanes share a place.
#include <llvm/IR/Constants.h>

#include "base/bits.h"
#include "codegen/memory_access.h"

namespace warplens::codegen {

llvm::Value* MemoryAccess::spill_operand(const LaneValue& v, const char* name) {
  llvm::Value* buffer = e_.scratch(name, 512);
  ir_.CreateAlignedStore(as_element(e_.widen(v)), buffer, llvm::Align(64));
  return buffer;
}

llvm::Value* MemoryAccess::atomic_active(const LaneValue& a, const LaneValue* b, bool is_reduction) {
  llvm::Value* at = spill_addresses();
  llvm::Value* first = spill_operand(a, "atomic_a");
  llvm::Value* second = b != nullptr ? spill_operand(*b, "atomic_b") : llvm::ConstantPointerNull::get(ir_.getPtrTy());
  llvm::Value* out = e_.scratch("lane_values", 1024);
  ir_.CreateCall(e_.hook("wl_atomic_lanes"), {e_.warp, descriptor(hook_flags()), mask_bits(), at, first, second, out});
  return is_reduction ? nullptr : ir_.CreateAlignedLoad(lanes_of(element_type_), out, llvm::Align(64));
}

LaneValue MemoryAccess::atomic(const LaneValue& a, const LaneValue* b, bool is_reduction) {
  llvm::BasicBlock* before = nullptr;
  llvm::BasicBlock* done = skip_when_empty(&before);
  llvm::Value* old = atomic_active(a, b, is_reduction);
  if (done != nullptr) {
    llvm::BasicBlock* from = ir_.GetInsertBlock();
    ir_.CreateBr(done);
    ir_.SetInsertPoint(done);
    if (old != nullptr) {
      llvm::PHINode* phi = ir_.CreatePHI(old->getType(), 2);
      phi->addIncoming(llvm::Constant::getNullValue(old->getType()), before);
      phi->addIncoming(old, from);
      old = phi;
    }
  }
  return old == nullptr ? LaneValue{} : lane_value(old);
}

}  // namespace warplens::codegen
