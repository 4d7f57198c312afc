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
  kFence,       ///< membar, fence: order only
  kNoEffect,    ///< accepted and ignored here (prefetch, griddepcontrol, nanosleep, pragma-like)
  kTrap,        ///< trap, brkpt
  kWarpMemory,  ///< reads or writes memory for the whole warp (cp.async, ldmatrix, mbarrier): reference.memory
};

/// The profiler's pipe that the instruction issues to, for instruction-mix and later the time model.
enum class Pipe : uint8_t { kAlu, kFma, kFp64, kXu, kLsu, kUniform, kControl, kTensor, kTex, kNone };

/// Where the windows of the generic address space begin, for cvta and isspacep (memory/address_space.h), and which
/// block of its cluster this is.
struct Windows {
  uint64_t shared = 0, local = 0, global = 0;
  uint32_t cluster_rank = 0;
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

using LaneBits = std::array<uint64_t, 32>;

/// One machine access of a kWarpMemory row: which space (kGeneric: by the address), what it does (kLoad, kStore or
/// kAtomic), and bytes a lane.
struct AccessShape {
  Space space = Space::kShared;
  Role role = Role::kLoad;
  uint8_t bytes = 4;
  /// Lanes by themselves; eight at a time hold the addresses of a matrix's rows; the writing side of an asynchronous
  /// copy through the L1; shared memory by other ways than the load and store unit.
  enum class Way : uint8_t { kLanes, kMatrixRows, kCopy, kPastL1 };
  Way way = Way::kLanes;
  bool estimate = false;  ///< what the GPU counts for it is not known
};
/// Memory as reference.memory sees it. Each call is one request of the warp for the instruction's access number
/// `access` (of OpDef::accesses): checked, counted and reported like one of ld or st. Addresses are those of the
/// access's space.
class WarpMemory {
 public:
  virtual ~WarpMemory() = default;
  /// Lane l of `mask` reads AccessShape::bytes bytes at address[l] to `to` + l * bytes.
  virtual void load(unsigned access, uint32_t mask, const LaneBits& address, void* to) = 0;
  virtual void store(unsigned access, uint32_t mask, const LaneBits& address, const void* from) = 0;
  /// The same of a copy (AccessShape::Way::kCopy), whose lanes `reading` read at `source`.
  virtual void store_copy(unsigned access, uint32_t mask, const LaneBits& address, const void* from, uint32_t reading,
                          const LaneBits& source) = 0;
  /// The 8 bytes at a lane's address, read or replaced within a request made before: not checked, not counted.
  virtual uint64_t peek(unsigned access, unsigned lane, uint64_t address) = 0;
  virtual void poke(unsigned access, unsigned lane, uint64_t address, uint64_t value) = 0;
  /// A request without data, for accesses whose values go through peek and poke.
  virtual void touch(unsigned access, uint32_t mask, const LaneBits& address) = 0;
  /// Lets other warps run.
  virtual void yield() = 0;
};
/// `in` and `out` as in WarpArgs, without the addresses, which are apart, in order.
struct MemoryArgs {
  const Instr& instr;
  uint32_t active;
  std::span<const LaneBits> in;
  std::span<LaneBits> out;
  std::span<const LaneBits> addresses;
  WarpMemory& memory;
};

struct Reference {
  void (*lane)(const LaneArgs&) = nullptr;
  void (*warp)(const WarpArgs&) = nullptr;
  uint64_t (*atomic)(const AtomicArgs&) = nullptr;
  void (*memory)(const MemoryArgs&) = nullptr;
};

using Lower = void (*)(codegen::LaneBuilder&, const Instr&);

struct OpDef {
  Form form;
  Spec spec;
  Role role = Role::kValue;
  Pipe pipe = Pipe::kAlu;
  Reference reference = {};
  /// kWarpMemory: fills in the accesses that it may perform and returns how many.
  unsigned (*accesses)(const Instr&, std::array<AccessShape, 3>&) = nullptr;
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
