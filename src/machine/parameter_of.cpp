// SPDX-License-Identifier: Apache-2.0
#include "machine/parameter_of.h"

#include <algorithm>
#include <string_view>

#include "ir/kernel.h"

namespace warplens::machine {
namespace {

/// Instructions whose result points into the same object as an operand. Multiplications and shifts make offsets, not
/// addresses, so they are not followed: `n` of in[n - 1 - i] is not what the address comes from.
bool keeps_object(std::string_view mnemonic) {
  static constexpr std::string_view kNames[] = {"mov", "cvta", "add", "sub", "mad", "selp", "and", "or", "max", "min"};
  return std::find(std::begin(kNames), std::end(kNames), mnemonic) != std::end(kNames);
}

}  // namespace

ParameterFinder::ParameterFinder(const ptx::Function& function) : function_(function) {
  definitions_.resize(function.registers.size());
  for (uint32_t i = 0; i < function.body.size(); ++i)
    ir::for_each_write(function.body[i], [&](ptx::RegId r) { definitions_[r].push_back(i); });
}

uint32_t ParameterFinder::loaded_parameter(const ptx::Instr& in) const {
  if (in.def->role != ptx::Role::kLoad || in.space() != ptx::Space::kParam) return ptx::kNoIndex;
  uint64_t offset = 0;
  for (const ptx::Operand& o : in.operands) {
    if (o.tag != ptx::OperandTag::kAddress) continue;
    if (o.symbol.kind == ptx::SymbolKind::kParameter) {
      offset = function_.params[o.symbol.index].offset + o.imm;
    } else if (o.reg != ptx::kNoReg && definitions_[o.reg].size() == 1) {  // mov %rd1, param; ld.param [%rd1 + 8]
      const ptx::Instr& def = function_.body[definitions_[o.reg][0]];
      const auto symbol = std::find_if(def.operands.begin(), def.operands.end(), [](const ptx::Operand& s) {
        return s.tag == ptx::OperandTag::kSymbol && s.symbol.kind == ptx::SymbolKind::kParameter;
      });
      if (symbol == def.operands.end()) return ptx::kNoIndex;
      offset = function_.params[symbol->symbol.index].offset + symbol->imm + o.imm;
    } else {
      return ptx::kNoIndex;
    }
  }
  for (uint32_t i = 0; i < function_.params.size(); ++i)
    if (offset >= function_.params[i].offset && offset < function_.params[i].offset + function_.params[i].bytes)
      return i;
  return ptx::kNoIndex;
}

void ParameterFinder::follow_operand(const ptx::Operand& operand, std::vector<bool>& seen,
                                     std::vector<bool>& parameters) const {
  if (operand.tag == ptx::OperandTag::kReg) follow(operand.reg, seen, parameters);
}

void ParameterFinder::follow(ptx::RegId reg, std::vector<bool>& seen, std::vector<bool>& parameters) const {
  if (seen[reg] || ptx::bits_of(function_.registers[reg].type) != 64) return;
  seen[reg] = true;
  for (const uint32_t i : definitions_[reg]) {
    const ptx::Instr& in = function_.body[i];
    if (const uint32_t p = loaded_parameter(in); p != ptx::kNoIndex) {
      if (ptx::bits_of(in.type()) == 64) parameters[p] = true;
      continue;
    }
    const std::string_view mnemonic = in.def->form.mnemonic;
    if (in.def->role != ptx::Role::kValue || !keeps_object(mnemonic)) continue;
    // Of a * b + c only c can be an address.
    for (size_t k = mnemonic == "mad" ? in.operands.size() - 1 : 0; k < in.operands.size(); ++k)
      if (!in.def->form.operands[k].is_dest) follow_operand(in.operands[k], seen, parameters);
  }
}

std::string ParameterFinder::of_address(const ptx::Instr& access) const {
  std::vector<bool> seen(function_.registers.size()), parameters(function_.params.size());
  for (const ptx::Operand& o : access.operands)
    if (o.tag == ptx::OperandTag::kAddress && o.reg != ptx::kNoReg) follow(o.reg, seen, parameters);
  if (std::count(parameters.begin(), parameters.end(), true) != 1) return {};
  return function_.params[std::find(parameters.begin(), parameters.end(), true) - parameters.begin()].name;
}

}  // namespace warplens::machine
