// SPDX-License-Identifier: Apache-2.0
// See clang_driver.h. The two halves of a source meet in a pipe with a name: the host half parses while the device
// half is being made, and reads the container only when it writes its own registration code, which comes last.
#include "compile/clang_driver.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <semaphore>
#include <string_view>
#include <thread>

#include "base/text_hash.h"
#include "compile/device_link.h"
#include "compile/inlined_places.h"
#include "compile/loop_branches.h"
#include "compile/process.h"
#include "compile/source_job.h"
#include "compile/wide_copies.h"

namespace warplens {
namespace {

using Arguments = std::vector<std::string>;

constexpr const char* kPtxVersion = "+ptx85";  // the newest that clang 19 can be asked for

void append(Arguments& to, const Arguments& from) { to.insert(to.end(), from.begin(), from.end()); }

bool is_c(const std::string& path) { return path.size() > 2 && path.compare(path.size() - 2, 2, ".c") == 0; }

// Build files often name the toolkit's include folder. Its other headers may be wanted, but where a header is ours,
// ours must be found: such folders move behind the system's.
Arguments preprocessor_arguments(const CompileRequest& r) {
  Arguments a = r.options.preprocessor;
  for (size_t i = 0; i + 1 < a.size(); i += 2) {
    const bool toolkit =
        (a[i] == "-I" || a[i] == "-isystem") && access((a[i + 1] + "/cuda_runtime.h").c_str(), R_OK) == 0;
    if (toolkit) a[i] = "-idirafter";
  }
  return a;
}

// Both halves must agree on the names of static variables: they are made unique by this number.
Arguments relocatable_arguments(const CompileRequest& r, const std::string& source) {
  std::error_code error;
  const std::string place = std::filesystem::absolute(source, error).string() + "\n" + r.options.output;
  // The driver hands -cuid to the device half only, and there it overrides what -Xclang says.
  const std::string cuid = fmt::format("-cuid={:016x}", text_hash(place));
  return {"-fgpu-rdc", cuid, "-Xclang", cuid};
}

// What both halves of a CUDA source share. The runtime's version decides how clang lowers a launch: 12.3 means
// cudaLaunchKernel and __cudaRegisterFatBinaryEnd.
Arguments cuda_front(const CompileRequest& r, const std::string& source) {
  Arguments a{r.toolchain.clang,
              "-x",
              "cuda",
              "--cuda-gpu-arch=sm_" + std::to_string(r.options.target),
              "-nocudainc",
              "-nocudalib",
              "-Wno-unknown-cuda-version",
              "-Wno-unknown-warning-option",
              "-Xclang",
              "-target-sdk-version=12.3",
              "-isystem",
              r.toolchain.cuda_headers,
              "-include",
              r.toolchain.cuda_headers + "/cuda_runtime.h"};
  if (!r.options.language_standard.empty()) a.push_back("-std=" + r.options.language_standard);
  append(a, preprocessor_arguments(r));
  append(a, r.options.both);
  if (r.options.relocatable) append(a, relocatable_arguments(r, source));
  return a;
}

// nvcc's -use_fast_math: denormals to zero, approximate division and square root, fast forms of sinf and the like.
void append_fast_math_front(Arguments& a, const CompileOptions& o) {
  if (o.fast_math) append(a, {"-fgpu-approx-transcendentals", "-D__USE_FAST_MATH__=1"});
  if (o.flush_denormals) append(a, {"-fgpu-flush-denormals-to-zero", "-D__CUDA_FTZ=1"});
}
void append_fast_math_back(Arguments& a, const CompileOptions& o) {
  if (o.approximate_division) append(a, {"-mllvm", "-nvptx-prec-divf32=0"});
  if (o.approximate_root) append(a, {"-mllvm", "-nvptx-prec-sqrtf32=0"});
}

// nvcc hands the host half to a compiler that does not optimise unless it is told to, so programs get away with signed
// sums that overflow; here the half is optimised, and they must wrap.
constexpr const char* kHostArithmetic = "-fwrapv";

using Half = CommandDone;

/// The device half of a source as LLVM text, optimised except for --device-debug.
Result<CommandDone> compile_to_ir(const CompileRequest& r, const SourceJob& job, std::string& text) {
  const std::string ir_path = job.scratch + ".ll", optimised = job.scratch + "optimised.ll";
  auto done = run_command(r, clang_device_command(r, job.source, ir_path));
  if (!done || !done->ok) return done;
  auto ir = read_file(ir_path);
  if (!ir) return ir.error();
  text = std::move(*ir);
  if (r.options.device_debug) return done;

  if (const Status written = write_file(ir_path, widen_object_copies(text)); !written) return written.error();
  auto optimise = run_command(r, clang_optimise_command(r, ir_path, optimised));
  if (!optimise) return optimise;
  done->messages += optimise->messages;
  done->ok = optimise->ok;
  if (!done->ok) return done;
  ir = read_file(optimised);
  if (!ir) return ir.error();
  text = std::move(*ir);
  return done;
}

/// The device half of a source as PTX text, put into done.device.
Result<SourceDone> compile_device(const CompileRequest& r, const SourceJob& job) {
  std::string ir;
  auto front = compile_to_ir(r, job, ir);
  if (!front) return front.error();
  SourceDone done{front->ok, front->messages, {}, ""};
  if (!done.ok) return done;
  if (r.options.relocatable) {
    done.relocatable = join_static_names(ir);
    return done;
  }
  std::string ptx;
  auto back = ir_to_ptx(r, std::move(ir), job.scratch, ptx);
  if (!back) return back.error();
  done.ok = back->ok;
  done.messages += back->messages;
  if (done.ok) done.device.push_back({std::move(ptx), job.source, static_cast<uint32_t>(r.options.target), 0});
  return done;
}

Result<SourceDone> make_device(const CompileRequest& r, const SourceJob& job) {
  SourceDone done;
  if (job.given_ptx.empty()) {
    auto compiled = compile_device(r, job);
    if (!compiled || !compiled->ok) return compiled;
    done = std::move(*compiled);
  } else {
    auto text = read_file(job.given_ptx);
    if (!text) return text.error();
    done.device.push_back({*text, job.source, static_cast<uint32_t>(r.options.target), 0});
    done.ok = true;
  }
  for (PtxImage& image : done.device) image.text = limit_registers(image.text, r.options.max_registers);
  return done;
}

/// What the host half carries.
std::string container_of(const SourceDone& device, const std::string& source) {
  if (!device.relocatable.empty()) return make_relocatable_container(device.relocatable, source);
  return make_container(device.device[0].text, source);
}

// Feeds the container to the host half once that opens the pipe for reading; gives up when `abandoned`.
void feed_pipe(const std::string& pipe, const std::string& container, const std::atomic<bool>& abandoned) {
  int fd = -1;
  while (!abandoned && (fd = open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (fd < 0) return;
  fcntl(fd, F_SETFL, 0);  // from here on writing may wait
  // A compiler that dies while it reads must not take us with it.
  sigset_t broken_pipe, before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  for (size_t done = 0; done < container.size();) {
    const ssize_t n = write(fd, container.data() + done, container.size() - done);
    if (n > 0)
      done += static_cast<size_t>(n);
    else if (n < 0 && errno != EINTR)
      break;
  }
  close(fd);
  const timespec no_wait{};
  sigtimedwait(&broken_pipe, nullptr, &no_wait);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Result<SourceDone> compile_cuda(const CompileRequest& r, const SourceJob& job) {
  const std::string pipe = job.scratch + ".wlptx";
  if (mkfifo(pipe.c_str(), 0600) != 0) return make_error("cannot make '" + pipe + "': " + std::strerror(errno));
  std::atomic<bool> host_done = false;
  auto host = std::async(std::launch::async, [&] {
    auto half = run_command(r, clang_host_command(r, job.source, pipe, job.object));
    host_done = true;
    return half;
  });
  auto device = make_device(r, job);
  // A failed device half still lets the host half finish: its own errors are worth reporting too.
  const bool device_ok = device && device->ok;
  feed_pipe(pipe, device_ok ? container_of(*device, job.source) : std::string("-"), host_done);
  auto half = host.get();
  if (!device) return device.error();
  if (!half) return half.error();
  SourceDone done = std::move(*device);
  // Both halves see the same text, so nearly every fault is found by both: say it once.
  if (r.options.verbose)
    done.messages += half->messages;
  else if (done.messages.empty() || (done.ok && !half->ok))
    done.messages = half->messages;
  done.ok = done.ok && half->ok;
  return done;
}

Result<SourceDone> compile_host_source(const CompileRequest& r, const SourceJob& job) {
  Arguments a{r.toolchain.clang};
  if (is_c(job.source)) append(a, {"-x", "c"});
  append(a, {"-c", "-fPIC", r.options.optimization, kHostArithmetic, "-isystem", r.toolchain.cuda_headers});
  if (r.options.debug) a.push_back("-g");
  if (!r.options.language_standard.empty() && !is_c(job.source)) a.push_back("-std=" + r.options.language_standard);
  append(a, preprocessor_arguments(r));
  append(a, r.options.both);
  append(a, r.options.host_only);
  append(a, r.options.dependencies);
  append(a, {job.source, "-o", job.object});
  auto half = run_command(r, a);
  if (!half) return half.error();
  return SourceDone{half->ok, half->messages, {}, ""};
}

}  // namespace

std::vector<std::string> clang_device_command(const CompileRequest& r, const std::string& source,
                                              const std::string& output) {
  Arguments a = cuda_front(r, source);
  append(a, {"--cuda-device-only", "-S", "-emit-llvm", "-gline-directives-only", "-Xclang", "-target-feature",
             "-Xclang", kPtxVersion});
  if (r.options.device_debug)
    a.push_back("-O0");
  else
    append(a, {"-O3", "-Xclang", "-disable-llvm-passes"});  // clang_optimise_command runs them
  append_fast_math_front(a, r.options);
  append(a, {source, "-o", output});
  return a;
}

std::vector<std::string> clang_optimise_command(const CompileRequest& r, const std::string& ir,
                                                const std::string& output) {
  Arguments a{r.toolchain.clang, "-cc1", "-triple", "nvptx64-nvidia-cuda", "-target-cpu",
              "sm_" + std::to_string(r.options.target), "-target-feature", kPtxVersion, "-O3", "-vectorize-loops",
              "-vectorize-slp",
              // It takes vector loads apart of which some elements are unused: wide_copies.h.
              "-mllvm", "-disable-vector-combine"};
  append(a, {"-emit-llvm", "-x", "ir", ir, "-o", output});
  return a;
}

std::vector<std::string> clang_ptx_command(const CompileRequest& r, const std::string& ir, const std::string& output) {
  // Contraction was decided when the source was read; for text that is read again it must be said once more.
  const bool contract =
      std::find(r.options.both.begin(), r.options.both.end(), "-ffp-contract=off") == r.options.both.end();
  Arguments a{r.toolchain.clang,
              "-cc1",
              "-triple",
              "nvptx64-nvidia-cuda",
              "-target-cpu",
              "sm_" + std::to_string(r.options.target),
              "-target-feature",
              kPtxVersion,
              "-S",
              r.options.device_debug ? "-O0" : "-O3",
              "-disable-llvm-passes",
              "-fno-dwarf-directory-asm",
              "-mllvm",
              contract ? "-nvptx-fma-level=2" : "-nvptx-fma-level=0"};
  append_fast_math_back(a, r.options);
  append(a, {"-x", "ir", ir, "-o", output});
  return a;
}

std::vector<std::string> clang_host_command(const CompileRequest& r, const std::string& source,
                                            const std::string& embedded, const std::string& output) {
  Arguments a = cuda_front(r, source);
  append(a, {"--cuda-host-only", "-c", "-fPIC", r.options.optimization, kHostArithmetic, "-Xclang",
             "-fcuda-include-gpubinary", "-Xclang", embedded});
  if (r.options.debug) a.push_back("-g");
  append(a, r.options.host_only);
  append(a, r.options.dependencies);
  append(a, {source, "-o", output});
  return a;
}

std::vector<std::string> clang_preprocess_command(const CompileRequest& r, const std::string& source) {
  Arguments a;
  if (is_cuda_input(r.options, source)) {
    a = cuda_front(r, source);
    a.push_back("--cuda-host-only");
  } else {
    a = {r.toolchain.clang};
    if (is_c(source)) append(a, {"-x", "c"});
    append(a, {"-isystem", r.toolchain.cuda_headers});
    append(a, preprocessor_arguments(r));
    append(a, r.options.both);
  }
  append(a, r.options.host_only);
  append(a, r.options.dependencies);
  append(a, {r.options.stage == Stage::kPreprocess ? "-E" : "-M", source});
  if (!r.options.output.empty()) append(a, {"-o", r.options.output});
  return a;
}

std::string limit_registers(const std::string& ptx, int max_registers) {
  if (max_registers <= 0) return ptx;
  std::string out;
  for (size_t at = 0; at < ptx.size();) {
    const size_t entry = ptx.find(".entry", at);
    const size_t brace = entry == std::string::npos ? entry : ptx.find('{', entry);
    if (brace == std::string::npos) return out + ptx.substr(at);
    const std::string_view header = std::string_view(ptx).substr(entry, brace - entry);
    out.append(ptx, at, brace - at);
    if (header.find(".maxnreg") == std::string_view::npos && header.find(".minnctapersm") == std::string_view::npos)
      out += fmt::format(".maxnreg {}\n", max_registers);
    out += '{';
    at = brace + 1;
  }
  return out;
}

Result<CommandDone> run_command(const CompileRequest& r, const std::vector<std::string>& command) {
  CommandDone done{true, "", ""};
  if (!r.options.dry_run) {
    auto run = run_process(command);
    if (!run) return run.error();
    done = {run->ok(), run->errors, run->output};
  }
  if (r.options.verbose) done.messages = quoted_command(command) + "\n" + done.messages;
  return done;
}

namespace {

/// What the compiler calls itself in LLVM text: "Debian clang version 19.1.7 (3)".
std::string compiler_name(std::string_view ir) {
  const size_t at = ir.find("clang version ");
  if (at == std::string_view::npos) return {};
  const size_t begin = ir.rfind('"', at), end = ir.find('"', at);
  if (begin == std::string_view::npos || end == std::string_view::npos) return {};
  return std::string(ir.substr(begin + 1, end - begin - 1));
}

}  // namespace

Result<CommandDone> ir_to_ptx(const CompileRequest& r, std::string ir, const std::string& scratch, std::string& ptx) {
  const std::string ir_path = scratch + ".ll", ptx_path = scratch + ".ptx";
  const std::vector<ClusterDims> clusters = take_cluster_dims(ir);
  const std::string compiler = compiler_name(ir);
  const MarkedIr marked = mark_inlined_places(widen_copies(ir));
  if (const Status written = write_file(ir_path, marked.text); !written) return written.error();
  auto back = run_command(r, clang_ptx_command(r, ir_path, ptx_path));
  if (!back || !back->ok) return back;
  auto text = read_file(ptx_path);
  if (!text) return text.error();
  ptx = turn_loop_branches(add_cluster_dims(restore_inlined_places(*text, marked.places), clusters));
  // At the end, where it moves no line: reports say which compiler made a kernel.
  if (!compiler.empty()) ptx += "// compiled by " + compiler + "\n";
  return back;
}

Result<SourceDone> compile_source(const CompileRequest& request, const SourceJob& job) {
  return is_cuda_input(request.options, job.source) ? compile_cuda(request, job) : compile_host_source(request, job);
}

Result<CompileOutcome> device_ptx_with_clang(const CompileRequest& request, const std::string& source) {
  auto directory = TemporaryDirectory::create();
  if (!directory) return directory.error();
  auto device = make_device(request, {source, "", "", directory->path() + "/device"});
  if (!device) return device.error();
  return CompileOutcome{device->ok, device->messages, std::move(device->device), ""};
}

}  // namespace warplens
