// SPDX-License-Identifier: Apache-2.0
// The operands of a memory instruction, found by the kinds of its form: the lane-class analysis and the kernel writer
// read loads, stores and atomics through this.
#pragma once
#include "codegen/kernel_source.h"
#include "codegen/memory_lowering.h"

namespace warplens::codegen {

struct MemoryOperands {
  MemoryOp op;
  const ptx::Operand* address = nullptr;
  int destination = -1;         ///< operand that receives a load's or atomic's result
  int first = -1, second = -1;  ///< operands stored or combined
  bool call_frame = false;      ///< .param access to a variable of the body: an argument or result of a call
};

MemoryOperands memory_operands(const KernelSource& source, uint32_t pc);

}  // namespace warplens::codegen
