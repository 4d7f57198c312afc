// SPDX-License-Identifier: Apache-2.0
// Which kernel parameter an address comes from: "in" of in[i * stride + offset]. Reports name it where there is no
// source line; the first wrong lane of a fault is easier to understand with it.
#pragma once
#include <string>
#include <vector>

#include "ptx/module.h"

namespace warplens::machine {

/// Follows addresses back to the 64-bit parameter that they are computed from, over all definitions of each register.
class ParameterFinder {
 public:
  explicit ParameterFinder(const ptx::Function& function);
  /// The parameter's name; empty when there is none or more than one.
  std::string of_address(const ptx::Instr& access) const;

 private:
  void follow(ptx::RegId reg, std::vector<bool>& seen, std::vector<bool>& parameters) const;
  void follow_operand(const ptx::Operand& operand, std::vector<bool>& seen, std::vector<bool>& parameters) const;
  /// Index of the parameter whose value `in` (an ld.param) loads, or kNoIndex.
  uint32_t loaded_parameter(const ptx::Instr& in) const;

  const ptx::Function& function_;
  std::vector<std::vector<uint32_t>> definitions_;  // by register: instructions that write it
};

}  // namespace warplens::machine
