// SPDX-License-Identifier: Apache-2.0
// What is counted: values live behind or before each instruction, 64-bit ones twice, predicates not at all (they have
// registers of their own). Values that all threads of a block share (made from parameters, block indices and constants
// alone) do not count either: from compute capability 7.5 such values live in uniform registers or are read from the
// constant bank as operands.
//
// What the assembler makes of that is modelled by three numbers (machine/register_model.h; ptxas 13.0, sm_90): it needs
// a few registers for itself; it moves the loads of a straight stretch of code in front of their first use, so that
// their latencies overlap, as long as the kernel stays within 32 registers (which fill an SM); beyond that it still
// moves some.
#include "machine/registers.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "machine/register_model.h"
#include "machine/spread.h"

namespace warplens::machine {
namespace {

using ptx::OperandTag;

bool shared_by_block(ptx::SpecialReg special) {
  using enum ptx::SpecialReg;
  switch (special) {
    case kTidX:
    case kTidY:
    case kTidZ:
    case kLaneid:
    case kWarpid:
    case kLanemaskEq:
    case kLanemaskLe:
    case kLanemaskLt:
    case kLanemaskGe:
    case kLanemaskGt:
    case kClock:
    case kClockHi:
    case kClock64: return false;
    default: return true;
  }
}

/// What the instruction writes may differ within the block, whatever it reads. A definition that only some lanes reach
/// still gives the same value to those that do, which is what the assembler looks at, too.
bool varies_in_block(const ptx::Instr& in) {
  const bool pure =
      in.def->role == ptx::Role::kValue || (in.def->role == ptx::Role::kLoad && in.space() == ptx::Space::kParam);
  if (!pure || in.guard != ptx::kNoReg) return true;
  for (size_t i = 0; i < in.operands.size(); ++i)
    if (!in.def->form.operands[i].is_dest && in.operands[i].tag == OperandTag::kSpecial &&
        !shared_by_block(in.operands[i].special))
      return true;
  return false;
}

uint32_t words_of(ptx::Type type) {
  if (type == ptx::Type::kPred) return 0;
  return std::max(1u, static_cast<uint32_t>(ptx::bytes_of(type)) / 4);
}

}  // namespace

uint32_t words_in_flight(const ir::Kernel& kernel) {
  uint32_t most = 0;
  for (const ir::Block& block : kernel.blocks) {
    uint32_t words = 0;
    for (uint32_t i = block.begin; i < block.end; ++i) {
      const ptx::Instr& in = kernel.function->body[i];
      if (in.def->role == ptx::Role::kBarrier) words = 0;
      if (in.def->role != ptx::Role::kLoad || in.space() == ptx::Space::kParam || in.space() == ptx::Space::kConst)
        continue;
      words += std::max(1u, static_cast<uint32_t>(ptx::bytes_of(in.type())) / 4) * in.vector_length();
      most = std::max(most, words);
    }
  }
  return most;
}

uint32_t modelled_registers(const RegisterModel& model, uint32_t pressure, uint32_t loads) {
  const uint32_t needed = pressure + model.own;
  return needed >= model.full_sm ? needed + std::min(loads, needed / model.some_of_large)
                                 : std::min(needed + loads, model.full_sm);
}

uint32_t register_pressure(const ir::Kernel& kernel, const analysis::Liveness& live) {
  const ptx::Function& function = *kernel.function;
  const std::vector<bool> varies = spread(function, varies_in_block);
  const auto words = [&](const analysis::RegisterSet& set) {
    uint32_t sum = 0;
    set.for_each([&](ptx::RegId r) {
      if (varies[r]) sum += words_of(function.registers[r].type);
    });
    return sum;
  };
  uint32_t most = 0;
  for (ir::BlockId b = 0; b < kernel.blocks.size(); ++b)
    analysis::for_each_instruction_backward(kernel, live, b, [&](uint32_t i, const analysis::RegisterSet& behind) {
      analysis::RegisterSet with_results = behind;
      ir::for_each_write(function.body[i], [&](ptx::RegId r) { with_results.insert(r); });
      most = std::max(most, words(with_results));
    });
  return most;
}

uint32_t estimated_registers(const ir::Kernel& kernel, const analysis::Liveness& live, uint32_t of_sm) {
  const ptx::Function& function = *kernel.function;
  const uint32_t registers = modelled_registers({}, register_pressure(kernel, live), words_in_flight(kernel));
  const auto& bound = function.maxntid[0] != 0 ? function.maxntid : function.reqntid;
  uint32_t most = 255;
  if (bound[0] != 0) {
    uint64_t threads = 1;  // any numbers may stand there
    for (const uint32_t extent : {bound[0], bound[1], bound[2], function.minnctapersm})
      threads = std::min<uint64_t>(threads * std::max(extent, 1u), std::numeric_limits<uint32_t>::max());
    most = std::min(most, static_cast<uint32_t>(of_sm / threads / 8 * 8));
  }
  if (function.maxnreg != 0) most = std::min(most, function.maxnreg);
  return std::clamp(registers, 1u, std::max(most, 1u));
}

ResourceUse resource_use(const ir::Kernel& kernel) {
  return {estimated_registers(kernel, analysis::liveness(kernel)), true, barriers_used(*kernel.function)};
}

uint32_t barriers_used(const ptx::Function& function) {
  uint32_t named = 0;
  for (const ptx::Instr& in : function.body) {
    if (in.def->role != ptx::Role::kBarrier) continue;
    const ptx::Operand* id = nullptr;
    for (size_t i = 0; i < in.operands.size() && !id; ++i)
      if (!in.def->form.operands[i].is_dest) id = &in.operands[i];
    if (!id || id->tag != OperandTag::kImm) return 16;
    named |= 1u << (id->imm & 15);
  }
  return static_cast<uint32_t>(std::popcount(named));
}

}  // namespace warplens::machine
