// SPDX-License-Identifier: Apache-2.0
// Appends instructions to a function's body, written as PTX text: what the passes add, and a reader sees what it is.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/module.h"

namespace warplens::passes {

class InstructionWriter {
 public:
  InstructionWriter(ptx::Function& out, const ptx::OpTable& table) : out_(out), table_(table) {}

  ptx::RegId new_register(ptx::Type type, std::string name);

  /// Names in the text -> registers of the function; their types are those of the registers.
  using Names = std::vector<std::pair<std::string_view, ptx::RegId>>;
  /// Appends the instructions of `text` (no labels), with `like`'s place.
  void append(const ptx::Instr& like, std::string_view text, const Names& names);
  /// Appends "@guard bra target;" (kNoReg: without guard) and returns its index; the target may be set later.
  uint32_t append_jump(const ptx::Instr& like, ptx::RegId guard, bool negated, uint32_t target = 0);
  void set_target(uint32_t jump, uint32_t target) { out_.body[jump].operands[0].first = target; }
  uint32_t here() const { return static_cast<uint32_t>(out_.body.size()); }

 private:
  ptx::Function& out_;
  const ptx::OpTable& table_;
};

}  // namespace warplens::passes
