// SPDX-License-Identifier: Apache-2.0
// From registered addresses to kernels that can run. Failures are explained here, once, in the words of the user's
// problem: which architecture's machine code was found and how to rebuild, which opcode is lacking on which PTX line.
#include "cuda/registry.h"

#include <fmt/format.h>

#include "ops/instruction_set.h"
#include "ptx/parser.h"

namespace warplens::cuda {
namespace {

std::string machine_code_only(const FatBinary& binary) {
  std::string found;
  for (const uint32_t target : binary.machine_code) found += fmt::format("{}sm_{}", found.empty() ? "" : ", ", target);
  return fmt::format("the program has GPU machine code only ({}), no PTX, which is what runs here",
                     found.empty() ? "none for any GPU" : found);
}

constexpr const char* kRebuild = "rebuild with nvcc -gencode arch=compute_90,code=compute_90 (or -arch=compute_90)";

}  // namespace

Registry& Registry::instance() {
  static Registry* const registry = new Registry;
  return *registry;
}

Binary* Registry::add_binary(const FatBinaryWrapper* wrapper) {
  const std::lock_guard lock(mutex_);
  binaries_.push_back(std::make_unique<Binary>());
  binaries_.back()->wrapper = wrapper;
  return binaries_.back().get();
}

void Registry::add_function(Binary* binary, const void* host, std::string name) {
  const std::lock_guard lock(mutex_);
  auto function = std::make_unique<Function>();
  function->host = host;
  function->binary = binary;
  function->name = std::move(name);
  functions_[host] = std::move(function);
}

void Registry::add_variable(Binary* binary, const void* host, std::string name, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  variables_[host] = {binary, std::move(name), bytes, 0};
}

void Registry::add_managed(Binary* binary, void** host_pointer, std::string name) {
  const std::lock_guard lock(mutex_);
  binary->managed.push_back({host_pointer, std::move(name)});
  unplaced_managed_ = true;
}

Function* Registry::function(const void* host) {
  const std::lock_guard lock(mutex_);
  const auto it = functions_.find(host);
  return it == functions_.end() ? nullptr : it->second.get();
}

Result<Binary*> Registry::load_ptx(std::string text, const std::string& name, memory::Arena& arena) {
  auto module = ptx::parse(text, name, ops::instruction_set());
  if (!module) return module.error();
  const std::lock_guard lock(mutex_);
  auto binary = std::make_unique<Binary>();
  binary->by_driver = true;
  binary->parsed = std::make_shared<const ptx::Module>(std::move(*module));
  auto loaded = exec::load_module(binary->parsed, arena);
  if (!loaded) return loaded.error();
  binary->module = std::make_unique<exec::LoadedModule>(std::move(*loaded));
  binaries_.push_back(std::move(binary));
  return binaries_.back().get();
}

Function* Registry::function_named(Binary& binary, const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (const auto& [host, function] : functions_)
    if (function->binary == &binary && function->name == name) return function.get();
  const ptx::Function* found = binary.parsed->find_function(name);
  if (!found || !found->is_entry) return nullptr;
  auto function = std::make_unique<Function>();
  Function* made = function.get();
  made->host = made;
  made->binary = &binary;
  made->name = name;
  functions_[made] = std::move(function);
  return made;
}

std::optional<PlacedVariable> Registry::variable_named(const Binary& binary, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto& variables = binary.parsed->variables;
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].name == name && variables[i].space != ptx::Space::kShared && binary.module)
      return PlacedVariable{binary.module->symbols[i], variables[i].bytes};
  return std::nullopt;
}

Binary* Registry::loaded(const void* handle) {
  const std::lock_guard lock(mutex_);
  for (const auto& binary : binaries_)
    if (binary.get() == handle && binary->by_driver && binary->module) return binary.get();
  return nullptr;
}

void Registry::unload(Binary& binary, memory::Arena& arena) {
  const std::lock_guard lock(mutex_);
  std::erase_if(functions_, [&](auto& entry) {
    Function& function = *entry.second;
    if (function.binary != &binary) return false;
    if (function.kernel) retired_kernels_.push_back(std::move(function.kernel));
    return true;
  });
  for (const uint64_t address : binary.module->symbols)
    if (address != 0) arena.free(address);
  retired_modules_.push_back(std::move(binary.module));
}

Status Registry::place(Binary& binary, memory::Arena& arena, uint32_t target) {
  if (binary.module) return Done{};
  if (!binary.parsed) {
    const auto image = read_wrapper(binary.wrapper);
    if (!image) return image.error();
    const PtxImage* chosen = choose_image(*image, target);
    if (!chosen) return make_error(machine_code_only(*image), kRebuild);
    auto module = ptx::parse(chosen->text, chosen->name.empty() ? "<ptx>" : chosen->name, ops::instruction_set());
    if (!module) return module.error();
    binary.parsed = std::make_shared<const ptx::Module>(std::move(*module));
  }
  auto loaded = exec::load_module(binary.parsed, arena);
  if (!loaded) return loaded.error();
  binary.module = std::make_unique<exec::LoadedModule>(std::move(*loaded));
  return Done{};
}

Result<const ptx::Function*> Registry::find_ptx(Function& function, memory::Arena& arena, uint32_t target) {
  const std::lock_guard lock(mutex_);
  if (function.ptx && function.binary->module) return function.ptx;
  if (auto placed = place(*function.binary, arena, target); !placed) return placed.error();
  const ptx::Function* found = function.binary->parsed->find_function(function.name);
  if (!found || !found->is_entry)
    return make_error(fmt::format("the program's PTX has no kernel {}", function.name), kRebuild);
  return function.ptx = found;
}

Result<const exec::LoadedKernel*> Registry::load(Function& function, memory::Arena& arena, uint32_t target,
                                                 exec::Level level) {
  const std::lock_guard lock(mutex_);
  if (function.kernel) return function.kernel.get();
  const auto found = find_ptx(function, arena, target);
  if (!found) return found.error();
  auto kernel = exec::load_kernel(*function.binary->module, **found, level);
  if (!kernel) return kernel.error();
  function.kernel = std::move(*kernel);
  return function.kernel.get();
}

Result<std::optional<PlacedVariable>> Registry::variable(const void* host, memory::Arena& arena, uint32_t target) {
  const std::lock_guard lock(mutex_);
  const auto it = variables_.find(host);
  if (it == variables_.end()) return std::optional<PlacedVariable>();
  DeviceVariable& variable = it->second;
  if (auto placed = place(*variable.binary, arena, target); !placed) return placed.error();
  const ptx::Module& module = *variable.binary->parsed;
  for (size_t i = 0; i < module.variables.size(); ++i)
    if (module.variables[i].name == variable.name)
      return std::optional(PlacedVariable{variable.binary->module->symbols[i], module.variables[i].bytes});
  // The compiler dropped a variable that no kernel uses: copies to it go to memory of its own.
  if (variable.spare == 0) variable.spare = arena.allocate(variable.bytes, variable.name).value_or(0);
  if (variable.spare == 0) return make_error(fmt::format("no memory is left for the variable {}", variable.name));
  return std::optional(PlacedVariable{variable.spare, variable.bytes});
}

Status Registry::place_managed(memory::Arena& arena, uint32_t target) {
  const std::lock_guard lock(mutex_);
  if (!unplaced_managed_) return Done{};
  for (const auto& binary : binaries_) {
    if (binary->managed.empty()) continue;
    if (auto placed = place(*binary, arena, target); !placed) return placed.error();
    const auto& variables = binary->parsed->variables;
    for (const auto& managed : binary->managed)
      for (size_t i = 0; i < variables.size(); ++i)
        if (variables[i].name == managed.name)
          *managed.host_pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(binary->module->symbols[i]));
  }
  unplaced_managed_ = false;
  return Done{};
}

void Registry::forget_placement() {
  const std::lock_guard lock(mutex_);
  for (auto& [host, function] : functions_)
    if (function->kernel) retired_kernels_.push_back(std::move(function->kernel));
  for (auto& [host, variable] : variables_) variable.spare = 0;
  for (auto& binary : binaries_) {
    if (binary->module) retired_modules_.push_back(std::move(binary->module));
    if (!binary->managed.empty()) unplaced_managed_ = true;
  }
}

}  // namespace warplens::cuda
