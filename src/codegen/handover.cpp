// SPDX-License-Identifier: Apache-2.0
// From the full-mask part of a kernel to its masked part; see CodePart. A warp whose lanes part at a branch leaves the
// one function for good: what is alive on either side goes through memory, once a warp, in the forms of the masked part
// (in the full one, values vary less: analyse_whole_warps). Both functions are made from the same source, so both find
// the same forms at the same offsets:
//
//   0   layout position of the block whose branch parted the lanes
//   4   lanes that take the branch
//   8   lanes that do not
//   64  base, and scale where there is one, of each variable alive at a successor, each at a multiple of its size
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <set>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/kernel_writer.h"

namespace warplens::codegen {
namespace {

constexpr uint64_t kYesLanes = 4, kNoLanes = 8, kFirstSlot = 64, kLargestSlot = 64;

}  // namespace

/// Whether the block ends in a branch that the lanes of a full warp may take differently.
bool KernelWriter::may_part(ir::BlockId id) const {
  const ir::Block& block = source_.graph->blocks[id];
  const auto [taken, next] = targets_of(id);
  if (taken == next) return false;
  const ptx::RegId guard = source_.function->body[block.end - 1].guard;
  if (guard == ptx::kNoReg) return false;
  const WebId web = lanes_.webs.read(block.end - 1, guard);
  return web != kNoWeb && !lanes_.info[web].cls.is_uniform();
}

std::vector<KernelWriter::HandoverSlot> KernelWriter::handover_slots(ir::BlockId block, uint64_t& bytes) const {
  std::set<WebId> webs;
  for (const ir::BlockId to : source_.graph->blocks[block].successors)
    for (const auto& [reg, web] : lanes_.webs.live_in[to]) webs.insert(web);
  std::vector<HandoverSlot> slots;
  bytes = kFirstSlot;
  const llvm::DataLayout& layout = e_.module.getDataLayout();
  for (const WebId web : webs)
    for (const bool is_scale : {false, true}) {
      const LaneClass& cls = handed_[web].cls;
      if (cls.constant || (is_scale && cls.shape != Shape::kScaled)) continue;
      llvm::Type* type = lane_type_of(web);
      if (cls.is_vector()) type = llvm::FixedVectorType::get(type, kWarpSize);
      const uint64_t size = layout.getTypeStoreSize(type);
      bytes = round_up(bytes, std::min(kLargestSlot, size));
      slots.push_back({web, is_scale, type, bytes});
      bytes += size;
    }
  return slots;
}

/// The web's value in the masked part's form.
LaneValue KernelWriter::as_handed(WebId web) {
  LaneValue v = read_web(web);
  if (!handed_[web].lazy_nan) v = emitter_.settle_nan(v);
  return handed_[web].cls.is_vector() ? emitter_.widened(v) : v;
}

/// Instead of the split in the full-mask part: the other part runs the warp to its end.
void KernelWriter::hand_over(llvm::Value* yes_lanes, llvm::Value* no_lanes) {
  uint64_t bytes = 0;
  const std::vector<HandoverSlot> slots = handover_slots(block_, bytes);
  if (handover_bytes_ == 0)
    for (ir::BlockId b = 0; b < source_.graph->blocks.size(); ++b) {
      uint64_t needed = 0;
      if (may_part(b)) handover_slots(b, needed);
      handover_bytes_ = std::max(handover_bytes_, needed);
    }
  WL_CHECK(bytes <= handover_bytes_, "block {}: a branch that parts lanes unforeseen", block_);
  llvm::Value* buffer = e_.scratch("handover", handover_bytes_);
  const auto put = [&](llvm::Value* value, uint64_t offset) {
    ir_.CreateAlignedStore(value, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), buffer, offset), llvm::Align(1));
  };
  put(ir_.getInt32(position_), 0);
  put(yes_lanes, kYesLanes);
  put(no_lanes, kNoLanes);
  for (const HandoverSlot& slot : slots) {
    const LaneValue v = as_handed(slot.web);
    put(slot.is_scale ? v.scale : v.cls.is_vector() ? v.vector : v.base, slot.offset);
  }
  ir_.CreateCall(e_.hook("wl_run_masked"), {e_.warp, buffer});
  ir_.CreateBr(finish_);
}

/// The begin of the masked part: the kernel's own, or behind a branch that parted the lanes of a full warp.
void KernelWriter::emit_entries() {
  llvm::Value* from = e_.function->getArg(1);
  const auto get = [&](llvm::Type* type, uint64_t offset) {
    return ir_.CreateAlignedLoad(type, ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), from, offset), llvm::Align(1));
  };
  llvm::BasicBlock* taken_over = new_block("taken_over");
  ir_.CreateCondBr(ir_.CreateIsNull(from), body_[0], taken_over);
  ir_.SetInsertPoint(taken_over);
  llvm::BasicBlock* nowhere = new_block("nowhere");
  llvm::SwitchInst* at = ir_.CreateSwitch(get(ir_.getInt32Ty(), 0), nowhere);
  ir_.SetInsertPoint(nowhere);
  ir_.CreateUnreachable();
  clone_ = Clone::kDyn;
  for (uint32_t p = 0; p < body_.size(); ++p) {
    const ir::BlockId block = source_.loops->layout[p];
    if (!may_part(block)) continue;
    llvm::BasicBlock* entry = new_block("entry");
    at->addCase(ir_.getInt32(p), entry);
    ir_.SetInsertPoint(entry);
    uint64_t bytes = 0;
    for (const HandoverSlot& slot : handover_slots(block, bytes)) {
      const Variable& variable = variables_[slot.web];
      ir_.CreateStore(get(slot.type, slot.offset), slot.is_scale ? variable.scale : variable.base);
    }
    const auto [taken, next] = targets_of(block);
    position_ = p;
    split(get(ir_.getInt32Ty(), kYesLanes), get(ir_.getInt32Ty(), kNoLanes), taken, next);
  }
}

}  // namespace warplens::codegen
