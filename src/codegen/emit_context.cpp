// SPDX-License-Identifier: Apache-2.0
// The shared tools of emission: widening of lane classes, fields of the warp context, per-warp counters, hook
// declarations. The prototypes of hooks come from runtime_hooks.def, the one list.
#include "codegen/emit_context.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <string_view>

#include "base/bits.h"
#include "base/check.h"
#include "exec/warp_context.h"

namespace warplens::codegen {
namespace {

/// More live counters than this only spill each other.
constexpr size_t kMostCountersInRegisters = 16;

struct HookPrototype {
  std::string_view name, result, arguments;
};

constexpr HookPrototype kHooks[] = {
#define HOOK(name, result, ...) {#name, #result, #__VA_ARGS__},
#include "codegen/runtime_hooks.def"
#undef HOOK
    {"", "", ""},
};

llvm::Type* hook_type(llvm::LLVMContext& context, std::string_view word) {
  if (word == "ptr") return llvm::PointerType::get(context, 0);
  if (word == "i32") return llvm::Type::getInt32Ty(context);
  if (word == "i64") return llvm::Type::getInt64Ty(context);
  WL_CHECK(word == "void", "runtime_hooks.def: type {}", word);
  return llvm::Type::getVoidTy(context);
}

std::vector<llvm::Type*> hook_arguments(llvm::LLVMContext& context, std::string_view list) {
  std::vector<llvm::Type*> types;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ')) word.remove_suffix(1);
    if (!word.empty()) types.push_back(hook_type(context, word));
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  return types;
}

llvm::Constant* pattern_vector(llvm::Type* scalar, const Pattern& p) {
  std::vector<llvm::Constant*> lanes;
  lanes.reserve(p.size());
  for (const int64_t v : p) lanes.push_back(llvm::ConstantInt::get(scalar, static_cast<uint64_t>(v), true));
  return llvm::ConstantVector::get(lanes);
}

/// `at`: of 64-bit words.
void add_to(llvm::IRBuilder<>& ir, llvm::Value* at, llvm::Value* amount) {
  const llvm::Align align(8);
  ir.CreateAlignedStore(ir.CreateAdd(ir.CreateAlignedLoad(amount->getType(), at, align), amount), at, align);
}

}  // namespace

llvm::Type* lane_type(llvm::LLVMContext& context, Elem e) {
  switch (e) {
    case Elem::kI1: return llvm::Type::getInt1Ty(context);
    case Elem::kI8: return llvm::Type::getInt8Ty(context);
    case Elem::kI16: return llvm::Type::getInt16Ty(context);
    case Elem::kI32: return llvm::Type::getInt32Ty(context);
    case Elem::kI64: return llvm::Type::getInt64Ty(context);
    case Elem::kI128: return llvm::Type::getInt128Ty(context);
    case Elem::kF16: return llvm::Type::getHalfTy(context);
    case Elem::kBF16: return llvm::Type::getInt16Ty(context);  // as LLVM type it drags in library calls
    case Elem::kF32: return llvm::Type::getFloatTy(context);
    case Elem::kF64: return llvm::Type::getDoubleTy(context);
  }
  WL_CHECK(false, "element {}", static_cast<int>(e));
  return nullptr;
}

llvm::AllocaInst* EmitContext::warp_counter(size_t word, unsigned words) {
  for (const WarpCounter& c : warp_counters)
    if (c.word == word && c.words == words) return c.slot;
  llvm::Type* i64 = ir.getInt64Ty();
  llvm::Type* type = words == 1 ? i64 : llvm::FixedVectorType::get(i64, words);
  llvm::IRBuilder<> entry(alloca_block, alloca_block->begin());
  llvm::AllocaInst* slot = entry.CreateAlloca(type, nullptr, "count");
  entry.CreateStore(llvm::Constant::getNullValue(type), slot);
  warp_counters.push_back({word, words, slot});
  return slot;
}

void EmitContext::count(size_t word, llvm::Value* amount) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(amount->getType());
  const unsigned words = vector == nullptr ? 1 : vector->getNumElements();
  bool known = false;
  for (const WarpCounter& c : warp_counters) known |= c.word == word && c.words == words;
  if (masked_copy || (!known && warp_counters.size() >= kMostCountersInRegisters)) return count_seldom(word, amount);
  add_to(ir, warp_counter(word, words), amount);
}

void EmitContext::count_seldom(size_t word, llvm::Value* amount) {
  add_to(ir,
         ir.CreateConstInBoundsGEP1_64(ir.getInt64Ty(),
                                       load_field(offsetof(exec::WarpContext, counters), ir.getPtrTy()), word),
         amount);
}

void EmitContext::flush_counters() {
  if (warp_counters.empty()) return;
  llvm::Value* words = load_field(offsetof(exec::WarpContext, counters), ir.getPtrTy());
  for (const WarpCounter& c : warp_counters) {
    llvm::Type* type = c.slot->getAllocatedType();
    llvm::Value* at = ir.CreateConstInBoundsGEP1_64(ir.getInt64Ty(), words, c.word);
    llvm::Value* sum =
        ir.CreateAdd(ir.CreateAlignedLoad(type, at, llvm::Align(8)), ir.CreateLoad(type, c.slot), "flush");
    ir.CreateAlignedStore(sum, at, llvm::Align(8));
  }
}

llvm::Value* EmitContext::widen(const LaneValue& v) {
  if (v.cls.is_vector()) return v.vector;
  llvm::Value* wide = ir.CreateVectorSplat(kWarpSize, v.base);
  if (v.cls.is_uniform()) return wide;
  llvm::Type* scalar = v.base->getType();
  if (v.cls.shape == Shape::kScaled) {
    llvm::Value* steps = pattern_vector(scalar, *v.cls.steps);
    wide = ir.CreateAdd(wide, ir.CreateMul(ir.CreateVectorSplat(kWarpSize, v.scale), steps));
  }
  if (v.cls.offsets != nullptr) wide = ir.CreateAdd(wide, pattern_vector(scalar, *v.cls.offsets));
  return wide;
}

llvm::Constant* EmitContext::pattern_table(const Pattern* p) {
  if (p == nullptr) return llvm::ConstantPointerNull::get(ir.getPtrTy());
  std::vector<uint64_t> words(p->begin(), p->end());
  llvm::Constant* data = llvm::ConstantDataArray::get(ir.getContext(), words);
  uint64_t hash = 0;
  for (const uint64_t w : words) hash = hash * 0x9e3779b97f4a7c15 + w;
  const std::string name = fmt::format("pattern.{:x}", hash);
  llvm::GlobalVariable* known = module.getNamedGlobal(name);
  if (known != nullptr && known->getInitializer() == data) return known;
  return new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, name);
}

llvm::FunctionCallee EmitContext::hook(const char* name) {
  for (const HookPrototype& h : kHooks) {
    if (h.name != name) continue;
    llvm::LLVMContext& context = module.getContext();
    auto* type = llvm::FunctionType::get(hook_type(context, h.result), hook_arguments(context, h.arguments), false);
    return module.getOrInsertFunction(name, type);
  }
  WL_CHECK(false, "no hook {} in runtime_hooks.def", name);
  return {};
}

llvm::Value* EmitContext::load_field(size_t offset, llvm::Type* type) {
  llvm::Value* at = ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), warp, offset);
  llvm::LoadInst* load = ir.CreateLoad(type, at);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module.getContext(), {}));
  return load;
}

llvm::Value* EmitContext::scratch(const std::string& name, uint64_t bytes) {
  for (const auto& [known, slot] : scratches) {
    if (known != name) continue;
    const uint64_t have = slot->getAllocatedType()->getArrayNumElements();
    WL_CHECK(have >= bytes, "scratch {} has {} bytes, {} wanted", name, have, bytes);
    return slot;
  }
  llvm::IRBuilder<> entry(alloca_block, alloca_block->begin());
  llvm::AllocaInst* slot = entry.CreateAlloca(llvm::ArrayType::get(ir.getInt8Ty(), bytes), nullptr, name);
  slot->setAlignment(llvm::Align(64));
  scratches.emplace_back(name, slot);
  return slot;
}

}  // namespace warplens::codegen
