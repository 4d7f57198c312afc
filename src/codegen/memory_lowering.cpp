// SPDX-License-Identifier: Apache-2.0
// The skeleton of a memory access: address class, mask, fast path, cold path, counting. Bounds checks, counting, loads,
// stores and atomics themselves are in memory_lowering_<part>.cpp.
//
//   ok = address inside the site's known range?          (one compare for proven classes)
//   ok:   vector load / broadcast / gather               cold: hook looks the lanes up, or ends the warp
//   counts: a constant, a table entry, or a formula
#include "codegen/memory_lowering.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/memory_access.h"
#include "exec/warp_context.h"

namespace warplens::codegen {
namespace {

/// Wider patterns are treated as vectors: their offsets would not fit 32-bit indices.
constexpr int64_t kLargestExtent = int64_t{1} << 30;

/// See MemoryAccess::compact.
constexpr size_t kMostInlineSites = 48;

Elem element_of(ptx::Type type) {
  switch (ptx::bytes_of(type)) {
    case 1: return Elem::kI8;
    case 2: return Elem::kI16;
    case 4: return Elem::kI32;
    case 8: return Elem::kI64;
    default: return Elem::kI128;
  }
}

unsigned known_alignment(const LaneClass& c) {
  if (c.constant) return *c.constant == 0 ? 63 : static_cast<unsigned>(std::countr_zero(*c.constant));
  return c.align_log2;
}

unsigned trailing_zeros(int64_t v) {
  return v == 0 ? 63 : static_cast<unsigned>(std::countr_zero(static_cast<uint64_t>(v)));
}

llvm::Constant* signed_constant(llvm::Value* like, int64_t v) {
  return llvm::ConstantInt::get(like->getType(), static_cast<uint64_t>(v), true);
}

}  // namespace

llvm::Value* offset_pointer(llvm::IRBuilder<>& ir, llvm::Value* pointer, uint64_t bytes) {
  return bytes == 0 ? pointer : ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), pointer, bytes);
}

LaneClass loaded_class(const LaneClass& address, ptx::Space space) {
  if (address.shape == Shape::kBottom) return address;
  // A uniform generic address may lead into local memory, which differs by lane.
  const bool same_for_all = space == ptx::Space::kGlobal || space == ptx::Space::kConst || space == ptx::Space::kShared;
  return address.is_uniform() && same_for_all ? LaneClass::uniform() : LaneClass::vector();
}

std::vector<LaneValue> lower_load(EmitContext& e, const MemoryOp& op, const LaneValue& address) {
  return MemoryAccess(e, op, events::Access::kLoad, address).load();
}

std::vector<LaneValue> lower_row(EmitContext& e, const MemoryOp& op, const LaneValue& address, int64_t low,
                                 unsigned elements, const std::function<void(llvm::Value*)>& require) {
  return MemoryAccess(e, op, events::Access::kLoad, address).load_row(low, elements, require);
}

void count_load(EmitContext& e, const MemoryOp& op, const LaneValue& address) {
  MemoryAccess(e, op, events::Access::kLoad, address).count_in_row();
}

void lower_store(EmitContext& e, const MemoryOp& op, const LaneValue& address, std::span<const LaneValue> values) {
  MemoryAccess(e, op, events::Access::kStore, address).store(values);
}

LaneValue lower_atomic(EmitContext& e, const MemoryOp& op, const LaneValue& address, const LaneValue& a,
                       const LaneValue* b, bool is_reduction) {
  const auto access = is_reduction ? events::Access::kReduction : events::Access::kAtomic;
  return MemoryAccess(e, op, access, address).atomic(a, b, is_reduction);
}

MemoryAccess::MemoryAccess(EmitContext& e, const MemoryOp& op, events::Access access, const LaneValue& address)
    : e_(e),
      ir_(e.ir),
      op_(op),
      access_(access),
      address_(address),
      element_bytes_(ptx::bytes_of(op.type)),
      bytes_(ptx::bytes_of(op.type) * op.elements),
      bytes_log2_(static_cast<unsigned>(std::countr_zero(bytes_))),
      element_type_(lane_type(e.ir.getContext(), element_of(op.type))) {
  WL_CHECK(is_power_of_two(bytes_), "an access of {} bytes", bytes_);
  WL_CHECK(!op.sites.empty(), "instruction {} accesses memory but has no site", op.pc);
  classify();
}

void MemoryAccess::classify() {
  const LaneClass& c = address_.cls;
  kind_ = Kind::kVector;
  if (c.is_uniform()) {
    kind_ = Kind::kUniform;
    first_ = address_.base;
    extent_ = bytes_;
    align_log2_ = known_alignment(c);
    return;
  }
  if (per_lane_local()) return;
  if (c.shape == Shape::kPattern) classify_pattern();
  if (c.shape == Shape::kScaled && e_.options.bounds) classify_scaled();
}

void MemoryAccess::classify_pattern() {
  const LaneClass& c = address_.cls;
  const auto [low, high] = std::ranges::minmax(*c.offsets);
  if (high - low > kLargestExtent) return;
  for (size_t lane = 0; lane < rel_.size(); ++lane) rel_[lane] = (*c.offsets)[lane] - low;
  if (std::ranges::any_of(rel_, [&](int64_t r) { return r % bytes_ != 0; })) return;
  kind_ = Kind::kPattern;
  first_ = ir_.CreateAdd(address_.base, signed_constant(address_.base, low));
  extent_ = static_cast<uint64_t>(high - low) + bytes_;
  align_log2_ = known_alignment(c);
  if (low != 0) align_log2_ = std::min(align_log2_, trailing_zeros(low));
}

/// Scales are small enough that no lane is further than 2^30 bytes from the base; the hook takes the others.
void MemoryAccess::classify_scaled() {
  const LaneClass& c = address_.cls;
  const Pattern none = {};
  const Pattern& offsets = c.offsets != nullptr ? *c.offsets : none;
  const auto [low, high] = std::ranges::minmax(offsets);
  const auto [down, up] = std::ranges::minmax(*c.steps);
  // Of a lane from the base, and of two lanes from each other (index_from_first_lane).
  const auto reach = static_cast<uint64_t>(std::max({std::abs(down), std::abs(up), up - down}));
  if (high - low > kLargestExtent || std::abs(low) > kLargestExtent || reach > (uint64_t{1} << 24)) return;
  for (const int64_t o : offsets)
    if ((o - low) % bytes_ != 0) return;
  kind_ = Kind::kScaled;
  steps_ = *c.steps;
  offsets_ = offsets;
  llvm::Value* scale = address_.scale;
  const auto number = [&](int64_t v) { return signed_constant(scale, v); };
  llvm::Value* a = ir_.CreateMul(scale, number(down));
  llvm::Value* b = ir_.CreateMul(scale, number(up));
  first_ =
      ir_.CreateAdd(address_.base, ir_.CreateAdd(ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b), number(low)));
  last_ =
      ir_.CreateAdd(address_.base, ir_.CreateAdd(ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b), number(high)));
  const int64_t bound = int64_t{1} << (30 - std::bit_width(reach));
  small_ = ir_.CreateICmpULT(ir_.CreateAdd(scale, number(bound)), number(2 * bound));
  unsigned step_log2 = bytes_log2_;
  for (const int64_t s : steps_) step_log2 = std::min(step_log2, trailing_zeros(s));
  if (const uint64_t odd = low_bits(bytes_log2_ - step_log2); odd != 0)
    small_ =
        ir_.CreateAnd(small_, ir_.CreateICmpEQ(ir_.CreateAnd(scale, number(static_cast<int64_t>(odd))), number(0)));
}

llvm::Value* MemoryAccess::address_vector() { return ir_.CreateZExt(e_.widen(address_), lanes_of(ir_.getInt64Ty())); }

llvm::Value* MemoryAccess::host_pointer(llvm::Value* address) {
  llvm::Value* wide = ir_.CreateZExt(address, ir_.getInt64Ty());
  if (op_.space == ptx::Space::kShared) {
    llvm::Value* shared = e_.load_field(offsetof(exec::WarpContext, shared), ir_.getPtrTy());
    return ir_.CreateInBoundsGEP(ir_.getInt8Ty(), shared, wide);
  }
  return ir_.CreateIntToPtr(wide, ir_.getPtrTy());
}

llvm::Value* MemoryAccess::host_addresses() {
  llvm::Value* lanes = address_vector();
  if (op_.space != ptx::Space::kShared) return lanes;
  llvm::Value* shared = e_.load_field(offsetof(exec::WarpContext, shared), ir_.getInt64Ty());
  return ir_.CreateAdd(lanes, splat(shared));
}

llvm::Value* MemoryAccess::descriptor(uint32_t flags) { return descriptor_of(op_.sites[0], flags, least_code()); }

llvm::Value* MemoryAccess::descriptor_of(uint32_t site, uint32_t flags, Spill spill) {
  const auto word = static_cast<uint32_t>(e_.layout.site_word(site, 0));
  const uint32_t extent = proven() && !is_case_ ? static_cast<uint32_t>(extent_) : bytes_;
  const bool parts = spill == Spill::kParts;
  if (parts) flags |= AccessDescriptor::kParts;
  if (parts && address_.elem == Elem::kI32) flags |= AccessDescriptor::kNarrow;
  const uint32_t words[] = {op_.pc,
                            site,
                            word,
                            static_cast<uint32_t>(op_.space),
                            static_cast<uint32_t>(access_),
                            element_bytes_,
                            op_.elements,
                            extent,
                            flags,
                            0};
  static_assert(std::size(words) == kDescriptorWords);
  llvm::Constant* data =
      llvm::ConstantStruct::getAnon({llvm::ConstantDataArray::get(ir_.getContext(), llvm::ArrayRef<uint32_t>(words)),
                                     e_.pattern_table(parts ? address_.cls.steps : nullptr),
                                     e_.pattern_table(parts ? address_.cls.offsets : nullptr)});
  return new llvm::GlobalVariable(e_.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, "access");
}

llvm::Value* MemoryAccess::mask_bits() { return e_.full_mask ? ir_.getInt32(kFullMask) : e_.mask_bits; }

llvm::Value* MemoryAccess::mask_vector() {
  if (e_.full_mask) return llvm::Constant::getAllOnesValue(lanes_of(ir_.getInt1Ty()));
  return e_.mask_vector;
}

llvm::FixedVectorType* MemoryAccess::lanes_of(llvm::Type* element) const {
  return llvm::FixedVectorType::get(element, kWarpSize);
}

llvm::Value* MemoryAccess::splat(llvm::Value* scalar) { return ir_.CreateVectorSplat(kWarpSize, scalar); }

bool MemoryAccess::unit_stride() const {
  for (unsigned lane = 0; lane < kWarpSize; ++lane)
    if (rel_[lane] != int64_t{lane} * bytes_) return false;
  return kind_ == Kind::kPattern;
}

/// Accesses whose space is found out by the hook are counted there.
uint32_t MemoryAccess::hook_flags() const {
  const bool folded = op_.counted_bytes && *op_.counted_bytes == 0;
  uint32_t flags = e_.options.emit_events && !folded ? AccessDescriptor::kEvents : 0u;
  if (is_counted() && costs_by_branch()) flags |= AccessDescriptor::kCosts;
  if (is_counted() && generic()) flags |= AccessDescriptor::kRequests;
  if (form_matters()) flags |= AccessDescriptor::kWhole;
  return flags;
}

/// Atomics, and a cluster's shared memory: counted by the hook, which does them anyhow.
bool MemoryAccess::form_matters() const {
  return access_ == events::Access::kAtomic || access_ == events::Access::kReduction ||
         op_.space == ptx::Space::kSharedCluster;
}

/// Without bounds checks nothing else asks which space a generic address is in.
bool MemoryAccess::hooks_only() const {
  if (compact()) return true;
  const bool wide_lanes = element_bytes_ > 8 && kind_ != Kind::kUniform;
  const bool scattered_local = per_lane_local() && (kind_ != Kind::kUniform || element_bytes_ < 4);
  const bool elsewhere = op_.space == ptx::Space::kSharedCluster || op_.space == ptx::Space::kParam;
  // A flag and its value, which others write or read meanwhile: the hook moves both at once.
  const bool seen = op_.space == ptx::Space::kGlobal || generic();
  const bool whole = seen && bytes_ == 16 && op_.elements > 1 &&
                     (op_.is_volatile || (op_.instr != nullptr && op_.instr->has("release")));
  return e_.options.emit_events || (!e_.options.bounds && generic()) || wide_lanes || scattered_local || elsewhere ||
         whole;
}

/// In kernels with many accesses the masked copy of the code, rarely run, leaves what is not proven to the hooks: code
/// for each would take longer to compile than it saves.
bool MemoryAccess::compact() const { return !e_.full_mask && !proven() && e_.layout.sites > kMostInlineSites; }

events::Space MemoryAccess::counted_space() const {
  switch (op_.space) {
    case ptx::Space::kShared: return events::Space::kShared;
    case ptx::Space::kLocal: return events::Space::kLocal;
    case ptx::Space::kConst: return events::Space::kConst;
    case ptx::Space::kParam: return events::Space::kParam;
    case ptx::Space::kSharedCluster: return events::Space::kSharedCluster;
    default: return events::Space::kGlobal;  // generic: its fast path is global, hooks count the rest
  }
}

llvm::BasicBlock* MemoryAccess::block(const char* name) {
  return llvm::BasicBlock::Create(ir_.getContext(), name, e_.function);
}

void MemoryAccess::branch_likely(llvm::Value* condition, llvm::BasicBlock* yes, llvm::BasicBlock* no) {
  ir_.CreateCondBr(condition, yes, no, llvm::MDBuilder(ir_.getContext()).createBranchWeights(100000, 1));
}

llvm::BasicBlock* MemoryAccess::skip_when_empty(llvm::BasicBlock** before) {
  *before = ir_.GetInsertBlock();
  if (e_.full_mask || !e_.mask_may_be_empty) return nullptr;
  llvm::BasicBlock* active = block("access");
  llvm::BasicBlock* done = block("access.done");
  ir_.CreateCondBr(ir_.CreateICmpNE(e_.mask_bits, ir_.getInt32(0)), active, done);
  ir_.SetInsertPoint(active);
  return done;
}

LaneValue MemoryAccess::lane_value(llvm::Value* v) const {
  LaneValue out;
  out.elem = element_of(op_.type);
  if (v->getType()->isVectorTy()) {
    out.cls = LaneClass::vector();
    out.vector = v;
  } else {
    out.cls = LaneClass::uniform();
    out.base = v;
  }
  return out;
}

llvm::Value* MemoryAccess::spill_addresses(Spill spill) {
  llvm::Value* buffer = e_.scratch("lane_address", 32 * sizeof(uint64_t));
  if (spill == Spill::kLanes) {
    ir_.CreateAlignedStore(address_vector(), buffer, llvm::Align(64));
    return buffer;
  }
  ir_.CreateAlignedStore(ir_.CreateZExt(address_.base, ir_.getInt64Ty()), buffer, llvm::Align(64));
  if (address_.cls.shape == Shape::kScaled)
    ir_.CreateAlignedStore(ir_.CreateZExt(address_.scale, ir_.getInt64Ty()),
                           ir_.CreateConstInBoundsGEP1_64(ir_.getInt64Ty(), buffer, 1), llvm::Align(8));
  return buffer;
}

std::vector<LaneValue> MemoryAccess::load() {
  llvm::BasicBlock* before = nullptr;
  llvm::BasicBlock* done = skip_when_empty(&before);
  Values values = load_active();
  if (done != nullptr) {
    llvm::BasicBlock* from = ir_.GetInsertBlock();
    ir_.CreateBr(done);
    ir_.SetInsertPoint(done);
    for (llvm::Value*& v : values) {
      llvm::PHINode* phi = ir_.CreatePHI(v->getType(), 2);
      phi->addIncoming(llvm::Constant::getNullValue(v->getType()), before);
      phi->addIncoming(v, from);
      v = phi;
    }
  }
  std::vector<LaneValue> out;
  for (llvm::Value* v : values) out.push_back(lane_value(v));
  return out;
}

void MemoryAccess::store(std::span<const LaneValue> lanes) {
  llvm::BasicBlock* before = nullptr;
  llvm::BasicBlock* done = skip_when_empty(&before);
  store_active(lanes);
  if (done == nullptr) return;
  ir_.CreateBr(done);
  ir_.SetInsertPoint(done);
}

}  // namespace warplens::codegen
