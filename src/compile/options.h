// SPDX-License-Identifier: Apache-2.0
// Compiler options as people write them for nvcc (and mostly for clang and gcc too), sorted by what they concern.
// Both drivers start from this: what neither needs (-arch of machine code, -ccbin ...) is accepted and dropped, what
// is not known is refused by name.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace warplens {

struct CompileOptions {
  std::vector<std::string> sources;       ///< inputs, in order: .cu .cpp .cc .cxx .c .o .a .so
  std::vector<std::string> preprocessor;  ///< -I -D -U -include -isystem
  std::vector<std::string> host_only;     ///< -Xcompiler
  std::vector<std::string> both;          ///< -Xc ARG, -W -f -m: to every compilation as they are
  std::vector<std::string> linker;        ///< -l -L -Wl,
  std::string language_standard;          ///< c++17 ...; empty: the compiler's own
  std::string optimization = "-O3";       ///< of the host half; the device half is -O3 unless -G
  std::string output;                     ///< -o
  int target = 90;                        ///< device code is made for sm_<target>
  int max_registers = 0;                  ///< -maxrregcount
  bool debug = false;                     ///< -g
  bool device_debug = false;              ///< -G: device code without optimization
  bool fast_math = false;                 ///< -use_fast_math
  bool compile_only = false;              ///< -c
  bool verbose = false;                   ///< -v: print the commands
};

/// Sorts a command line. All faults are reported at once.
Result<CompileOptions> parse_compile_options(const std::vector<std::string>& arguments);

/// Whether an option of this spelling takes the next argument as its value ("-I" does, "-Idir" does not).
bool option_takes_value(const std::string& option);

/// Whether a path names a source that the drivers compile (.cu, .cpp, .cc, .cxx, .c).
bool is_source_path(const std::string& path);
bool is_cuda_path(const std::string& path);

}  // namespace warplens
