// SPDX-License-Identifier: Apache-2.0
// From a command line to what it asks for: objects, PTX, a device link, an archive, a program. Sources are compiled by
// clang_driver.cpp, several at once; device code of relocatable objects is joined by device_link.cpp.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>
#include <semaphore>
#include <thread>

#include "compile/clang_driver.h"
#include "compile/device_link.h"
#include "compile/process.h"
#include "compile/source_job.h"

namespace warplens {
namespace {

using Arguments = std::vector<std::string>;
namespace fs = std::filesystem;

void append(Arguments& to, const Arguments& from) { to.insert(to.end(), from.begin(), from.end()); }

Status check_request(const CompileRequest& r) {
  Diagnostics faults;
  if (r.options.sources.empty()) faults.push_back(make_error("no source to compile"));
  for (const std::string& s : r.options.sources)
    if (access(s.c_str(), R_OK) != 0) faults.push_back(make_error("cannot read '" + s + "': " + std::strerror(errno)));
  if (find_on_path(r.toolchain.clang).empty())
    faults.push_back(make_error("the compiler '" + r.toolchain.clang + "' is not installed",
                                "on Debian: apt install clang-19, or use --compiler nvcc"));
  if (access((r.toolchain.cuda_headers + "/cuda_runtime.h").c_str(), R_OK) != 0)
    faults.push_back(make_error("our CUDA headers are not in '" + r.toolchain.cuda_headers + "'"));
  if (!faults.empty()) return faults;
  return Done{};
}

/// Where the output for one input goes when its name was not given.
std::string default_output(const CompileOptions& o, const std::string& input, const char* extension) {
  if (!o.output.empty()) return o.output;
  const std::string name = fs::path(input).stem().string() + extension;
  return o.output_directory.empty() ? name : (fs::path(o.output_directory) / name).string();
}

void add_to(CompileOutcome& outcome, const CommandDone& done) {
  outcome.ok = outcome.ok && done.ok;
  outcome.messages += done.messages;
}

/// -E, -M: one command an input, its output passed on.
Result<CompileOutcome> preprocess(const CompileRequest& r) {
  CompileOutcome outcome{true, "", {}, ""};
  for (const std::string& source : r.options.sources) {
    auto done = run_command(r, clang_preprocess_command(r, source));
    if (!done) return done.error();
    add_to(outcome, *done);
    outcome.output += done->output;
  }
  return outcome;
}

/// -ptx, -fatbin.
Result<CompileOutcome> write_device_code(const CompileRequest& r) {
  const bool container = r.options.stage == Stage::kContainer;
  CompileOutcome outcome{true, "", {}, ""};
  for (const std::string& source : r.options.sources) {
    auto device = device_ptx_with_clang(r, source);
    if (!device) return device.error();
    outcome.ok = outcome.ok && device->ok;
    outcome.messages += device->messages;
    if (!device->ok) continue;
    const std::string& text = device->device[0].text;
    const Status written = write_file(default_output(r.options, source, container ? ".fatbin" : ".ptx"),
                                      container ? make_container(text, source) : text);
    if (!written) return written.error();
    outcome.device.push_back(std::move(device->device[0]));
  }
  return outcome;
}

/// Objects and archives among the inputs, and archives that -l names.
Arguments link_inputs(const CompileOptions& o, const Arguments& objects) {
  Arguments files;
  for (const std::string& f : objects)
    if (f.ends_with(".o") || f.ends_with(".obj") || f.ends_with(".a")) files.push_back(f);
  for (const std::string& l : o.linker)
    if (l.starts_with("-l"))
      if (std::string path = find_archive(l.substr(2), o.linker); !path.empty()) files.push_back(path);
  return files;
}

/// All parts as one PTX. clang links LLVM text with bitcode only, so all but the first part are turned into that.
Result<CommandDone> link_parts(const CompileRequest& r, const RelocatableDevice& device, const std::string& scratch,
                               std::string& ptx) {
  const Arguments front{r.toolchain.clang,      "-cc1", "-triple", "nvptx64-nvidia-cuda",
                        "-disable-llvm-passes", "-x",   "ir"};
  CommandDone all{true, "", ""};
  Arguments link = front;
  append(link, {scratch + "0.ll", "-emit-llvm", "-o", scratch + "linked.ll"});
  for (size_t i = 0; i < device.parts.size(); i++) {
    const std::string text = fmt::format("{}{}.ll", scratch, i), bitcode = fmt::format("{}{}.bc", scratch, i);
    if (const Status written = write_file(text, device.parts[i].ir); !written) return written.error();
    if (i == 0) continue;
    Arguments convert = front;
    append(convert, {text, "-emit-llvm-bc", "-o", bitcode});
    auto done = run_command(r, convert);
    if (!done) return done;
    all.messages += done->messages;
    if (!done->ok) return CommandDone{false, all.messages, ""};
    append(link, {"-mlink-bitcode-file", bitcode});
  }
  auto linked = run_command(r, link);
  if (!linked) return linked;
  all.messages += linked->messages;
  if (!linked->ok) return CommandDone{false, all.messages, ""};
  auto ir = read_file(scratch + "linked.ll");
  if (!ir) return ir.error();
  auto back = ir_to_ptx(r, std::move(*ir), scratch + "final", ptx);
  if (back) back->messages = all.messages + back->messages;
  return back;
}

/// Makes `object` when there is relocatable device code among the inputs; made says whether there was.
Status link_device(const CompileRequest& r, const Arguments& files, const std::string& object, bool& made,
                   CompileOutcome& outcome) {
  auto device = read_relocatable(files);
  if (!device) return device.error();
  made = !device->linked && !device->module_ids.empty();
  if (!made) return Done{};
  auto directory = TemporaryDirectory::create();
  if (!directory) return directory.error();
  const std::string scratch = directory->path() + "/d";
  std::string ptx = ".version 8.5\n.target sm_90\n.address_size 64\n";
  if (!device->parts.empty()) {
    auto linked = link_parts(r, *device, scratch, ptx);
    if (!linked) return linked.error();
    add_to(outcome, *linked);
    if (!linked->ok) return Done{};
  }
  ptx = limit_registers(ptx, r.options.max_registers);
  const std::string container = scratch + ".wlptx", stub = scratch + "stub.c";
  if (const Status s = write_file(container, make_container(ptx, "linked device code")); !s) return s;
  if (const Status s = write_file(stub, link_stub(device->module_ids, container)); !s) return s;
  auto compiled = run_command(r, {r.toolchain.clang, "-x", "c", "-c", "-fPIC", "-O2", stub, "-o", object});
  if (!compiled) return compiled.error();
  add_to(outcome, *compiled);
  outcome.device.push_back({std::move(ptx), "linked device code", static_cast<uint32_t>(r.options.target), 0});
  return Done{};
}

/// -dlink writes an object even when nothing is to be linked: build files name it in the next step.
Result<CompileOutcome> device_link_only(const CompileRequest& r) {
  CompileOutcome outcome{true, "", {}, ""};
  const std::string output = r.options.output.empty() ? "a_dlink.o" : r.options.output;
  bool made = false;
  if (const Status s = link_device(r, link_inputs(r.options, r.options.sources), output, made, outcome); !s)
    return s.error();
  if (made) return outcome;
  auto directory = TemporaryDirectory::create();
  if (!directory) return directory.error();
  const std::string empty = directory->path() + "/empty.c";
  if (const Status s = write_file(empty, "\n"); !s) return s.error();
  auto done = run_command(r, {r.toolchain.clang, "-x", "c", "-c", "-fPIC", empty, "-o", output});
  if (!done) return done.error();
  add_to(outcome, *done);
  return outcome;
}

/// The inputs' objects and the linker options in the order of the command line (-Wl,--whole-archive and the like act
/// on what follows them); what that does not name comes first.
Arguments ordered_link_line(const CompileOptions& o, const Arguments& objects) {
  Arguments line, unnamed;
  for (size_t i = 0; i < objects.size(); i++) {
    const bool named =
        i < o.sources.size() && std::find(o.link_line.begin(), o.link_line.end(), o.sources[i]) != o.link_line.end();
    if (!named) unnamed.push_back(objects[i]);
  }
  size_t next = 0;
  for (const std::string& word : o.link_line) {
    while (next < o.sources.size() && next < objects.size() &&
           std::find(o.link_line.begin(), o.link_line.end(), o.sources[next]) == o.link_line.end())
      next++;
    const bool input = next < o.sources.size() && next < objects.size() && word == o.sources[next];
    line.push_back(input ? objects[next++] : word);
  }
  unnamed.insert(unnamed.end(), line.begin(), line.end());
  return unnamed;
}

Result<CommandDone> link(const CompileRequest& r, const Arguments& objects) {
  const std::string folder = fs::path(r.toolchain.runtime_library).parent_path().string();
  Arguments a{r.toolchain.clang, "-Wno-unused-command-line-argument"};
  append(a, r.options.host_only);
  if (r.options.verbose) a.push_back("-v");  // the linker's own command: CMake reads the folders in it
  if (r.options.debug) a.push_back("-g");
  if (r.options.shared) a.push_back("-shared");
  append(a, ordered_link_line(r.options, objects));
  append(a, {r.toolchain.runtime_library, "-Wl,-rpath," + (folder.empty() ? "." : folder), "-pthread", "-o",
             r.options.output.empty() ? "a.out" : r.options.output});
  return run_command(r, a);
}

Result<CommandDone> archive(const CompileRequest& r, const Arguments& objects) {
  Arguments a{"ar", "rcs", r.options.output.empty() ? "a.a" : r.options.output};
  append(a, objects);
  return run_command(r, a);
}

/// Compiles all sources of the request; `objects` becomes what there is to link, in the order of the inputs.
Result<CompileOutcome> compile_sources(const CompileRequest& request, const std::string& scratch, Arguments& objects) {
  std::vector<std::future<Result<SourceDone>>> running;
  std::counting_semaphore<> slots(std::max(1u, std::thread::hardware_concurrency() / 2));
  size_t cuda_index = 0;
  for (const std::string& source : request.options.sources) {
    if (!is_source_input(request.options, source)) {
      objects.push_back(source);
      continue;
    }
    SourceJob job{source, "", "", scratch + "/" + std::to_string(objects.size())};
    job.object =
        request.options.stage == Stage::kObject ? default_output(request.options, source, ".o") : job.scratch + ".o";
    if (is_cuda_input(request.options, source)) {
      if (cuda_index < request.device_ptx.size()) job.given_ptx = request.device_ptx[cuda_index];
      cuda_index++;
    }
    objects.push_back(job.object);
    running.push_back(std::async(std::launch::async, [&request, &slots, job] {
      slots.acquire();
      auto done = compile_source(request, job);
      slots.release();
      return done;
    }));
  }
  CompileOutcome outcome{true, "", {}, ""};
  Diagnostics faults;
  for (auto& r : running) {
    auto done = r.get();
    if (!done) {
      faults.insert(faults.end(), done.error().begin(), done.error().end());
      continue;
    }
    outcome.ok = outcome.ok && done->ok;
    outcome.messages += done->messages;
    for (PtxImage& image : done->device) outcome.device.push_back(std::move(image));
  }
  if (!faults.empty()) return faults;
  return outcome;
}

/// -fopenmp needs a library that comes with clang by itself. Without it a conforming program computes the same on one
/// thread; only programs that call omp_ functions need it.
bool lacks_openmp(const CompileRequest& r) {
  const Arguments& host = r.options.host_only;
  if (std::find(host.begin(), host.end(), "-fopenmp") == host.end()) return false;
  const auto found = run_process({r.toolchain.clang, "-print-file-name=libomp.so"});
  return found && found->output.find('/') == std::string::npos;
}

/// The commands of --dryrun, without the steps in between that need their results.
CompileOutcome list_commands(const CompileRequest& r) {
  CompileOutcome outcome{true, "", {}, ""};
  const auto say = [&outcome](const Arguments& command) { outcome.messages += quoted_command(command) + "\n"; };
  Arguments objects;
  for (const std::string& source : r.options.sources) {
    if (!is_source_input(r.options, source)) {
      objects.push_back(source);
      continue;
    }
    objects.push_back(default_output(r.options, source, ".o"));
    if (r.options.stage == Stage::kPreprocess || r.options.stage == Stage::kDependencies) {
      say(clang_preprocess_command(r, source));
    } else if (is_cuda_input(r.options, source)) {
      say(clang_device_command(r, source, source + ".ll"));
      if (!r.options.device_debug) say(clang_optimise_command(r, source + ".ll", source + "optimised.ll"));
      say(clang_ptx_command(r, source + (r.options.device_debug ? ".ll" : "optimised.ll"), source + ".ptx"));
      say(clang_host_command(r, source, source + ".wlptx", objects.back()));
    } else {
      say({r.toolchain.clang, "-c", source, "-o", objects.back()});
    }
  }
  if (r.options.stage == Stage::kLink)
    if (auto done = link(r, objects); done) outcome.messages += done->messages;
  return outcome;
}

}  // namespace

Result<CompileOutcome> compile_with_clang(const CompileRequest& given) {
  if (const Status ok = check_request(given); !ok) return ok.error();
  CompileRequest request = given;
  if (lacks_openmp(request)) std::erase(request.options.host_only, "-fopenmp");
  if (request.options.dry_run) return list_commands(request);
  switch (request.options.stage) {
    case Stage::kPreprocess:
    case Stage::kDependencies: return preprocess(request);
    case Stage::kPtx:
    case Stage::kContainer: return write_device_code(request);
    case Stage::kDeviceLink: return device_link_only(request);
    default: break;
  }
  auto directory = TemporaryDirectory::create();
  if (!directory) return directory.error();
  Arguments objects;
  auto outcome = compile_sources(request, directory->path(), objects);
  if (!outcome || !outcome->ok || request.options.stage == Stage::kObject) return outcome;
  if (request.options.stage == Stage::kLink) {
    bool made = false;
    const std::string object = directory->path() + "/device_link.o";
    if (const Status s = link_device(request, link_inputs(request.options, objects), object, made, *outcome); !s)
      return s.error();
    if (!outcome->ok) return outcome;
    if (made) objects.push_back(object);
  }
  auto done = request.options.stage == Stage::kArchive ? archive(request, objects) : link(request, objects);
  if (!done) return done.error();
  add_to(*outcome, *done);
  return outcome;
}

}  // namespace warplens
