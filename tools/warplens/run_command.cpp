// SPDX-License-Identifier: Apache-2.0
#include "warplens/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "compile/clang_driver.h"
#include "compile/nvcc_driver.h"
#include "compile/process.h"
#include "compile/program_kind.h"
#include "gpu/catalogue.h"
#include "warplens/bare_command.h"
#include "warplens/child.h"
#include "warplens/deliver.h"
#include "warplens/device_code.h"
#include "warplens/exit_codes.h"
#include "warplens/help.h"
#include "warplens/installation.h"

namespace warplens::cli {
namespace {

namespace fs = std::filesystem;

/// A program ready to start, or the exit code with which to stop.
struct Prepared {
  int exit_code = 0;
  std::string path;
  bool ok() const { return !path.empty(); }
};

Prepared stop(const Diagnostics& why, int exit_code = kMisuse) {
  print(why);
  return {exit_code, {}};
}

Result<CompileOutcome> compile(const RunOptions& options, const Installation& installation, const std::string& output) {
  CompileRequest request;
  request.options = options.compile;
  request.options.sources = options.inputs;
  request.options.output = output;
  request.device_ptx = options.device_ptx;
  request.toolchain.cuda_headers = installation.cuda_headers;
  request.toolchain.runtime_library = installation.runtime_library;
  if (options.compiler == Compiler::kClang) return compile_with_clang(request);
  auto nvcc = find_nvcc();
  if (!nvcc) return nvcc.error();
  return compile_with_nvcc(request, *nvcc);
}

Prepared compiled(const RunOptions& options, const Result<Installation>& installation, const std::string& folder) {
  for (const std::string& input : options.inputs)
    if (auto program = identify_program(input); !program) return stop(program.error());
  if (!installation) return stop(installation.error());
  const std::string output = (fs::path(folder) / fs::path(options.inputs[0]).stem()).string();
  const auto outcome = compile(options, *installation, output);
  if (const int signal = SignalGuard::pending(); signal != 0) return {kSignalBase + signal, {}};
  if (!outcome) return stop(outcome.error());
  std::fputs(outcome->messages.c_str(), stderr);
  if (!outcome->ok) return {kMisuse, {}};
  if (options.keep) fmt::print(stderr, "warplens: the program is {}\n", output);
  return {0, output};
}

/// As a shell would: a bare name that is no file here is looked up on PATH.
std::string found_path(const std::string& typed) {
  std::error_code error;
  if (typed.find('/') != std::string::npos || fs::exists(typed, error)) return typed;
  const std::string found = find_on_path(typed);
  return found.empty() ? typed : found;
}

bool is_ptx(const std::string& path) {
  if (is_source_path(path)) return false;
  const auto program = identify_program(path);
  return program && program->kind == ProgramKind::kPtx;
}

/// X is no source: something that is there already.
Prepared existing(const RunOptions& options) {
  const std::string path = found_path(options.inputs[0]);
  const auto program = identify_program(path);
  if (!program) return stop(program.error());
  if (!options.compile_words.empty())
    return stop(
        {make_error(fmt::format("{} is a compiler option, but {} is not a source", options.compile_words[0], path))});
  if (!program->note.empty()) fmt::print(stderr, "warplens: {}\n", program->note);
  return {0, path};
}

/// Ours first, then what the user had: a program linked to the shared CUDA runtime finds our library under its name.
std::string library_path(const Installation& installation) {
  const char* old = std::getenv("LD_LIBRARY_PATH");
  std::string path = "LD_LIBRARY_PATH=" + installation.library_folder;
  if (old != nullptr && *old != '\0') path += std::string(":") + old;
  return path;
}

/// A folder that outlives this process, for --keep.
Result<std::string> kept_folder() {
  std::string name = (fs::temp_directory_path() / "warplens-kept-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    return make_error("cannot make a folder in " + fs::temp_directory_path().string());
  return name;
}

/// What the assembler says of the program's kernels, where there is one. Kernels that are not in the program itself
/// (in libraries, or loaded later) are estimated.
void add_registers(const RunOptions& options, const std::string& program, report::SessionFile& session) {
  const auto code = device_code_of(program, 0);
  if (!code) return;
  const gpu::Gpu gpu = *gpu::find_gpu(options.gpu.wanted);
  const int target = gpu.compute_capability[0] * 10 + gpu.compute_capability[1];
  session.registers = registers_of(assembled_for(*code, target, options.compile.max_registers));
  if (!options.resource_usage) return;
  std::fputs(resource_usage_text(*code, target, options.gpu.wanted, options.compile.max_registers).c_str(), stderr);
}

int exit_code_of(const report::RunEnd& end) { return end.timed_out ? kTimedOut : end.exit_code; }

}  // namespace

void print(const Diagnostics& diagnostics) {
  for (const Diagnostic& d : diagnostics) std::fputs(("warplens: " + render(d)).c_str(), stderr);
}

RunOutcome run_program(const RunOptions& options) {
  auto temporary = TemporaryDirectory::create();
  if (!temporary) {
    print(temporary.error());
    return {kCannotWrite, false, {}};
  }
  std::string build_folder = temporary->path();
  if (options.keep) {
    auto kept = kept_folder();
    if (!kept) {
      print(kept.error());
      return {kCannotWrite, false, {}};
    }
    build_folder = *kept;
  }
  const Result<Installation> installation = find_installation();
  const Prepared program =
      is_source_path(options.inputs[0]) ? compiled(options, installation, build_folder) : existing(options);
  if (!program.ok()) return {program.exit_code, false, {}};
  if (!installation) {
    print(installation.error());
    return {kMisuse, false, {}};
  }

  report::SessionFile session = options.session;
  session.record = temporary->path() + "/record";
  session.progress = !options.quiet && isatty(STDERR_FILENO) != 0;
  add_registers(options, program.path, session);
  const std::string session_path = temporary->path() + "/session.json";
  if (const Status status = report::write_session_file(session_path, session); !status) {
    print(status.error());
    return {kCannotWrite, false, {}};
  }
  ChildRequest child;
  child.path = program.path;
  child.argv = options.arguments;
  child.argv.insert(child.argv.begin(), program.path);
  child.variables = {library_path(*installation), std::string(report::kSessionVariable) + "=" + session_path};
#ifdef WARPLENS_SANITIZER_RUNTIME  // the program is not instrumented, but the library it loads is
  child.variables.push_back("LD_PRELOAD=" WARPLENS_SANITIZER_RUNTIME);
  child.variables.push_back("ASAN_OPTIONS=detect_leaks=0");
#endif
  child.output = options.program_output;
  child.timeout_seconds = options.timeout_seconds;
  std::fflush(nullptr);
  const auto end = run_child(child);
  if (!end) {
    print(end.error());
    return {kMisuse, false, {}};
  }
  auto record = report::read_record(session.record);
  if (!record) {
    print(record.error());
    return {kCannotWrite, false, {}};
  }
  record->program = fs::path(options.inputs[0]).filename().string();
  record->command = options.inputs;
  record->command.insert(record->command.end(), options.arguments.begin(), options.arguments.end());
  record->end = *end;
  return {exit_code_of(*end), true, *std::move(record)};
}

int run_command(const std::vector<std::string>& arguments) {
  const auto options = parse_run_options(arguments);
  if (!options) {
    print(options.error());
    return kMisuse;
  }
  if (options->help) {
    std::fputs(run_help().c_str(), stdout);
    return 0;
  }
  if (options->dump_config) {
    std::fputs(options->effective_config.c_str(), stdout);
    return std::fflush(stdout) != 0 ? kCannotWrite : 0;
  }
  const SignalGuard guard;
  const std::string path = found_path(options->inputs[0]);
  if (is_ptx(path)) return run_bare(*options, path);
  if (!options->bare.words.empty()) {
    const auto program = identify_program(path);
    print(program ? Diagnostics{make_error(
                        fmt::format("{} is for PTX files, and {} is none", options->bare.words[0], path))}
                  : program.error());
    return kMisuse;
  }
  const RunOutcome outcome = run_program(*options);
  return outcome.ran ? deliver(*options, outcome) : outcome.exit_code;
}

}  // namespace warplens::cli
