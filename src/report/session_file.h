// SPDX-License-Identifier: Apache-2.0
// How `warplens run` tells the library inside the program what to do: a small JSON file whose path is in the
// environment variable WARPLENS_SESSION. Without the variable the program simply runs. Keys are described in
// docs/session-file.md; absent keys have the defaults below, unknown keys are ignored, so that tool and library may
// differ in age.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "base/result.h"
#include "events/sample.h"

namespace warplens::report {

constexpr const char* kSessionVariable = "WARPLENS_SESSION";

struct SessionFile {
  std::string record;        ///< file that launches are appended to; empty: none
  bool count = true;         ///< count memory accesses of the selected launches
  std::string kernel_regex;  ///< ECMAScript, searched in the mangled and the demangled name; empty: every kernel
  uint64_t launch_skip = 0;  ///< of the launches that match kernel_regex, leave out the first ...
  uint64_t launch_count = std::numeric_limits<uint64_t>::max();  ///< ... and count this many
  bool profile_from_start = true;  ///< off: only launches between cudaProfilerStart and cudaProfilerStop are selected
  std::string nvtx_regex;         ///< only launches while an NVTX range is open in whose name this is found; empty: all
  std::string executor = "jit";   ///< or "interpreter"
  std::string level = "machine";  ///< or "ptx": what is counted (exec::Level)
  std::string counting = "fast";  ///< or "oracle": lane by lane, slowly (exec::LaunchRequest::by_oracle)
  events::SampleChoice sample;    ///< count a share of each launch's blocks only
  unsigned workers = 0;           ///< threads that run blocks; 0: one a core
  bool cache = true;              ///< keep compiled code on disk, unless the environment says otherwise
  std::string gpu;                ///< as gpu::find_gpu: a name or the path of a GPU file; empty: the default
  bool progress = false;          ///< show how far long launches are, when standard error is a terminal
  /// Kernels (mangled) whose registers per thread the assembler told; others are estimated.
  std::map<std::string, uint32_t> registers;
  std::string trace;  ///< file for the text of every event; empty: none
};

Result<SessionFile> read_session_file(const std::string& path);
Status write_session_file(const std::string& path, const SessionFile& session);

}  // namespace warplens::report
