// SPDX-License-Identifier: Apache-2.0
// The control-flow graph of one function: what analyses, code generation and the machine model walk over. Instructions
// stay where the parser put them (Function::body) and keep their OpDef rows; a block is a range of their indices. Edges
// come from the roles of rows, never from opcodes:
//   kBranch         ends its block; guarded: two successors (the target, then the next block), else one
//   kBranchIndexed  ends its block; one successor for each different entry of its table
//   kReturn, kExit  end their block; guarded: the other lanes go on with the next block, and `exits` is set
// Code that cannot be reached is left out. kCall, kTrap and barriers do not end a block.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/module.h"

namespace warplens::ir {

using BlockId = uint32_t;
constexpr BlockId kNoBlock = ~BlockId{0};

struct Block {
  uint32_t begin = 0, end = 0;      ///< instructions [begin, end) of Function::body; empty only for an empty function
  std::vector<BlockId> successors;  ///< branch targets first, the next block last; no duplicates
  std::vector<BlockId> predecessors;
  bool exits = false;  ///< lanes may leave the function here: ret, exit, or the end of the text
};

struct Kernel {
  const ptx::Function* function = nullptr;
  std::vector<Block> blocks;                ///< in text order; [0] is the entry
  std::vector<BlockId> block_of;            ///< by instruction; kNoBlock when it cannot be reached
  std::vector<BlockId> reverse_post_order;  ///< of all blocks, beginning with the entry
};

/// Builds the graph. `function` must outlive it, and must not be a declaration.
Kernel build(const ptx::Function& function);

/// One line a block: "b2 [7, 12) -> b3 b5 exits", each followed by its instructions when a module is given.
std::string dump(const Kernel& kernel, const ptx::Module* module = nullptr);

namespace detail {
template <typename F>
void for_each_register_of(const ptx::Instr& in, const ptx::Operand& o, F&& f) {
  using ptx::OperandTag;
  if (o.tag == OperandTag::kVector) {
    for (uint32_t i = 0; i < o.count; ++i) for_each_register_of(in, in.elements[o.first + i], f);
  } else if (o.tag == OperandTag::kReg || o.tag == OperandTag::kNegReg ||
             (o.tag == OperandTag::kAddress && o.reg != ptx::kNoReg)) {
    f(o.reg);
  }
}
}  // namespace detail

/// Calls f(RegId) for each register that `in` writes, in operand order.
template <typename F>
void for_each_write(const ptx::Instr& in, F&& f) {
  for (size_t i = 0; i < in.operands.size(); ++i)
    if (in.def->form.operands[i].is_dest) detail::for_each_register_of(in, in.operands[i], f);
  for (uint32_t i = 0; i < in.returns; ++i) detail::for_each_register_of(in, in.args[i], f);
}

/// Calls f(RegId) for each register that `in` reads: sources, address bases, the guard, and, when guarded, its own
/// destinations too, because lanes that the guard holds back keep their old values. May name a register twice.
template <typename F>
void for_each_read(const ptx::Instr& in, F&& f) {
  for (size_t i = 0; i < in.operands.size(); ++i)
    if (!in.def->form.operands[i].is_dest) detail::for_each_register_of(in, in.operands[i], f);
  for (size_t i = in.returns; i < in.args.size(); ++i) detail::for_each_register_of(in, in.args[i], f);
  if (in.guard == ptx::kNoReg) return;
  f(in.guard);
  for_each_write(in, f);
}

}  // namespace warplens::ir
