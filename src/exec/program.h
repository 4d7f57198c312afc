// SPDX-License-Identifier: Apache-2.0
// Program: a kernel as the reference interpreter reads it. Operands are flattened and symbols are already numbers, so
// that the interpreter's loop has nothing to look up; blocks are in layout order. Semantics stay in the OpDef rows.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/barrier_paths.h"
#include "events/events.h"
#include "exec/device_calls.h"
#include "exec/schedule.h"
#include "ptx/module.h"

namespace warplens::exec {

struct LoadedKernel;

/// Where a source scalar comes from.
struct Source {
  enum class Kind : uint8_t { kRegister, kNegated, kConstant, kSpecial };
  Kind kind = Kind::kConstant;
  ptx::SpecialReg special = ptx::SpecialReg::kTidX;
  uint32_t reg = 0;              ///< register, or index of a special one
  uint64_t constant = 0;         ///< value
  uint64_t mask = ~uint64_t{0};  ///< bits of the operand's type
};

/// Where a result scalar goes.
struct Destination {
  uint32_t reg = ptx::kNoReg;  ///< kNoReg: dropped
  uint8_t bits = 64;           ///< of the value
  uint8_t register_bits = 64;
  bool sign_extends = false;  ///< signed value into a wider register
};

/// The address of a memory instruction: register (if any) + constant, cut to 32 bits when the register has 32.
struct Address {
  uint32_t reg = ptx::kNoReg;
  uint64_t constant = 0;
  bool narrow = false;
};

struct Operation {
  const ptx::Instr* instr = nullptr;
  ptx::Role role = ptx::Role::kValue;
  ptx::RegId guard = ptx::kNoReg;
  bool guard_negated = false;
  uint32_t first_source = 0, sources = 0;            ///< in Program::sources
  uint32_t first_destination = 0, destinations = 0;  ///< in Program::destinations
  // memory
  Address address;                 ///< the first
  std::vector<Address> addresses;  ///< all, of an instruction that takes memory for the whole warp
  ptx::Space space = ptx::Space::kGeneric;
  bool call_frame = false;  ///< .param access to a variable of the body: an argument or a result of a call
  uint8_t element_bytes = 0, elements = 1;
  uint32_t site = ptx::kNoIndex;
  uint32_t callee = ptx::kNoIndex;  ///< in Program::callees
  // control
  uint32_t target = ptx::kNoIndex;  ///< position to go to; kNoIndex: the function's end
  std::vector<uint32_t> targets;    ///< of an indexed branch
};

class Program {
 public:
  explicit Program(const LoadedKernel& kernel);
  /// Whether lanes that wait for the block at `position` are missing at the aligned barrier `barrier`, an instruction.
  bool missing(uint32_t barrier, uint32_t position) const;

  struct Block {
    uint32_t begin = 0, end = 0;    ///< instructions
    uint32_t id = 0;                ///< index into the graph's blocks
    uint32_t next = ptx::kNoIndex;  ///< position of the block behind it in the text; kNoIndex: the function's end
  };

  std::vector<Operation> operations;  ///< by instruction
  std::vector<Source> sources;
  std::vector<Destination> destinations;
  std::vector<Block> blocks;  ///< by position
  std::vector<DeviceFunction> callees;
  SchedulePlan plan;
  uint32_t registers = 0;
  bool uses_reserved_shared = false;  ///< reads %reserved_smem_offset_*: may use that part of shared memory
  uint32_t most_sources = 0, most_destinations = 0;  ///< of one instruction

 private:
  std::optional<analysis::BarrierPaths> barrier_paths_;  ///< where there are aligned barriers

  void add_operation(const LoadedKernel& kernel, uint32_t index);
  void add_source(const LoadedKernel& kernel, const ptx::Instr& in, const ptx::Operand& operand);
  void add_destination(const LoadedKernel& kernel, const ptx::Instr& in, const ptx::Operand& operand);
};

/// What a symbol operand stands for: address, offset in its space, or function handle.
uint64_t symbol_value(const LoadedKernel& kernel, const ptx::SymbolRef& symbol);

}  // namespace warplens::exec
