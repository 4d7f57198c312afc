// SPDX-License-Identifier: Apache-2.0
// See cc_command.h. Besides compiling it answers what build systems ask of nvcc: --version, and with -v the folders
// and the link line from which CMake learns how to link (Modules/CMakeDetermineCUDACompiler.cmake of CMake reads them).
#include "warplens/cc_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "compile/clang_driver.h"
#include "compile/process.h"
#include "warplens/child.h"
#include "warplens/device_code.h"
#include "warplens/exit_codes.h"
#include "warplens/help.h"
#include "warplens/installation.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

constexpr int kSourceErrors = 1;

bool take(std::vector<std::string>& arguments, std::initializer_list<std::string_view> spellings) {
  const auto is = [&](const std::string& a) {
    return std::find(spellings.begin(), spellings.end(), a) != spellings.end();
  };
  return std::erase_if(arguments, is) != 0;
}

/// nvcc's ways to ask what the assembler gave the kernels; the words themselves mean nothing to clang.
bool wants_resource_usage(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& w = words[i];
    if (w == "--resource-usage" || w == "-resource-usage" || w == "-Xptxas=-v" || w == "--ptxas-options=-v")
      return true;
    if ((w == "-Xptxas" || w == "--ptxas-options") && i + 1 < words.size() && words[i + 1].ends_with("-v")) return true;
  }
  return false;
}

// Scripts look for "release 13.0" and "V13.0.0"; CMake takes a compiler for nvcc when its driver's name is there.
std::string version_text() {
  return "warplens cc " WARPLENS_VERSION
         ", a stand-in for nvcc that makes programs for the CPU\n"
         "It answers where build files ask for 'nvcc: NVIDIA (R) Cuda compiler driver'\n"
         "Cuda compilation tools, release 13.0, V13.0.0\n";
}

/// What nvcc -v tells: where its parts are. One assignment a line.
std::string folders_text(const Installation& installation) {
  return fmt::format(
      "#$ TOP={0}\n#$ NVVMIR_LIBRARY_DIR={0}/nvvm/libdevice\n#$ PATH={0}/bin\n#$ INCLUDES=\"-I{1}\"\n"
      "#$ LIBRARIES= {2}\n#$ device code for -arch compute_90\n",
      installation.toolkit, installation.cuda_headers, quoted_command({"-L" + installation.toolkit + "/lib64"}));
}

/// The link as one command of the kind that build systems repeat with objects of their own: it is a command of ours.
std::string link_text(const Installation& installation, const CompileOptions& o) {
  std::vector<std::string> a{installation.toolkit + "/bin/nvcc"};
  for (const std::string& s : o.sources)
    a.push_back(is_source_input(o, s) ? std::filesystem::path(s).stem().string() + ".o" : s);
  a.push_back("-L" + installation.toolkit + "/lib64");
  a.insert(a.end(), o.linker.begin(), o.linker.end());
  a.insert(a.end(), {"-lcudart", "-o", o.output.empty() ? "a.out" : o.output});
  return "#$ " + quoted_command(a) + "\n";
}

int compile(const CompileOptions& options, const Installation& installation, bool resource_usage) {
  CompileRequest request;
  request.options = options;
  request.toolchain.cuda_headers = installation.cuda_headers;
  request.toolchain.runtime_library = installation.runtime_library;
  const SignalGuard guard;
  const auto outcome = compile_with_clang(request);
  if (const int signal = SignalGuard::pending(); signal != 0) return kSignalBase + signal;
  if (!outcome) {
    print(outcome.error());
    return kMisuse;
  }
  std::fputs(outcome->messages.c_str(), stderr);
  if (resource_usage && outcome->ok)
    std::fputs(resource_usage_text(outcome->device, options.target, {}, options.max_registers).c_str(), stderr);
  if (std::fputs(outcome->output.c_str(), stdout) < 0 || std::fflush(stdout) != 0) return kCannotWrite;
  return outcome->ok ? 0 : kSourceErrors;
}

}  // namespace

int cc_command(std::vector<std::string> arguments) {
  auto words = expand_option_files(arguments);
  if (!words) {
    print(words.error());
    return kMisuse;
  }
  if (take(*words, {"--help", "-h"})) {
    std::fputs(cc_help().c_str(), stdout);
    return 0;
  }
  if (take(*words, {"--version", "-V"})) {
    std::fputs(version_text().c_str(), stdout);
    return 0;
  }
  const auto installation = find_installation();
  if (!installation) {
    print(installation.error());
    return kMisuse;
  }
  if (take(*words, {"--print-toolkit"})) {
    std::fputs((installation->toolkit + "\n").c_str(), stdout);
    return 0;
  }
  const bool resource_usage = wants_resource_usage(*words);
  const bool skip = take(*words, {"--ignore-unknown"});
  auto options = parse_compile_options(*words, skip ? UnknownOptions::kSkip : UnknownOptions::kRefuse);
  if (!options) {
    print(options.error());
    return kMisuse;
  }
  options->target = 90;  // whatever the build file names: one PTX, for the virtual GPU
  options->preprocessor.insert(options->preprocessor.begin(), {"-D", "__NVCC__=1"});
  if (options->verbose) {
    std::fputs(folders_text(*installation).c_str(), stderr);
    if (options->stage == Stage::kLink) std::fputs(link_text(*installation, *options).c_str(), stderr);
  }
  return compile(*options, *installation, resource_usage);
}

}  // namespace warplens::cli
