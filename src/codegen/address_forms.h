// SPDX-License-Identifier: Apache-2.0
// Which registers of a basic block differ by a constant. Compilers compute the addresses of an unrolled loop's accesses
// each from its own index (i + 1, i + 2, ... each widened, scaled and added to the pointer), so the constant is in no
// operand. Here every value is written as a root plus a number of bytes, as if no step on the way wrapped around: an
// assumption that generated code tests (row_groups.cpp).
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "ptx/module.h"

namespace warplens::codegen {

struct AddressForm {
  uint32_t root = 0;
  int64_t offset = 0;
};

class AddressForms {
 public:
  /// What a register holds at this point of the block.
  AddressForm of(ptx::RegId reg);
  /// Goes past an instruction.
  void pass(const ptx::Instr& in);

 private:
  using Node = std::vector<uint64_t>;  ///< operation, then its operands' roots and factors
  uint32_t fresh() { return next_++; }
  uint32_t known(const Node& node);
  bool linear(const ptx::Instr& in, AddressForm& out);

  uint32_t next_ = 0;
  std::map<Node, uint32_t> nodes_;
  std::map<ptx::RegId, AddressForm> now_;
};

}  // namespace warplens::codegen
