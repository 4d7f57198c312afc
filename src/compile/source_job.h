// SPDX-License-Identifier: Apache-2.0
// One source of a build with clang, between clang_driver.cpp (how a source becomes an object) and clang_build.cpp (what
// becomes of the objects). Not for other folders: they use clang_driver.h.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "compile/clang_driver.h"

namespace warplens {

/// How a command ended and what it wrote; with --dryrun it did not run.
struct CommandDone {
  bool ok = false;
  std::string messages;  ///< standard error, after the command itself when that is to be shown
  std::string output;    ///< standard output
};
Result<CommandDone> run_command(const CompileRequest& request, const std::vector<std::string>& command);

struct SourceJob {
  std::string source;
  std::string object;
  std::string given_ptx;  ///< instead of compiling the device half
  std::string scratch;    ///< prefix of its temporary files
};
struct SourceDone {
  bool ok = false;
  std::string messages;
  std::vector<PtxImage> device;
  std::string relocatable;  ///< the device half as LLVM text, when it is to be linked with others
};
/// Writes job.object.
Result<SourceDone> compile_source(const CompileRequest& request, const SourceJob& job);

/// Device code from LLVM text to PTX; `scratch` as in SourceJob.
Result<CommandDone> ir_to_ptx(const CompileRequest& request, std::string ir, const std::string& scratch,
                              std::string& ptx);

/// The command for -E, -M and -MM.
std::vector<std::string> clang_preprocess_command(const CompileRequest& request, const std::string& source);

}  // namespace warplens
