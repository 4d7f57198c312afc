// SPDX-License-Identifier: Apache-2.0
// What a program's start-up code registers: its fat binaries, and the host addresses that stand for kernels and device
// variables. Nothing is read before it is needed: at the first use of a binary its PTX is chosen and parsed and its
// variables are placed in device memory; at the first launch of a kernel that kernel is made ready.
#pragma once
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compile/fatbin.h"
#include "exec/executor.h"
#include "machine/registers.h"

namespace warplens::cuda {

/// One fat binary of the program; its address is the handle that registration functions pass around.
struct Binary {
  const FatBinaryWrapper* wrapper = nullptr;
  std::shared_ptr<const ptx::Module> parsed;   ///< survives a reset of the device
  std::unique_ptr<exec::LoadedModule> module;  ///< placed in device memory
  std::string failure;                         ///< why it cannot be used; empty when it can, or is not known yet
  struct ManagedVariable {
    void** host_pointer;  ///< the program reads the variable's address here
    std::string name;
  };
  std::vector<ManagedVariable> managed;
  bool by_driver = false;  ///< loaded by the driver interface
};

/// A __global__ function of the program.
struct Function {
  const void* host = nullptr;
  Binary* binary = nullptr;
  std::string name;  ///< mangled
  const ptx::Function* ptx = nullptr;
  std::unique_ptr<exec::LoadedKernel> kernel;
  uint32_t dynamic_shared_allowed = 0;            ///< opt-in by attribute
  std::optional<machine::ResourceUse> resources;  ///< looked up once (kernel_occupancy.h)
  int carveout = -1;                              ///< preferred, percent; -1: none
  bool any_cluster_size = false;                  ///< opt-in by attribute to more than the portable size
};

/// A __device__, __constant__ or __managed__ variable of the program.
struct DeviceVariable {
  Binary* binary = nullptr;
  std::string name;
  uint64_t bytes = 0;
  uint64_t spare = 0;  ///< its address when the PTX lacks it
};

/// Where a variable is.
struct PlacedVariable {
  uint64_t address = 0, bytes = 0;
};

class Registry {
 public:
  /// The one of the process; never destroyed, since start-up and exit code of any order use it.
  static Registry& instance();

  Binary* add_binary(const FatBinaryWrapper* wrapper);
  void add_function(Binary* binary, const void* host, std::string name);
  void add_variable(Binary* binary, const void* host, std::string name, uint64_t bytes);
  void add_managed(Binary* binary, void** host_pointer, std::string name);

  /// Null: not a kernel's address.
  Function* function(const void* host);

  /// A module of the driver interface, parsed and placed at once. `name` is for diagnostics.
  Result<Binary*> load_ptx(std::string text, const std::string& name, memory::Arena& arena);
  /// The kernel of that module, made known by an address of its own (Function::host); null when there is none.
  Function* function_named(Binary& binary, const std::string& name);
  /// Of a variable of that module.
  std::optional<PlacedVariable> variable_named(const Binary& binary, const std::string& name);
  /// Null: not a module of load_ptx's, or unloaded.
  Binary* loaded(const void* handle);
  /// Its kernels and variables are gone. The device must be idle.
  void unload(Binary& binary, memory::Arena& arena);
  /// All functions below fail with one text that explains it to the user.
  /// Makes the kernel's module present, but does not ask whether the kernel can run.
  Result<const ptx::Function*> find_ptx(Function& function, memory::Arena& arena, uint32_t target);
  Result<const exec::LoadedKernel*> load(Function& function, memory::Arena& arena, uint32_t target, exec::Level level);
  /// Nothing: not a variable's address.
  Result<std::optional<PlacedVariable>> variable(const void* host, memory::Arena& arena, uint32_t target);
  Status place_managed(memory::Arena& arena, uint32_t target);
  bool has_unplaced_managed() const { return unplaced_managed_; }

  /// The device's memory is gone: everything is placed anew at its next use.
  void forget_placement();

 private:
  Status place(Binary& binary, memory::Arena& arena, uint32_t target);

  std::recursive_mutex mutex_;
  std::vector<std::unique_ptr<Binary>> binaries_;
  std::unordered_map<const void*, std::unique_ptr<Function>> functions_;
  std::unordered_map<const void*, DeviceVariable> variables_;
  std::atomic<bool> unplaced_managed_ = false;
  /// Of before a reset: records and generated code may still name them.
  std::vector<std::unique_ptr<exec::LoadedKernel>> retired_kernels_;
  std::vector<std::unique_ptr<exec::LoadedModule>> retired_modules_;
};

}  // namespace warplens::cuda
