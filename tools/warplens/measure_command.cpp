// SPDX-License-Identifier: Apache-2.0
#include "warplens/measure_command.h"

#include <algorithm>
#include <cstdio>

#include "compile/process.h"
#include "warplens/child.h"
#include "warplens/exit_codes.h"
#include "warplens/installation.h"
#include "warplens/run_command.h"

namespace warplens::cli {

int measure_command(const std::vector<std::string>& arguments) {
  if (std::ranges::any_of(arguments, [](const std::string& a) { return a == "--help" || a == "-h"; })) {
    std::fputs(measure_help().c_str(), stdout);
    return 0;
  }
  const auto installation = find_installation();
  if (!installation || installation->measure_script.empty()) {
    print(installation ? Diagnostics{make_error("this copy of warplens is incomplete: scripts/measure_gpu is missing",
                                                "build or install it again")}
                       : installation.error());
    return kMisuse;
  }
  ChildRequest child;
  child.path = find_on_path("python3");
  if (child.path.empty()) {
    print({make_error("measuring takes python3, which is not on PATH")});
    return kMisuse;
  }
  child.argv = {child.path, installation->measure_script};
  child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
  const SignalGuard guard;
  std::fflush(nullptr);
  const auto end = run_child(child);
  if (end) return end->exit_code;
  print(end.error());
  return kMisuse;
}

std::string measure_help() {
  return R"(usage: warplens measure [options] gallery[/TOPIC[/RUNG]]...
       warplens measure [options] kernels

On a machine with a GPU: builds the gallery (or the kernel library and what it is compared with), times it at full size,
counts each kernel once at a small size with Nsight Compute, and writes results/<gpu>/gallery.json (or kernels.json): date,
GPU, driver, toolkit, command, and a row for each rung. What was not measured now stays in the file. A file is written
whole or not at all. In a source tree 'warplens gallery' shows what the file has; an installation, what it came with.

  --out FOLDER           where results are kept (default: results of the source tree; of an installation, here)
  --jobs N               compilers at once
  --no-counts            time only; needs no Nsight Compute
  --no-times             count only; rows keep their times

Needs nvcc and ncu on PATH or in $CUDA_HOME/bin, nvidia-smi, python3, and permission to use the GPU's counters.
The same without an installation: scripts/measure_gpu of the source tree.

exit code: 0; 1 a rung is wrong; 2 wrong use, something is missing or does not work, nothing was written; 3 results
cannot be written (tried before anything is measured).
)";
}

}  // namespace warplens::cli
