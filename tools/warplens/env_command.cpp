// SPDX-License-Identifier: Apache-2.0
#include "warplens/env_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "compile/process.h"
#include "warplens/exit_codes.h"
#include "warplens/installation.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

struct Variable {
  const char* name;
  std::string value;
  const char* old;  ///< of the environment, which stays behind the value; null: replaced
};

/// Quoted for a shell, or as a line of a file of NAME=value.
std::string text_of(const std::vector<Variable>& variables, bool plain) {
  std::string text;
  for (const Variable& v : variables) {
    std::string value = v.value;
    if (v.old != nullptr && *v.old != '\0') value += std::string(":") + v.old;
    text +=
        plain ? fmt::format("{}={}\n", v.name, value) : fmt::format("export {}={}\n", v.name, quoted_command({value}));
  }
  return text;
}

}  // namespace

int env_command(const std::vector<std::string>& arguments) {
  bool build = false, plain = false;
  for (const std::string& a : arguments) {
    if (a == "--help" || a == "-h") {
      std::fputs(env_help().c_str(), stdout);
      return 0;
    }
    if (a == "--build")
      build = true;
    else if (a == "--plain")
      plain = true;
    else {
      print({make_error(fmt::format("unknown option '{}'", a), "warplens help env lists the options")});
      return kMisuse;
    }
  }
  const auto installation = find_installation();
  if (!installation) {
    print(installation.error());
    return kMisuse;
  }
  std::vector<Variable> variables = {{"LD_LIBRARY_PATH", installation->library_folder, std::getenv("LD_LIBRARY_PATH")}};
  if (build) {
    variables.push_back({"CUDA_PATH", installation->toolkit, nullptr});
    variables.push_back({"CUDACXX", installation->toolkit + "/bin/nvcc", nullptr});
  }
  return std::fputs(text_of(variables, plain).c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? kCannotWrite : 0;
}

std::string env_help() {
  return R"help(usage: warplens env [--build] [--plain]

Prints what must be set so that programs linked to the shared CUDA runtime find ours when something else than
'warplens run' starts them: mpirun, ctest, a debugger. They then run on the virtual GPU without a report.

  eval "$(warplens env)"; ctest
  warplens env --plain >>"$GITHUB_ENV"

  --build    also CUDA_PATH and CUDACXX, by which build files find our compiler
  --plain    lines of NAME=value instead of a shell's 'export'

exit code: 0; 2 when this copy of warplens is incomplete.
)help";
}

}  // namespace warplens::cli
