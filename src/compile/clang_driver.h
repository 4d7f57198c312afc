// SPDX-License-Identifier: Apache-2.0
// Makes an executable from CUDA sources with clang 19, our headers and our runtime: no NVIDIA software.
// A source is compiled twice at once, for the device to PTX and for the host to an object that carries that PTX in a
// container of ours (docs/embedding.md), where clang's registration code expects a fat binary.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "compile/fatbin.h"
#include "compile/options.h"

namespace warplens {

/// Where the pieces of an installation lie.
struct Toolchain {
  std::string clang = "clang++-19";
  std::string cuda_headers;     ///< the folder with cuda_runtime.h
  std::string runtime_library;  ///< libcudart.so.13 of ours, whole path
};

struct CompileRequest {
  CompileOptions options;
  Toolchain toolchain;
  /// A PTX file for each CUDA source, in order, instead of compiling its device half; empty: compile all.
  std::vector<std::string> device_ptx;
};

struct CompileOutcome {
  bool ok = false;
  std::string messages;          ///< what the compilers said, verbatim: errors when not ok, else warnings
  std::vector<PtxImage> device;  ///< one for each CUDA source, or one for all when they were linked
  std::string output;            ///< for standard output (-E, -M)
};

/// Does what options.stage says, in clang_build.cpp, and writes options.output. An error Result means that compiling
/// could not even begin (a file or clang missing); faults in the user's sources are an outcome that is not ok.
Result<CompileOutcome> compile_with_clang(const CompileRequest& request);

/// Only the device half of one source, as PTX text.
Result<CompileOutcome> device_ptx_with_clang(const CompileRequest& request, const std::string& source);

/// Adds .maxnreg to every entry without register or occupancy directives of its own, as -maxrregcount does.
std::string limit_registers(const std::string& ptx, int max_registers);

/// The commands that would run, for --verbose and for tests. The device half takes three: to LLVM text, which is edited
/// (wide_copies.h), through the optimiser, whose text is edited again (inlined_places.h), and from there to PTX. With
/// --device-debug the one in the middle is left out.
std::vector<std::string> clang_device_command(const CompileRequest& request, const std::string& source,
                                              const std::string& output);
std::vector<std::string> clang_optimise_command(const CompileRequest& request, const std::string& ir,
                                                const std::string& output);
std::vector<std::string> clang_ptx_command(const CompileRequest& request, const std::string& ir,
                                           const std::string& output);
std::vector<std::string> clang_host_command(const CompileRequest& request, const std::string& source,
                                            const std::string& embedded, const std::string& output);

}  // namespace warplens
