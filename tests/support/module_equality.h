// SPDX-License-Identifier: Apache-2.0
// Compares two parsed modules in everything that executing them depends on, and says where they differ first.
#pragma once
#include <fmt/format.h>

#include <string>

#include "ptx/module.h"

namespace warplens::test {

inline bool same(const ptx::Operand& a, const ptx::Operand& b) {
  return a.tag == b.tag && a.type == b.type && a.reg == b.reg && a.symbol == b.symbol && a.special == b.special &&
         a.first == b.first && a.count == b.count && a.imm == b.imm;
}

inline bool same(const std::vector<ptx::Operand>& a, const std::vector<ptx::Operand>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

inline std::string difference(const ptx::Instr& a, const ptx::Instr& b) {
  if (a.def != b.def || a.slots != b.slots) return "opcode";
  if (a.guard != b.guard || a.guard_negated != b.guard_negated) return "guard";
  if (a.nounroll != b.nounroll) return "nounroll";
  if (!same(a.operands, b.operands)) return "operands";
  if (!same(a.elements, b.elements)) return "elements";
  if (!same(a.args, b.args) || a.returns != b.returns) return "arguments";
  return "";
}

inline std::string difference(const std::vector<ptx::Param>& a, const std::vector<ptx::Param>& b) {
  if (a.size() != b.size()) return "number of parameters";
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].name != b[i].name || a[i].type != b[i].type || a[i].offset != b[i].offset || a[i].bytes != b[i].bytes ||
        a[i].align != b[i].align)
      return fmt::format("parameter {}", i);
  return "";
}

inline std::string difference(const ptx::Function& a, const ptx::Function& b) {
  if (a.name != b.name || a.is_entry != b.is_entry || a.is_declaration != b.is_declaration) return "header";
  if (std::string d = difference(a.params, b.params); !d.empty()) return d;
  if (std::string d = difference(a.returns, b.returns); !d.empty()) return d;
  if (a.maxntid != b.maxntid || a.reqntid != b.reqntid || a.reqcluster != b.reqcluster || a.maxnreg != b.maxnreg ||
      a.minnctapersm != b.minnctapersm || a.noreturn != b.noreturn)
    return "directives";
  if (a.registers.size() != b.registers.size()) return "number of registers";
  for (size_t i = 0; i < a.registers.size(); ++i)
    if (a.registers[i].type != b.registers[i].type) return fmt::format("register {}", i);
  if (a.variables.size() != b.variables.size()) return "number of variables";
  if (a.branch_tables != b.branch_tables) return "branch tables";
  if (a.body.size() != b.body.size()) return fmt::format("{} and {} instructions", a.body.size(), b.body.size());
  for (size_t i = 0; i < a.body.size(); ++i) {
    if (std::string d = difference(a.body[i], b.body[i]); !d.empty()) return fmt::format("{} of instruction {}", d, i);
    const ptx::SourceLoc x = a.locs[a.body[i].loc], y = b.locs[b.body[i].loc];
    if (x.file != y.file || x.line != y.line || x.column != y.column) return fmt::format("place of instruction {}", i);
  }
  return "";
}

/// Empty when equal. The bytes of initialisers are compared as text of addresses may be split into bytes.
inline std::string difference(const ptx::Module& a, const ptx::Module& b) {
  if (a.version_major != b.version_major || a.version_minor != b.version_minor || a.files != b.files) return "head";
  if (a.variables.size() != b.variables.size()) return "number of variables";
  for (size_t i = 0; i < a.variables.size(); ++i) {
    const ptx::Variable &x = a.variables[i], &y = b.variables[i];
    if (x.name != y.name || x.space != y.space || x.bytes != y.bytes || x.align != y.align || x.unsized != y.unsized)
      return fmt::format("variable '{}'", x.name);
    for (size_t k = 0; k < std::max(x.init.size(), y.init.size()); ++k)
      if ((k < x.init.size() ? x.init[k] : 0) != (k < y.init.size() ? y.init[k] : 0))
        return fmt::format("byte {} of '{}'", k, x.name);
  }
  if (a.functions.size() != b.functions.size()) return "number of functions";
  for (size_t i = 0; i < a.functions.size(); ++i)
    if (std::string d = difference(a.functions[i], b.functions[i]); !d.empty())
      return fmt::format("{} of function '{}'", d, a.functions[i].name);
  return "";
}

}  // namespace warplens::test
