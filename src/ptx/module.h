// SPDX-License-Identifier: Apache-2.0
// A PTX module in memory: what the parser makes of the text, and what every later stage reads. Registers, variables and
// labels are resolved to indices (nested scopes from inline asm, with repeated names, are flattened by the parser);
// symbol references keep an index into the module's or function's variables.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "ptx/op.h"
#include "ptx/types.h"

namespace warplens::ptx {

using RegId = uint32_t;
constexpr RegId kNoReg = ~RegId{0};
constexpr uint32_t kNoIndex = ~uint32_t{0};

struct Register {
  std::string name;  ///< as written, e.g. "%rd12"
  Type type;
};

/// A place in the user's source, from .file and .loc.
struct SourceLoc {
  uint32_t file = 0;  ///< index of .file, 0 = unknown
  uint32_t line = 0, column = 0;
  uint32_t inlined_at =
      kNoIndex;  ///< index into Module::inline_sites: where this code was inlined; kNoIndex = not inlined
  friend bool operator==(const SourceLoc&, const SourceLoc&) = default;
};
/// One `inlined_at` of a .loc: the function whose body it is, and the place of the call.
struct InlineSite {
  std::string function;
  SourceLoc call;
};

enum class OperandTag : uint8_t {
  kNone,         ///< optional operand that is absent
  kReg,          ///< reg
  kNegReg,       ///< !reg (predicate)
  kImm,          ///< bits, already converted to the operand's type
  kSpecial,      ///< special register; index for %envreg<n>
  kVector,       ///< elements in Instr::elements[first, first+count): each kReg, kImm or kSink
  kSink,         ///< "_"
  kAddress,      ///< [base + offset]: base in reg (kNoReg when none), symbol (or none), offset in imm
  kSymbol,       ///< the address of a variable or function (mov), symbol + imm
  kLabel,        ///< first = target: an instruction index within the function (may equal body.size())
  kBranchTable,  ///< first = index into Function::branch_tables (brx.idx)
  kFunction,     ///< symbol = index into Module::functions
};

enum class SymbolKind : uint8_t { kNone, kModuleVariable, kLocalVariable, kParameter, kReturn, kFunction };
struct SymbolRef {
  SymbolKind kind = SymbolKind::kNone;
  uint32_t index = kNoIndex;  ///< into Module::variables / Function::variables / params / returns / Module::functions
  friend bool operator==(const SymbolRef&, const SymbolRef&) = default;
};

struct Operand {
  OperandTag tag = OperandTag::kNone;
  Type type = Type::kNone;  ///< element type that the form gives it (kAddress: none)
  RegId reg = kNoReg;
  SymbolRef symbol;
  SpecialReg special = SpecialReg::kTidX;
  uint32_t first = 0,
           count = 0;  ///< kVector: range in Instr::elements; kLabel: first = target; kSpecial: first = index
  uint64_t imm = 0;    ///< kImm: raw bits; kAddress/kSymbol: signed byte offset
};

struct Instr {
  const OpDef* def = nullptr;
  std::array<int8_t, kMaxSlots> slots = {};  ///< chosen alternative of each slot of def->form, -1 = absent
  std::vector<Operand> operands;             ///< parallel to def->form.operands
  std::vector<Operand> elements;             ///< elements of vector operands
  std::vector<Operand> args;                 ///< call: return parameters, then arguments (kSymbol / kReg / kImm)
  uint32_t returns = 0;                      ///< call: how many of `args` are return parameters
  RegId guard = kNoReg;
  bool guard_negated = false;
  /// .pragma "nounroll" stands before it: a loop that begins here is not unrolled. Inlining sets it, too, since the
  /// GPU's assembler leaves loops with calls alone.
  bool nounroll = false;
  SourcePos pos;     ///< in the PTX text
  uint32_t loc = 0;  ///< index into Function::locs (0 = none)

  /// Word chosen in the slot with that name ("" when absent or no such slot).
  std::string_view word(std::string_view slot) const;
  /// True when the literal or alternative `w` was written in any slot.
  bool has(std::string_view w) const;
  /// Type chosen in slot `slot` (default "type"); kNone when absent.
  Type type(std::string_view slot = "type") const;
  /// State space of a memory instruction; kGeneric when none is written.
  Space space() const;
  /// Elements of the vector modifier: 1, 2, 4 or 8.
  unsigned vector_length() const;
};

enum class Linkage : uint8_t { kNone, kVisible, kExtern, kWeak, kCommon };

/// An initialiser word that is an address: `bytes` bytes at `offset` hold (symbol + addend) >> shift.
struct InitAddress {
  uint64_t offset;
  std::string symbol;
  int64_t addend;
  bool generic;  ///< written as generic(symbol)
  uint8_t bytes = 8;
  uint8_t shift = 0;  ///< in bits; clang splits addresses in packed structs into bytes: 0xff00(symbol)
};

struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  Type type = Type::kB8;
  Linkage linkage = Linkage::kNone;
  uint64_t align = 1;
  uint64_t bytes = 0;  ///< 0 for an unsized extern array (dynamic shared memory)
  bool unsized = false;
  std::vector<uint8_t> init;  ///< the first bytes; all others are zero
  std::vector<InitAddress> init_addresses;
  bool managed = false;  ///< .attribute(.managed)
  SourcePos pos;
};

struct Param {
  std::string name;
  Type type = Type::kB8;
  uint64_t align = 1, bytes = 0;
  uint64_t offset = 0;  ///< in the parameter block
  RegId reg = kNoReg;   ///< of a .func written with .reg parameters: the register that holds it
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;
  Linkage linkage = Linkage::kNone;
  std::vector<Param> params, returns;
  uint64_t param_bytes = 0;
  std::vector<Register> registers;
  std::vector<Variable> variables;  ///< .shared, .local and .param variables of the body
  std::vector<Instr> body;
  std::vector<std::pair<std::string, uint32_t>> labels;  ///< name, instruction index (may equal body.size())
  std::vector<std::vector<uint32_t>> branch_tables;      ///< .branchtargets lists, by instruction index
  std::vector<SourceLoc> locs;                           ///< [0] is "none"
  std::array<uint32_t, 3> maxntid = {}, reqntid = {};    ///< 0 = not given
  std::array<uint32_t, 3> reqcluster = {};
  uint32_t minnctapersm = 0, maxnreg = 0;
  bool noreturn = false;
  bool nounroll = false;  ///< .pragma "nounroll" for the whole function
  SourcePos pos;
  /// Why this function cannot run here (unknown opcode, unsupported row ...); empty when it can.
  Diagnostics unsupported;
};

struct Module {
  std::string file_name;  ///< for diagnostics
  std::string text;       ///< the PTX itself: diagnostics quote it, reports show lines of it
  unsigned version_major = 0, version_minor = 0;
  std::string target;  ///< e.g. "sm_90"
  unsigned address_size = 64;
  std::vector<std::string> files;  ///< by .file index; [0] is ""
  std::vector<InlineSite> inline_sites;
  std::vector<Variable> variables;
  std::vector<Function> functions;

  const Function* find_function(std::string_view name) const;
};

}  // namespace warplens::ptx
