// SPDX-License-Identifier: Apache-2.0
// A session: one virtual GPU for kernels that have no program around them. It loads PTX, allocates and copies memory,
// launches entries, and keeps the record that reports are made from. `warplens run k.ptx`, the C interface
// (include/warplens/warplens.h) and the Python module all work through this.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "exec/executor.h"
#include "gpu/gpu.h"
#include "machine/registers.h"
#include "memory/arena.h"
#include "report/run_record.h"

namespace warplens::session {

struct SessionOptions {
  std::string gpu;                ///< as gpu::find_gpu: "" for the default, a name ("h200"), the path of a GPU file
  std::string executor = "jit";   ///< or "interpreter"
  std::string level = "machine";  ///< or "ptx": what is counted (exec::Level)
  std::string counting = "fast";  ///< or "oracle": lane by lane, slowly (exec::LaunchRequest::by_oracle)
  unsigned workers = 0;           ///< threads that run blocks; 0: one a core
  std::map<std::string, uint32_t> registers;  ///< as report::SessionFile::registers
  bool cache = true;                          ///< keep compiled code on disk, unless the environment says otherwise
};

/// A module in device memory. Belongs to its session.
class Module {
 public:
  const ptx::Module& ptx() const { return *loaded_.module; }
  /// The kernels that have a body.
  std::vector<const ptx::Function*> entries() const;

 private:
  friend class Session;
  exec::LoadedModule loaded_;
  std::map<const ptx::Function*, std::unique_ptr<exec::LoadedKernel>> kernels_;
};

struct Launch {
  Module* module = nullptr;
  const ptx::Function* entry = nullptr;
  events::Dim3 grid, block, cluster;
  uint32_t dynamic_shared_bytes = 0;
  std::vector<uint8_t> parameters;  ///< ptx::Function::param_bytes bytes, laid out as the PTX says
  bool count = true;
  events::SampleChoice sample;  ///< count a share of the blocks only
  std::vector<events::Listener*> listeners;
  exec::LaunchProgress* progress = nullptr;          ///< as exec::LaunchRequest::progress
  const std::atomic<uint32_t>* interrupt = nullptr;  ///< as exec::LaunchRequest::interrupt
  std::function<void(std::string_view)> print;       ///< what the kernel prints; empty: standard output
};

/// What a block of a kernel takes of an SM, before it is launched.
struct KernelNeeds {
  machine::ResourceUse use;
  uint32_t static_shared_bytes = 0;
  uint32_t local_bytes = 0;  ///< per thread, of the PTX's own variables
};

class Session {
 public:
  /// Fails for an unknown GPU or executor, and when no address space is left.
  static Result<std::unique_ptr<Session>> create(const SessionOptions& options);

  const gpu::Gpu& gpu() const { return gpu_; }
  memory::Arena& arena() { return *arena_; }

  /// Parses `text` and places its variables. `name` is for messages; parse errors have places in `text`.
  Result<Module*> load(std::string text, const std::string& name);
  /// Zero-filled device memory, or a diagnostic that says how much is left. 0 bytes: the null pointer.
  Result<uint64_t> allocate(uint64_t bytes);
  /// Fails when no allocation begins at `address`.
  Status free(uint64_t address);
  /// Copies that must stay within one allocation.
  Status copy_in(uint64_t to, const void* from, uint64_t bytes);
  Status copy_out(void* to, uint64_t from, uint64_t bytes);

  /// Fails when the kernel's code cannot run here.
  Result<KernelNeeds> needs(Module& module, const ptx::Function& entry);
  /// Checks the launch against the GPU and the kernel's own bounds. Places are the kernel's.
  Status check(const Launch& launch);
  /// Checks, runs to the end and adds to the record, whose last launch it then is. Fails, and records nothing, when the
  /// launch cannot begin; a kernel that misbehaves is a launch with findings that is not complete.
  Result<const report::LaunchRecord*> launch(const Launch& launch);

  report::RunRecord& record() { return record_; }
  const report::RunRecord& record() const { return record_; }
  /// Drops the launches recorded so far, for hosts that take each by itself.
  void forget_launches() { record_.launches.clear(); }

 private:
  Session(gpu::Gpu gpu, std::unique_ptr<memory::Arena> arena, const SessionOptions& options);
  Result<const exec::LoadedKernel*> kernel(const Launch& launch);
  const machine::ResourceUse& resources_of(const exec::LoadedKernel& kernel);
  report::LaunchOccupancy occupancy_of(const exec::LoadedKernel& kernel, const Launch& launch);
  size_t record_kernel(const exec::LoadedKernel& kernel, const ptx::Module& module);
  void notice(report::Notice said);

  gpu::Gpu gpu_;
  std::unique_ptr<memory::Arena> arena_;
  std::shared_ptr<FileCache> code_cache_;  ///< null: off
  std::unique_ptr<exec::Executor> executor_;
  exec::Level level_ = exec::Level::kMachine;
  bool by_oracle_ = false;
  unsigned workers_ = 0;
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<const exec::LoadedKernel*, size_t> recorded_;
  std::map<const exec::LoadedKernel*, machine::ResourceUse> resources_;
  std::map<std::string, uint32_t> told_registers_;
  report::RunRecord record_;
  uint64_t launches_ = 0;
};

}  // namespace warplens::session
