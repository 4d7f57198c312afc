// SPDX-License-Identifier: Apache-2.0
// See nvcc_driver.h.
#include "compile/nvcc_driver.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "compile/elf_file.h"
#include "compile/process.h"

namespace warplens {

Result<std::string> find_nvcc() {
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* root = std::getenv(variable);
    if (root == nullptr || *root == '\0') continue;
    const std::string path = find_on_path(std::string(root) + "/bin/nvcc");
    if (path.empty()) return make_error(std::string(variable) + " is '" + root + "', but there is no bin/nvcc in it");
    return path;
  }
  for (const char* name : {"nvcc", "/usr/local/cuda/bin/nvcc"})
    if (std::string path = find_on_path(name); !path.empty()) return path;
  return make_error("nvcc is neither on PATH nor in /usr/local/cuda/bin",
                    "set CUDA_HOME to the toolkit, or leave --compiler out to use clang and our headers");
}

std::vector<std::string> nvcc_command(const CompileRequest& request, const std::string& nvcc) {
  const CompileOptions& o = request.options;
  const std::string virtual_target = "compute_" + std::to_string(o.target);
  std::vector<std::string> a{nvcc,
                             "-cudart",
                             "shared",
                             "-lineinfo",
                             o.optimization,
                             "-gencode",
                             "arch=" + virtual_target + ",code=" + virtual_target};
  if (o.device_debug) a.push_back("-G");
  if (o.debug) a.push_back("-g");
  if (o.fast_math) a.push_back("-use_fast_math");
  if (o.flush_denormals && !o.fast_math) a.push_back("-ftz=true");
  if (o.approximate_division && !o.fast_math) a.push_back("-prec-div=false");
  if (o.approximate_root && !o.fast_math) a.push_back("-prec-sqrt=false");
  if (o.relocatable) a.push_back("-rdc=true");
  if (o.stage == Stage::kObject) a.push_back("-c");
  if (!o.language_standard.empty()) a.push_back("-std=" + o.language_standard);
  if (o.max_registers > 0) a.push_back("-maxrregcount=" + std::to_string(o.max_registers));
  a.insert(a.end(), {"--extended-lambda", "--expt-relaxed-constexpr"});
  a.insert(a.end(), o.preprocessor.begin(), o.preprocessor.end());
  a.insert(a.end(), o.both.begin(), o.both.end());
  for (const std::string& h : o.host_only) a.insert(a.end(), {"-Xcompiler", h});
  a.insert(a.end(), o.sources.begin(), o.sources.end());
  for (const std::string& l : o.linker) {
    if (l.starts_with("-Wl,"))
      a.insert(a.end(), {"-Xcompiler", "\"" + l + "\""});
    else
      a.push_back(l);
  }
  if (!o.output.empty()) a.insert(a.end(), {"-o", o.output});
  return a;
}

Result<CompileOutcome> compile_with_nvcc(const CompileRequest& request, const std::string& nvcc) {
  for (const std::string& s : request.options.sources)
    if (access(s.c_str(), R_OK) != 0) return make_error("cannot read '" + s + "': " + std::strerror(errno));
  const std::vector<std::string> command = nvcc_command(request, nvcc);
  auto run = run_process(command);
  if (!run) return run.error();
  CompileOutcome outcome{run->ok(), run->errors + run->output, {}, ""};
  if (request.options.verbose) outcome.messages = quoted_command(command) + "\n" + outcome.messages;
  if (!outcome.ok || request.options.stage == Stage::kObject) return outcome;
  const auto file = read_file(request.options.output.empty() ? "a.out" : request.options.output);
  if (!file) return file.error();
  const auto elf = ElfFile::parse(std::as_bytes(std::span(*file)));
  if (!elf) return elf.error();
  if (const auto section = elf->section(".nv_fatbin"); !section.empty()) {
    auto binary = read_fat_binary(section);
    if (!binary) return binary.error();
    outcome.device = std::move(binary->ptx);
  }
  return outcome;
}

}  // namespace warplens
