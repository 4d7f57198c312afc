// SPDX-License-Identifier: Apache-2.0
// A stretch is a run of instructions of one block that write no memory. Within it the multiply-adds are placed chain
// group by chain group; what they need (loads, broadcasts) is placed right before its first use; the rest follows as it
// was. Chains: the sum that a multiply-add adds to is the result of another one of the stretch, which nothing else
// needs.
#include "codegen/chain_order.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <vector>

namespace warplens::codegen {
namespace {

using llvm::Instruction;

/// Fewer are not worth another order.
constexpr size_t kFewestSums = 64;

bool is_multiply_add(const Instruction& in) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&in);
  return call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::fma && call->getType()->isVectorTy();
}

class Stretch {
 public:
  Stretch(std::vector<Instruction*> instructions, unsigned registers, unsigned register_bits)
      : all_(std::move(instructions)), registers_(registers), register_bits_(register_bits) {
    for (size_t i = 0; i < all_.size(); ++i) place_[all_[i]] = i;
  }

  void order() {
    find_chains();
    if (sums_ < kFewestSums || deepest_ < 2) return;
    const auto bits = static_cast<unsigned>(chains_[0][0]->getType()->getPrimitiveSizeInBits());
    const size_t at_once = std::max(1u, registers_ * register_bits_ / bits);
    if (chains_.size() <= at_once) return;
    end_ = all_.back()->getNextNode();
    placed_.assign(all_.size(), false);
    for (size_t first = 0; first < chains_.size(); first += at_once) {
      const size_t behind = std::min(first + at_once, chains_.size());
      for (size_t round = 0; round < deepest_; ++round)
        for (size_t c = first; c < behind; ++c)
          if (round < chains_[c].size()) place(chains_[c][round]);
    }
    for (Instruction* in : all_) place(in);
  }

 private:
  /// Chains in the order of their first sums.
  void find_chains() {
    llvm::DenseMap<Instruction*, size_t> chain_of;
    for (Instruction* in : all_) {
      if (!is_multiply_add(*in)) continue;
      ++sums_;
      auto* before = llvm::dyn_cast<Instruction>(in->getOperand(2));
      const auto known = before != nullptr && before->hasOneUse() ? chain_of.find(before) : chain_of.end();
      const size_t chain = known != chain_of.end() ? known->second : chains_.size();
      if (chain == chains_.size()) chains_.emplace_back();
      chains_[chain].push_back(in);
      chain_of[in] = chain;
      deepest_ = std::max(deepest_, chains_[chain].size());
    }
  }

  /// After what it needs. Blocks can be long, so that this keeps its own stack.
  void place(Instruction* wanted) {
    llvm::SmallVector<Instruction*, 32> stack = {wanted};
    while (!stack.empty()) {
      Instruction* in = stack.back();
      if (placed_[place_[in]]) {
        stack.pop_back();
        continue;
      }
      const size_t depth = stack.size();
      for (llvm::Value* operand : in->operands()) {
        auto* needed = llvm::dyn_cast<Instruction>(operand);
        if (needed == nullptr) continue;
        const auto here = place_.find(needed);
        if (here != place_.end() && !placed_[here->second]) stack.push_back(needed);
      }
      if (stack.size() != depth) continue;
      stack.pop_back();
      placed_[place_[in]] = true;
      if (end_ != nullptr) in->moveBefore(end_);
    }
  }

  std::vector<Instruction*> all_;
  unsigned registers_, register_bits_;
  llvm::DenseMap<Instruction*, size_t> place_;
  std::vector<bool> placed_;
  std::vector<std::vector<Instruction*>> chains_;
  size_t sums_ = 0, deepest_ = 0;
  Instruction* end_ = nullptr;
};

}  // namespace

void order_chains(llvm::Function& function, unsigned registers, unsigned register_bits) {
  for (llvm::BasicBlock& block : function) {
    std::vector<std::vector<Instruction*>> stretches(1);
    for (Instruction& in : block) {
      if (llvm::isa<llvm::PHINode>(in) || llvm::isa<llvm::AllocaInst>(in)) continue;
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&in);
      const bool fixed = in.isTerminator() || in.mayHaveSideEffects() || (load != nullptr && !load->isUnordered());
      if (!fixed)
        stretches.back().push_back(&in);
      else if (!stretches.back().empty())
        stretches.emplace_back();
    }
    for (auto& instructions : stretches)
      if (instructions.size() >= kFewestSums) Stretch(std::move(instructions), registers, register_bits).order();
  }
}

}  // namespace warplens::codegen
