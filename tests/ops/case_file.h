// SPDX-License-Identifier: Apache-2.0
// Reads tests/ops/<mnemonic>.txt (format: README.md beside it) and wraps each instruction into a small kernel, so that
// the same cases run through the parser, the references and both executors.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ptx/types.h"

namespace warplens::ops_test {

struct CaseRegister {
  std::string name;
  ptx::Type type;
};
struct CaseRow {
  int line = 0;
  std::vector<uint64_t> inputs, outputs;
};
/// One instruction and its rows.
struct Case {
  int line = 0;
  std::string opcode, operands;  ///< as PTX, registers r_<name>, the memory cell as [cell]
  std::vector<CaseRegister> inputs, outputs;
  bool has_cell = false;  ///< inputs[0] is the cell's old value; the last output its new one
  ptx::Type cell_type = ptx::Type::kNone;
  double tolerance = 0;  ///< units in the last place
  double absolute = 0;
  std::vector<CaseRow> rows;
};

std::vector<std::string> case_files();  ///< mnemonics that have a file
/// The cases of a mnemonic; `error` receives what is wrong with the file.
std::vector<Case> read_cases(const std::string& mnemonic, std::string& error);

/// A kernel `k(in, out, n)`: in has kCaseInputs words a row, out kCaseOutputs. kByLane runs the instruction on row
/// tid.x, threads below n; kUniform runs it on row n in every thread, with operands that are provably the same in all
/// lanes.
enum class Operands : uint8_t { kByLane, kUniform };
constexpr int kCaseInputs = 5, kCaseOutputs = 3;
std::string kernel_text(const Case& c, Operands operands = Operands::kByLane);
/// Line of kernel_text() on which the instruction stands.
constexpr unsigned kInstructionLine = 4;

/// Whether a result may stand for the expected one under the case's tolerance.
bool agrees(const Case& c, size_t output, uint64_t expected, uint64_t actual);

}  // namespace warplens::ops_test
