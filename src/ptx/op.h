// SPDX-License-Identifier: Apache-2.0
// OpDef: one row of the instruction set. Rows live in src/ops, one constexpr array a chapter; everything else (parser,
// printer, validator, interpreter, lane classes, coverage page, random programs) is derived from them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/form.h"

namespace warplens::codegen {
class LaneBuilder;
}

namespace warplens::ptx {

struct Instr;

/// Where the manual describes the instruction, and since when it exists.
struct Spec {
  std::string_view section;  ///< e.g. "Integer Arithmetic Instructions: add"
  uint8_t ptx_major = 1, ptx_minor = 0;
  uint16_t sm = 10;  ///< first target
};

/// What executors must know beyond the values: who moves control, who touches memory, who needs the whole warp.
enum class Role : uint8_t {
  kValue,  ///< pure function of its operands, lane by lane: reference.lane
  kWarp,   ///< needs all lanes at once (shfl, vote, match, redux, activemask): reference.warp
  kLoad,
  kStore,  ///< memory access; space in slot "space" (absent: generic)
  kAtomic,
  kReduction,  ///< read-modify-write with / without a result: reference.atomic combines
  kBranch,
  kBranchIndexed,
  kReturn,
  kExit,
  kCall,
  kBarrier,      ///< block barrier (bar, barrier): arrive / sync / red
  kWarpBarrier,  ///< bar.warp.sync
  kClusterBarrier,
  kFence,     ///< membar, fence: order only
  kNoEffect,  ///< accepted and ignored here (prefetch, griddepcontrol, nanosleep, pragma-like)
  kTrap,      ///< trap, brkpt
};

/// The profiler's pipe that the instruction issues to, for instruction-mix and later the time model.
enum class Pipe : uint8_t { kAlu, kFma, kFp64, kXu, kLsu, kUniform, kControl, kTensor, kTex, kNone };

/// Where the windows of the generic address space begin, for cvta and isspacep (memory/address_space.h).
struct Windows {
  uint64_t shared = 0, local = 0, global = 0;
};

/// What a lane reference sees: raw bits of each scalar source (vectors flattened, predicates 0/1, values zero-extended
/// from their type's width), and where to put each destination's raw bits. Immediate operands are already converted to
/// the operand's type. Guard predicates are handled by the executor, never by a reference. Operands keep their place:
/// an absent optional source is one 0 in `in`, an absent or `_` destination has one element of `out` that is ignored.
struct LaneArgs {
  const Instr& instr;
  std::span<const uint64_t> in;
  std::span<uint64_t> out;
  Windows windows = {};
};
/// The same for all 32 lanes: in[operand][lane]. Lanes outside `active` hold unspecified values and must not influence
/// active ones; out of inactive lanes is ignored.
struct WarpArgs {
  const Instr& instr;
  uint32_t active;
  std::span<const std::array<uint64_t, 32>> in;
  std::span<std::array<uint64_t, 32>> out;
};
/// Combines an atomic's old memory value with its operands: returns the new value. (a: first operand, b: second, of
/// cas.)
struct AtomicArgs {
  const Instr& instr;
  uint64_t old, a, b;
};

struct Reference {
  void (*lane)(const LaneArgs&) = nullptr;
  void (*warp)(const WarpArgs&) = nullptr;
  uint64_t (*atomic)(const AtomicArgs&) = nullptr;
};

using Lower = void (*)(codegen::LaneBuilder&, const Instr&);

struct OpDef {
  Form form;
  Spec spec;
  Role role = Role::kValue;
  Pipe pipe = Pipe::kAlu;
  Reference reference = {};
  Lower lower = nullptr;  ///< nullptr on kValue/kWarp rows: generated code calls the reference (correct, slow)
  std::string_view unsupported = {};  ///< a reason: the row parses, but a kernel that needs it is refused at load
};

/// The whole instruction set, as the parser and everything derived sees it; src/ops makes the one instance.
class OpTable {
 public:
  explicit OpTable(std::span<const std::span<const OpDef>> chapters);
  /// All rows with that mnemonic, in table order; empty when the opcode is unknown.
  std::span<const OpDef* const> rows(std::string_view mnemonic) const;
  std::span<const OpDef* const> all() const { return {all_.data(), all_.size()}; }
  /// The known mnemonic closest in spelling, for "did you mean"; empty when none is close.
  std::string_view nearest(std::string_view mnemonic) const;

 private:
  std::vector<const OpDef*> all_;
  std::vector<std::pair<std::string_view, std::vector<const OpDef*>>> by_mnemonic_;  // sorted
};

}  // namespace warplens::ptx
