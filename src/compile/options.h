// SPDX-License-Identifier: Apache-2.0
// Compiler options as people write them for nvcc (and mostly for clang and gcc too), sorted by what they concern.
// Both drivers start from this: what neither needs (-arch of machine code, -ccbin ...) is accepted and dropped, what
// is not known is refused by name.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"

namespace warplens {

/// What is made of the inputs.
enum class Stage {
  kLink,          ///< an executable or (-shared) a library
  kObject,        ///< -c, -dc: an object for each source
  kPreprocess,    ///< -E
  kDependencies,  ///< -M, -MM: only the rules for make
  kPtx,           ///< -ptx: the device half as text
  kContainer,     ///< -fatbin: the device half in our container (fatbin.h)
  kDeviceLink,    ///< -dlink: an object with the linked device code of relocatable objects (device_link.h)
  kArchive,       ///< -lib
};

struct CompileOptions {
  Stage stage = Stage::kLink;
  std::vector<std::string> sources;       ///< inputs, in order: .cu .cpp .cc .cxx .c .o .a .so
  std::vector<std::string> cuda_inputs;   ///< those of them that -x cu declared to be CUDA, whatever their names
  std::vector<std::string> preprocessor;  ///< -I -D -U -include -isystem
  std::vector<std::string> host_only;     ///< -Xcompiler
  std::vector<std::string> both;          ///< -Xc ARG, -W -f -m: to every compilation as they are
  std::vector<std::string> linker;        ///< -l -L -Wl,
  std::vector<std::string> link_line;     ///< inputs and linker options in the order in which they were written
  std::string language_standard;          ///< c++17 ...; empty: the compiler's own
  std::string optimization = "-O3";       ///< of the host half; the device half is -O3 unless -G
  std::string output;                     ///< -o
  std::string output_directory;           ///< -odir: for outputs without a name
  std::vector<std::string> dependencies;  ///< -MD -MF FILE -MT NAME ...: for the host half
  int target = 90;                        ///< device code is made for sm_<target>
  int max_registers = 0;                  ///< -maxrregcount
  bool debug = false;                     ///< -g
  bool device_debug = false;              ///< -G: device code without optimization
  bool fast_math = false;                 ///< -use_fast_math; it also sets the three below
  bool flush_denormals = false;           ///< -ftz=true
  bool approximate_division = false;      ///< -prec-div=false
  bool approximate_root = false;          ///< -prec-sqrt=false
  bool relocatable = false;               ///< -rdc=true, -dc: device code that is linked with that of other objects
  bool shared = false;                    ///< -shared
  bool verbose = false;                   ///< -v: print the commands
  bool dry_run = false;                   ///< --dryrun: print them, run none
};

/// What to do with options that are not known.
enum class UnknownOptions { kRefuse, kSkip };

/// Sorts a command line. All faults are reported at once; an unknown option is named with the nearest known one.
Result<CompileOptions> parse_compile_options(const std::vector<std::string>& arguments,
                                             UnknownOptions unknown = UnknownOptions::kRefuse);

/// Replaces @file, -optf file and --options-file file by the words in these files, which may name others.
Result<std::vector<std::string>> expand_option_files(const std::vector<std::string>& arguments);

/// Whether an option of this spelling takes the next argument as its value ("-I" does, "-Idir" does not).
bool option_takes_value(const std::string& option);

/// Whether a path names a source that the drivers compile (.cu, .cpp, .cc, .cxx, .c).
bool is_source_path(const std::string& path);
bool is_cuda_path(const std::string& path);
/// The same question, also for inputs that -x cu declared.
bool is_cuda_input(const CompileOptions& options, const std::string& path);
bool is_source_input(const CompileOptions& options, const std::string& path);

}  // namespace warplens
