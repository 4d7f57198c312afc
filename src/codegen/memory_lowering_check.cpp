// SPDX-License-Identifier: Apache-2.0
// Bounds and alignment in one compare. An access of 2^k bytes at `a` lies inside [begin, end) and is aligned exactly
// when rotate_right(a - begin, k) < limit, for a begin that is a multiple of 2^k: an address below begin wraps to a
// huge number, and a misaligned one has its low bits rotated to the top. The hook behind wl_check_lanes keeps begin and
// limit for each site (exec::CachedRange); shared memory has its own limits in the warp context.
#include <llvm/IR/Intrinsics.h>

#include "base/bits.h"
#include "codegen/memory_access.h"
#include "exec/warp_context.h"
#include "memory/address_space.h"

namespace warplens::codegen {
namespace {

llvm::Value* rotate_right(llvm::IRBuilder<>& ir, llvm::Value* v, unsigned k) {
  if (k == 0) return v;
  return ir.CreateIntrinsic(llvm::Intrinsic::fshr, {v->getType()}, {v, v, llvm::ConstantInt::get(v->getType(), k)});
}

}  // namespace

llvm::Value* MemoryAccess::global_in_range(llvm::Value* at) {
  llvm::Value* ranges = e_.load_field(offsetof(exec::WarpContext, ranges), ir_.getPtrTy());
  const uint64_t range = uint64_t{op_.sites[0]} * sizeof(exec::CachedRange);
  const auto field = [&](size_t offset) -> llvm::Value* {
    return ir_.CreateLoad(ir_.getInt64Ty(), ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), ranges, range + offset));
  };
  llvm::Value* begin = field(offsetof(exec::CachedRange, aligned_begin));
  llvm::Value* limit = field(offsetof(exec::CachedRange, limit));
  if (is_case_ && extent_ > bytes_)
    limit = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, limit, ir_.getInt64(extent_ / bytes_ - 1));
  if (at->getType()->isVectorTy()) {
    begin = splat(begin);
    limit = splat(limit);
  }
  return ir_.CreateICmpULT(rotate_right(ir_, ir_.CreateSub(at, begin), bytes_log2_), limit);
}

/// Offsets of a window that is valid in [begin, end): `begin` is a multiple of every access width.
llvm::Value* MemoryAccess::window_in_range(llvm::Value* at, uint64_t begin, llvm::Value* end) {
  const uint64_t extent = proven() ? extent_ : bytes_;
  llvm::Type* scalar = at->getType()->getScalarType();
  llvm::Value* limit = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, ir_.CreateZExt(end, scalar),
                                                 llvm::ConstantInt::get(scalar, begin + extent - 1));
  // The number of valid starts, in units of the access width, rounded up.
  limit = ir_.CreateLShr(ir_.CreateAdd(limit, llvm::ConstantInt::get(scalar, bytes_ - 1)), bytes_log2_);
  llvm::Value* from = llvm::ConstantInt::get(scalar, begin);
  if (at->getType()->isVectorTy()) {
    limit = splat(limit);
    from = splat(from);
  }
  return ir_.CreateICmpULT(rotate_right(ir_, ir_.CreateSub(at, from), bytes_log2_), limit);
}

llvm::Value* MemoryAccess::all_active(llvm::Value* lanes) {
  llvm::Value* bits = ir_.CreateBitCast(lanes, ir_.getInt32Ty());
  if (!e_.full_mask) bits = ir_.CreateOr(bits, ir_.CreateNot(e_.mask_bits));
  return ir_.CreateICmpEQ(bits, ir_.getInt32(kFullMask));
}

llvm::Value* MemoryAccess::in_range(llvm::Value* at) {
  switch (op_.space) {
    case ptx::Space::kShared:
      return window_in_range(at, memory::kSharedReservedBytes,
                             e_.load_field(offsetof(exec::WarpContext, shared_end), ir_.getInt32Ty()));
    case ptx::Space::kLocal:
      return window_in_range(at, 0, e_.load_field(offsetof(exec::WarpContext, local_end), ir_.getInt32Ty()));
    default: return global_in_range(at);
  }
}

llvm::Value* MemoryAccess::in_range() {
  if (!e_.options.bounds) return ir_.getTrue();
  if (proven()) return in_range(first_);
  if (kind_ == Kind::kVector) return all_active(in_range(e_.widen(address_)));
  return ir_.CreateAnd(small_, ir_.CreateAnd(in_range(first_), in_range(last_)));
}

void MemoryAccess::check_in_hook() {
  llvm::Value* at = spill_addresses();
  ir_.CreateCall(e_.hook("wl_check_lanes"), {e_.warp, descriptor(0), mask_bits(), at});
}

void MemoryAccess::check() {
  if (!e_.options.bounds) return;
  llvm::BasicBlock* cold = block("check.cold");
  llvm::BasicBlock* checked = block("checked");
  branch_likely(in_range(), checked, cold);
  ir_.SetInsertPoint(cold);
  check_in_hook();
  ir_.CreateBr(checked);
  ir_.SetInsertPoint(checked);
}

}  // namespace warplens::codegen
