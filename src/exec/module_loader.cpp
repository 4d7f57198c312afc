// SPDX-License-Identifier: Apache-2.0
// Places a module's variables in device memory and fills them: initialisers, and addresses of other variables in them.
#include <cstring>

#include "base/check.h"
#include "exec/executor.h"
#include "exec/function_handle.h"

namespace warplens::exec {
namespace {

bool lives_in_arena(const ptx::Variable& v) { return v.space == ptx::Space::kGlobal || v.space == ptx::Space::kConst; }

uint8_t* host(uint64_t address) { return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address)); }

/// The value of an address in an initialiser: of a variable or of a function.
std::optional<uint64_t> address_named(const LoadedModule& loaded, const std::string& name) {
  const ptx::Module& module = *loaded.module;
  for (size_t i = 0; i < module.variables.size(); ++i)
    if (module.variables[i].name == name && lives_in_arena(module.variables[i])) return loaded.symbols[i];
  for (size_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].name == name) return function_handle(static_cast<uint32_t>(i));
  return std::nullopt;
}

Status fill(const LoadedModule& loaded, const ptx::Variable& v, uint64_t base) {
  WL_CHECK(v.init.size() <= v.bytes);
  if (!v.init.empty()) std::memcpy(host(base), v.init.data(), v.init.size());
  for (const ptx::InitAddress& a : v.init_addresses) {
    const auto value = address_named(loaded, a.symbol);
    if (!value)
      return make_error_at(
          loaded.module->file_name, v.pos,
          fmt::format("the initialiser of '{}' needs the address of '{}', which is not in this module's "
                      "global or constant memory",
                      v.name, a.symbol));
    const uint64_t bits = (*value + static_cast<uint64_t>(a.addend)) >> a.shift;
    if (a.offset + a.bytes <= v.bytes) std::memcpy(host(base + a.offset), &bits, a.bytes);
  }
  return Done{};
}

}  // namespace

Result<LoadedModule> load_module(std::shared_ptr<const ptx::Module> module, memory::Arena& arena) {
  LoadedModule loaded;
  loaded.module = std::move(module);
  loaded.symbols.assign(loaded.module->variables.size(), 0);
  const auto& variables = loaded.module->variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    const ptx::Variable& v = variables[i];
    if (!lives_in_arena(v) || v.bytes == 0 || v.linkage == ptx::Linkage::kExtern) continue;
    const auto base = arena.allocate(v.bytes, v.name, v.align);
    if (!base)
      return make_error_at(loaded.module->file_name, v.pos,
                           fmt::format("no device memory left for variable '{}' ({} bytes)", v.name, v.bytes));
    loaded.symbols[i] = *base;
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    if (loaded.symbols[i] == 0) continue;
    Status filled = fill(loaded, variables[i], loaded.symbols[i]);
    if (!filled) return filled.error();
  }
  return loaded;
}

}  // namespace warplens::exec
