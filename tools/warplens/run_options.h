// SPDX-License-Identifier: Apache-2.0
// The command line of `warplens run [options] X [args...]`. Our options come before X; everything after X belongs to
// the program, a leading "--" is dropped. When X is a source, further arguments that name existing sources are compiled
// with it, and options may be the compiler's: -I -D -U -O -std -maxrregcount -l -L -Xc ... When X is PTX (*.ptx, or
// options for bare kernels stand before it), there is no program, and options may follow it too.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compile/options.h"
#include "gate/config_file.h"
#include "report/metrics.h"
#include "report/session_file.h"
#include "warplens/bare_options.h"
#include "warplens/gpu_option.h"

namespace warplens::cli {

enum class Compiler { kClang, kNvcc };

struct RunOptions {
  std::vector<std::string> inputs;     ///< X, or several sources
  std::vector<std::string> arguments;  ///< the program's
  CompileOptions compile;
  std::vector<std::string> compile_words;  ///< compiler options as typed, to complain about them when X is no source
  Compiler compiler = Compiler::kClang;
  GpuChoice gpu;
  report::SessionFile session;
  /// Reports in the formats of other tools: files, "-" or empty.
  std::string json, csv, sarif, junit, markdown, annotations;
  std::string source_root;  ///< folder, absolute, to which the files' paths are relative; empty: none
  std::vector<const report::Metric*> metrics;  ///< columns of csv; empty: all
  /// PTX files that replace the device halves of the CUDA sources, in order: host code by clang, kernels by another
  /// compiler.
  std::vector<std::string> device_ptx;
  bool resource_usage = false;  ///< show what the assembler gives the kernels
  bool unfold = false, keep = false, ignore_unknown = false, quiet = false, help = false;
  std::string program_output;  ///< a file for the program's standard output; empty: ours takes it
  std::optional<double> timeout_seconds;
  std::string config;    ///< --config: the file to read instead of the nearest
  std::string baseline;  ///< --baseline: a report to compare with
  std::optional<gate::Growth> growth;
  std::optional<gate::StoredReport> baseline_report;  ///< read before anything is started
  std::vector<gate::Limit> limits;                    ///< of the command line, over those of the file
  std::string effective_config;                       ///< all that is in force, as a file
  bool no_config = false, dump_config = false, allow_estimates = false;
  BareOptions bare;  ///< when X is PTX
};

/// `arguments`: what follows "run". All faults are reported at once.
Result<RunOptions> parse_run_options(const std::vector<std::string>& arguments);

}  // namespace warplens::cli
