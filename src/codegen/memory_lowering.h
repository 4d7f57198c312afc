// SPDX-License-Identifier: Apache-2.0
// Memory accesses as SIMD code: the address's lane class decides between a plain vector load, a broadcast,
// constant-index gathers and general gathers; bounds checks and counting use the same knowledge, so that a proven
// access costs one scalar compare and its count is a constant, a table entry or a formula.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "codegen/emit_context.h"
#include "ptx/module.h"

namespace warplens::codegen {

/// One PTX memory instruction, ready to lower. `address` is kI64 for global/const/generic, kI32 or kI64 for
/// shared/local (offsets); immediate offsets are already added.
struct MemoryOp {
  const ptx::Instr* instr = nullptr;
  uint32_t pc = 0;  ///< instruction index, for findings
  ptx::Space space = ptx::Space::kGlobal;
  ptx::Type type = ptx::Type::kB32;  ///< of one element
  unsigned elements = 1;             ///< vector length
  bool is_volatile = false;
  std::span<const uint32_t> sites;  ///< machine accesses that this instruction performs (site numbers)
  /// Bytes of a lane as they are counted, where loads are joined (machine/joined_accesses.h): more than the
  /// instruction's, or 0 where another instruction's site counts.
  std::optional<unsigned> counted_bytes;
};

/// Class of a load's result without emitting (for the lane-class analysis): a load from a uniform address is uniform.
LaneClass loaded_class(const LaneClass& address, ptx::Space space);

/// Emits check, count / event, and load; returns one value of integer elem (bits of `type`) per element.
std::vector<LaneValue> lower_load(EmitContext& e, const MemoryOp& op, const LaneValue& address);
/// As lower_load, of the address's own load; what is read are `elements` neighbours of each lane, from `low` bytes
/// behind its address on, and returned by element. `require` leaves the code when the whole is not inside one
/// allocation. Empty, and nothing emitted: not possible for this address. Full mask only.
std::vector<LaneValue> lower_row(EmitContext& e, const MemoryOp& op, const LaneValue& address, int64_t low,
                                 unsigned elements, const std::function<void(llvm::Value*)>& require);
/// The counting of lower_load alone, of an address known to be valid. Full mask only.
void count_load(EmitContext& e, const MemoryOp& op, const LaneValue& address);
void lower_store(EmitContext& e, const MemoryOp& op, const LaneValue& address, std::span<const LaneValue> values);
/// atom / red; returns the old values (as integer bits) unless `is_reduction`. Lanes act in lane order.
LaneValue lower_atomic(EmitContext& e, const MemoryOp& op, const LaneValue& address, const LaneValue& a,
                       const LaneValue* b, bool is_reduction);

}  // namespace warplens::codegen
