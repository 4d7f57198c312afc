// SPDX-License-Identifier: Apache-2.0
#include "codegen/memory_operands.h"

namespace warplens::codegen {

MemoryOperands memory_operands(const KernelSource& source, uint32_t pc) {
  const ptx::Instr& in = source.function->body[pc];
  MemoryOperands out;
  out.op.instr = &in;
  out.op.pc = pc;
  out.op.space = in.space();
  out.op.type = in.type();
  out.op.elements = in.vector_length();
  out.op.is_volatile = in.has("volatile") || in.has("relaxed") || in.has("acquire") || in.has("mmio");
  const auto& sites = source.accesses->of_instr[pc];
  out.op.sites = {sites.data(), sites.size()};
  if (!sites.empty() && (in.def->role == ptx::Role::kLoad || in.def->role == ptx::Role::kStore)) {
    const machine::Access& access = source.accesses->accesses[sites[0]];
    if (access.form == events::Form::kFolded)
      out.op.counted_bytes = 0;
    else if (access.bytes != ptx::bytes_of(in.type()) * in.vector_length())
      out.op.counted_bytes = access.bytes;
  }
  for (size_t k = 0; k < in.operands.size(); ++k) {
    const ptx::Operand& o = in.operands[k];
    const ptx::OperandForm& form = in.def->form.operands[k];
    if (o.tag == ptx::OperandTag::kAddress) {
      out.address = &o;
      out.call_frame = o.symbol.kind == ptx::SymbolKind::kLocalVariable &&
                       source.function->variables[o.symbol.index].space == ptx::Space::kParam;
    } else if (form.is_dest) {
      out.destination = static_cast<int>(k);
    } else if (o.tag != ptx::OperandTag::kNone && form.name != "policy") {
      (out.first < 0 ? out.first : out.second) = static_cast<int>(k);
    }
  }
  return out;
}

}  // namespace warplens::codegen
