// SPDX-License-Identifier: Apache-2.0
// What the user gave us to run: source, program, PTX, or something that cannot work, and then what to do about it.
// Decided before anything starts, so that every wrong input gets one clear message.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace warplens {

enum class ProgramKind {
  kCudaSource,  ///< .cu
  kHostSource,  ///< .c, .cpp: may call the runtime or load PTX
  kPtx,         ///< PTX text, whatever its name
  kExecutable,  ///< uses the shared CUDA runtime, and has PTX or none embedded (it may load PTX itself)
  kOther,       ///< an executable or script that may start a CUDA program; nothing is known about it
};

struct Program {
  ProgramKind kind = ProgramKind::kOther;
  std::string path;
  std::string note;                   ///< something the user should know, though it runs; may be empty
  std::vector<uint32_t> ptx_targets;  ///< executables: embedded PTX
};

/// An error when the path is missing, or names something that we cannot run; the hint says how to rebuild it.
Result<Program> identify_program(const std::string& path);

}  // namespace warplens
