// SPDX-License-Identifier: Apache-2.0
#include "codegen/chain_order.h"

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>

#include <map>

namespace warplens::codegen {
namespace {

constexpr unsigned kChains = 24, kRounds = 4;

/// for round: for chain: sum[chain] += load(round) * load(round, chain); then all sums are stored.
struct Tile {
  llvm::LLVMContext context;
  llvm::Module module{"tile", context};
  llvm::Function* function = nullptr;
  std::map<const llvm::Value*, std::pair<unsigned, unsigned>> sum_of;  ///< chain, round

  explicit Tile(bool store_in_the_middle = false) {
    llvm::IRBuilder<> ir(context);
    auto* type = llvm::FixedVectorType::get(ir.getFloatTy(), 32);
    function = llvm::Function::Create(llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy(), ir.getPtrTy()}, false),
                                      llvm::Function::ExternalLinkage, "tile", module);
    ir.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
    llvm::Value *in = function->getArg(0), *out = function->getArg(1);
    const auto load = [&](unsigned at) { return ir.CreateLoad(type, ir.CreateConstGEP1_64(type, in, at)); };
    std::vector<llvm::Value*> sums(kChains, llvm::Constant::getNullValue(type));
    for (unsigned r = 0; r < kRounds; ++r) {
      llvm::Value* a = load(r);
      for (unsigned c = 0; c < kChains; ++c) {
        sums[c] = ir.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {a, load(100 + r * kChains + c), sums[c]});
        sum_of[sums[c]] = {c, r};
      }
      if (store_in_the_middle && r == 1) ir.CreateStore(sums[3], out);
    }
    for (unsigned c = 0; c < kChains; ++c) ir.CreateStore(sums[c], ir.CreateConstGEP1_64(type, out, c));
    ir.CreateRetVoid();
  }

  std::vector<std::pair<unsigned, unsigned>> order() const {
    std::vector<std::pair<unsigned, unsigned>> out;
    for (const llvm::Instruction& in : function->getEntryBlock())
      if (const auto found = sum_of.find(&in); found != sum_of.end()) out.push_back(found->second);
    return out;
  }
};

TEST(ChainOrder, takes_as_many_sums_at_once_as_registers_hold) {
  Tile tile;
  const size_t before = tile.function->getEntryBlock().size();
  order_chains(*tile.function, 16, 512);  // a sum of 32 floats fills two
  EXPECT_FALSE(llvm::verifyModule(tile.module, &llvm::errs()));
  EXPECT_EQ(tile.function->getEntryBlock().size(), before);
  const auto order = tile.order();
  ASSERT_EQ(order.size(), size_t{kChains} * kRounds);
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t group = i / (8 * kRounds), within = i % (8 * kRounds);
    EXPECT_EQ(order[i].first, group * 8 + within % 8) << i;
    EXPECT_EQ(order[i].second, within / 8) << i;
  }
}

TEST(ChainOrder, moves_nothing_past_a_store) {
  Tile tile(true);
  order_chains(*tile.function, 16, 512);
  EXPECT_FALSE(llvm::verifyModule(tile.module, &llvm::errs()));
  const auto order = tile.order();
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i].second < 2, i < size_t{kChains} * 2) << i;
}

TEST(ChainOrder, leaves_what_fits) {
  Tile tile;
  const auto before = tile.order();
  order_chains(*tile.function, 48, 512);
  EXPECT_EQ(tile.order(), before);
}

}  // namespace
}  // namespace warplens::codegen
