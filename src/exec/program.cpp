// SPDX-License-Identifier: Apache-2.0
#include "exec/program.h"

#include <algorithm>

#include "analysis/spin_loops.h"
#include "base/bits.h"
#include "base/check.h"
#include "exec/access_check.h"
#include "exec/executor.h"
#include "exec/function_handle.h"
#include "ir/barrier_blocks.h"

namespace warplens::exec {
namespace {

using ptx::OperandTag;
using ptx::Role;

bool is_memory(Role role) {
  return role == Role::kLoad || role == Role::kStore || role == Role::kAtomic || role == Role::kReduction;
}

/// Position of the block that begins at instruction `target`; kNoIndex: the end of the text.
uint32_t position_at(const LoadedKernel& kernel, uint32_t target) {
  if (target >= kernel.function->body.size()) return ptx::kNoIndex;
  const ir::BlockId block = kernel.graph.block_of[target];
  WL_CHECK(block != ir::kNoBlock);
  return kernel.loops.position_of[block];
}

}  // namespace

uint64_t symbol_value(const LoadedKernel& kernel, const ptx::SymbolRef& symbol) {
  switch (symbol.kind) {
    case ptx::SymbolKind::kModuleVariable: return kernel.symbols[symbol.index];
    case ptx::SymbolKind::kLocalVariable: return kernel.variable_offsets[symbol.index];
    case ptx::SymbolKind::kParameter: return kernel.function->params[symbol.index].offset;
    case ptx::SymbolKind::kReturn: return kernel.function->returns[symbol.index].offset;
    case ptx::SymbolKind::kFunction: return function_handle(symbol.index);
    case ptx::SymbolKind::kNone: return 0;
  }
  return 0;
}

Program::Program(const LoadedKernel& kernel) {
  const ptx::Function& function = *kernel.function;
  registers = static_cast<uint32_t>(function.registers.size());
  plan = make_plan(kernel.loops, kernel.spinning_loops);
  for (const ir::BlockId block : kernel.loops.layout)
    plan.stops_at_barrier.push_back(analysis::begins_with_barrier(kernel.graph, block));
  if (std::ranges::any_of(function.body, ir::is_aligned_barrier)) barrier_paths_.emplace(kernel.graph);
  operations.resize(function.body.size());
  for (const ir::BlockId id : kernel.loops.layout) {
    const ir::Block& block = kernel.graph.blocks[id];
    blocks.push_back({block.begin, block.end, id, ptx::kNoIndex});
    for (uint32_t i = block.begin; i < block.end; ++i) add_operation(kernel, i);
    // The block behind it in the text matters only where control can fall into it.
    const bool falls =
        block.end > block.begin && block.end < function.body.size() && kernel.graph.block_of[block.end] != ir::kNoBlock;
    if (falls) blocks.back().next = position_at(kernel, block.end);
  }
}

bool Program::missing(uint32_t barrier, uint32_t position) const {
  return barrier_paths_->missing(barrier_paths_->kernel().block_of[barrier], blocks[position].id);
}

void Program::add_source(const LoadedKernel& kernel, const ptx::Instr& in, const ptx::Operand& operand) {
  if (operand.tag == OperandTag::kVector) {
    for (uint32_t i = 0; i < operand.count; ++i) add_source(kernel, in, in.elements[operand.first + i]);
    return;
  }
  Source s;
  unsigned bits = ptx::bits_of(operand.type);
  switch (operand.tag) {
    case OperandTag::kReg:
    case OperandTag::kNegReg:
      s.kind = operand.tag == OperandTag::kReg ? Source::Kind::kRegister : Source::Kind::kNegated;
      s.reg = operand.reg;
      if (bits == 0) bits = ptx::bits_of(kernel.function->registers[operand.reg].type);
      break;
    case OperandTag::kImm: s.constant = operand.imm; break;
    case OperandTag::kSymbol:
    case OperandTag::kFunction: s.constant = symbol_value(kernel, operand.symbol) + operand.imm; break;
    case OperandTag::kSpecial:
      s.kind = Source::Kind::kSpecial;
      s.special = operand.special;
      uses_reserved_shared |= operand.special == ptx::SpecialReg::kReservedSmemOffset;
      s.reg = operand.first;
      break;
    default: break;  // absent: 0
  }
  if (bits != 0) s.mask = low_bits(bits);
  sources.push_back(s);
}

void Program::add_destination(const LoadedKernel& kernel, const ptx::Instr& in, const ptx::Operand& operand) {
  if (operand.tag == OperandTag::kVector) {
    for (uint32_t i = 0; i < operand.count; ++i) add_destination(kernel, in, in.elements[operand.first + i]);
    return;
  }
  Destination d;
  if (operand.tag == OperandTag::kReg) {
    d.reg = operand.reg;
    d.register_bits = static_cast<uint8_t>(ptx::bits_of(kernel.function->registers[operand.reg].type));
    const unsigned bits = ptx::bits_of(operand.type);
    d.bits = bits == 0 ? d.register_bits : static_cast<uint8_t>(bits);
    d.sign_extends = ptx::is_signed(operand.type) && d.bits < d.register_bits;
  }
  destinations.push_back(d);
}

void Program::add_operation(const LoadedKernel& kernel, uint32_t index) {
  const ptx::Instr& in = kernel.function->body[index];
  Operation& op = operations[index];
  op.instr = &in;
  op.role = in.def->role;
  op.guard = in.guard;
  op.guard_negated = in.guard_negated;
  op.first_source = static_cast<uint32_t>(sources.size());
  op.first_destination = static_cast<uint32_t>(destinations.size());
  for (size_t k = 0; k < in.operands.size(); ++k) {
    const ptx::Operand& o = in.operands[k];
    if (o.tag == OperandTag::kAddress) {
      Address a;
      a.reg = o.reg;
      a.constant = symbol_value(kernel, o.symbol) + o.imm;
      a.narrow = o.reg != ptx::kNoReg && ptx::bits_of(kernel.function->registers[o.reg].type) == 32;
      if (op.role == Role::kWarpMemory) op.addresses.push_back(a);
      op.address = a;
      op.call_frame = o.symbol.kind == ptx::SymbolKind::kLocalVariable &&
                      kernel.function->variables[o.symbol.index].space == ptx::Space::kParam;
    } else if (o.tag == OperandTag::kLabel) {
      op.target = position_at(kernel, o.first);
    } else if (o.tag == OperandTag::kBranchTable) {
      for (const uint32_t t : kernel.function->branch_tables[o.first]) op.targets.push_back(position_at(kernel, t));
    } else if (in.def->form.operands[k].is_dest) {
      add_destination(kernel, in, o);
    } else {
      add_source(kernel, in, o);
    }
  }
  for (uint32_t k = 0; k < in.args.size(); ++k) {
    // Of a call: .param variables stand for their bytes in the call frame, registers for themselves.
    if (k < in.returns && in.args[k].tag == OperandTag::kReg) add_destination(kernel, in, in.args[k]);
    if (k >= in.returns) add_source(kernel, in, in.args[k]);
  }
  op.sources = static_cast<uint32_t>(sources.size()) - op.first_source;
  op.destinations = static_cast<uint32_t>(destinations.size()) - op.first_destination;
  most_sources = std::max(most_sources, op.sources);
  most_destinations = std::max(most_destinations, op.destinations);
  if (op.role == Role::kCall) {
    op.callee = static_cast<uint32_t>(callees.size());
    const auto callee = find_device_function(*kernel.module->module, in);
    WL_CHECK(callee.has_value(), "a call that was not refused at load");
    callees.push_back(*callee);
  }
  if (is_memory(op.role)) {
    op.space = in.space();
    op.element_bytes = static_cast<uint8_t>(ptx::bytes_of(in.type()));
    op.elements = static_cast<uint8_t>(in.vector_length());
    const auto& sites = kernel.accesses.of_instr[index];
    if (!sites.empty()) op.site = sites.front();
  }
}

bool may_use_reserved_shared(const LoadedKernel& kernel) { return kernel.program->uses_reserved_shared; }

}  // namespace warplens::exec
