// SPDX-License-Identifier: Apache-2.0
// Makes a PTX entry ready to run: says everything that we lack for it at once, lays out its variables, builds the
// graph, the access sites and the interpreter's program.
#include <algorithm>
#include <set>

#include "analysis/dominance.h"
#include "analysis/liveness.h"
#include "analysis/spin_loops.h"
#include "base/bits.h"
#include "base/check.h"
#include "codegen/lane_analysis.h"
#include "exec/code_source.h"
#include "exec/device_calls.h"
#include "exec/executor.h"
#include "exec/function_handle.h"
#include "exec/program.h"
#include "ir/barrier_blocks.h"
#include "machine/joined_accesses.h"
#include "machine/register_alignment.h"
#include "memory/address_space.h"
#include "ops/instruction_set.h"
#include "passes/inline_calls.h"
#include "passes/unroll_loops.h"

namespace warplens::exec {
namespace {

/// Lays variables one behind the other.
class Layout {
 public:
  explicit Layout(uint64_t begin) : end_(begin) {}
  uint64_t place(uint64_t bytes, uint64_t align) {
    const uint64_t at = round_up(end_, std::max<uint64_t>(align, 1));
    end_ = at + bytes;
    return at;
  }
  uint64_t end() const { return end_; }

 private:
  uint64_t end_;
};

template <typename F>
void for_each_symbol(const ptx::Function& function, F&& f) {
  for (const ptx::Instr& in : function.body)
    for (const auto* list : {&in.operands, &in.elements, &in.args})
      for (const ptx::Operand& o : *list)
        if (o.symbol.kind != ptx::SymbolKind::kNone) f(in, o.symbol);
}

/// What this kernel needs and we lack, beyond what the parser found.
Diagnostics missing_for(const ptx::Module& module, const ptx::Function& function) {
  Diagnostics missing = function.unsupported;
  const auto complain = [&](SourcePos pos, std::string message, std::string hint = {}) {
    missing.push_back(make_error_at(module.file_name, pos, std::move(message), std::move(hint)));
  };
  for (const ptx::Register& r : function.registers)
    if (ptx::bits_of(r.type) > 64) complain(function.pos, fmt::format("128-bit register {} is not supported", r.name));
  for (const ptx::Instr& in : function.body) {
    for (const ptx::Operand& o : in.operands)
      if (o.tag == ptx::OperandTag::kSymbol && o.symbol.kind == ptx::SymbolKind::kLocalVariable &&
          function.variables[o.symbol.index].space == ptx::Space::kParam)
        complain(in.pos, "the address of an argument of a call is not supported");
    if (in.def->role == ptx::Role::kCall) {
      const std::string why = why_call_cannot_run(module, in);
      if (!why.empty()) complain(in.pos, why);
    }
  }
  std::set<uint32_t> named;
  for_each_symbol(function, [&](const ptx::Instr& in, const ptx::SymbolRef& symbol) {
    if (symbol.kind != ptx::SymbolKind::kModuleVariable || !named.insert(symbol.index).second) return;
    const ptx::Variable& v = module.variables[symbol.index];
    if (v.linkage == ptx::Linkage::kExtern && v.space != ptx::Space::kShared)
      complain(in.pos, fmt::format("variable '{}' is defined in another module", v.name),
               "link the device code into one module (whole-program compilation)");
  });
  return missing;
}

bool uses_module_variable(const ptx::Function& function, uint32_t index) {
  bool used = false;
  for_each_symbol(function, [&](const ptx::Instr&, const ptx::SymbolRef& symbol) {
    used = used || (symbol.kind == ptx::SymbolKind::kModuleVariable && symbol.index == index);
  });
  return used;
}

/// Shared memory: module-scope variables that the kernel names, its own, then the unsized arrays.
void lay_out_shared(LoadedKernel& kernel, Layout& shared) {
  const ptx::Module& module = *kernel.module->module;
  const ptx::Function& function = *kernel.function;
  uint64_t dynamic_align = 16;  // what the runtime aligns dynamic shared memory to at least
  std::vector<uint32_t> unsized_module, unsized_local;
  for (uint32_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& v = module.variables[i];
    if (v.space != ptx::Space::kShared || !uses_module_variable(function, i)) continue;
    if (v.unsized || v.bytes == 0) {
      dynamic_align = std::max(dynamic_align, v.align);
      unsized_module.push_back(i);
    } else {
      kernel.symbols[i] = shared.place(v.bytes, v.align);
    }
  }
  for (uint32_t i = 0; i < function.variables.size(); ++i) {
    const ptx::Variable& v = function.variables[i];
    if (v.space != ptx::Space::kShared) continue;
    if (v.unsized || v.bytes == 0) {
      dynamic_align = std::max(dynamic_align, v.align);
      unsized_local.push_back(i);
    } else {
      kernel.variable_offsets[i] = static_cast<uint32_t>(shared.place(v.bytes, v.align));
    }
  }
  kernel.static_shared_bytes = static_cast<uint32_t>(shared.end() - memory::kSharedReservedBytes);
  kernel.dynamic_shared_offset = static_cast<uint32_t>(round_up(shared.end(), dynamic_align));
  for (const uint32_t i : unsized_module) kernel.symbols[i] = kernel.dynamic_shared_offset;
  for (const uint32_t i : unsized_local) kernel.variable_offsets[i] = kernel.dynamic_shared_offset;
}

/// False: more than the 32-bit windows can hold.
bool lay_out_variables(LoadedKernel& kernel) {
  Layout shared(memory::kSharedReservedBytes), local(0), call_frame(0);
  const ptx::Function& function = *kernel.function;
  kernel.symbols = kernel.module->symbols;
  kernel.variable_offsets.assign(function.variables.size(), 0);
  lay_out_shared(kernel, shared);
  for (uint32_t i = 0; i < function.variables.size(); ++i) {
    const ptx::Variable& v = function.variables[i];
    if (v.space == ptx::Space::kLocal)
      kernel.variable_offsets[i] = static_cast<uint32_t>(local.place(v.bytes, std::max<uint64_t>(v.align, 4)));
    if (v.space == ptx::Space::kParam)
      kernel.variable_offsets[i] = static_cast<uint32_t>(call_frame.place(v.bytes, std::max<uint64_t>(v.align, 8)));
  }
  constexpr uint64_t kLargest = uint64_t{1} << 31;
  if (shared.end() >= kLargest || local.end() >= kLargest || call_frame.end() >= kLargest) return false;
  kernel.local_bytes = static_cast<uint32_t>(round_up(local.end(), 16));
  kernel.call_frame_bytes = static_cast<uint32_t>(round_up(call_frame.end(), 8));
  return true;
}

/// The graph and its loops. Where loops spin, barriers begin blocks; elsewhere that would only cost.
void find_blocks(LoadedKernel& kernel) {
  const auto analyse = [&] {
    kernel.loops = analysis::find_loops(kernel.graph);
    kernel.spinning_loops = analysis::find_spinning_loops(kernel.graph, kernel.loops);
  };
  kernel.graph = ir::build(*kernel.function);
  analyse();
  if (std::find(kernel.spinning_loops.begin(), kernel.spinning_loops.end(), true) == kernel.spinning_loops.end())
    return;
  kernel.graph = ir::build_with_barrier_blocks(*kernel.function);
  analyse();
}

/// The graph and what follows from it. False: more variables than the 32-bit windows can hold.
bool prepare(LoadedKernel& kernel) {
  const ptx::Function& function = *kernel.function;
  find_blocks(kernel);
  kernel.accesses = machine::accesses_of(function);
  kernel.info = machine::describe(*kernel.module->module, function, kernel.graph, kernel.accesses);
  return lay_out_variables(kernel);
}

codegen::LaneAnalysis lanes_of(const LoadedKernel& kernel, const analysis::Liveness& live) {
  return codegen::analyse_lanes(source_of(kernel), analysis::dominators(kernel.graph),
                                analysis::post_dominators(kernel.graph), live);
}

bool is_atomic(const ptx::Instr& in) {
  return in.def->role == ptx::Role::kAtomic || in.def->role == ptx::Role::kReduction;
}

bool is_constant_load(const ptx::Instr& in) {
  return in.def->role == ptx::Role::kLoad && in.space() == ptx::Space::kConst;
}

bool is_shared_access(const ptx::Instr& in) {
  return (in.def->role == ptx::Role::kLoad || in.def->role == ptx::Role::kStore) && in.space() == ptx::Space::kShared;
}

/// Whether all lanes have the operand's value (an address's base), and the GPU's assembler can see it.
bool is_uniform(const ptx::Operand& o, uint32_t instr, const codegen::LaneAnalysis& lanes,
                const std::vector<bool>& by_thread) {
  if (o.tag == ptx::OperandTag::kImm) return true;
  if (o.tag != ptx::OperandTag::kReg && o.tag != ptx::OperandTag::kAddress) return false;
  if (o.reg == ptx::kNoReg) return true;
  const codegen::WebId web = lanes.webs.read(instr, o.reg);
  return !by_thread[o.reg] && web != codegen::kNoWeb && lanes.info[web].cls.is_uniform();
}

/// What decides how the GPU's assembler carries atomics out, and which loads of constants it makes operands.
std::vector<machine::AccessFacts> access_facts(const LoadedKernel& kernel, const analysis::Liveness& live,
                                               const codegen::LaneAnalysis& lanes) {
  const auto& body = kernel.function->body;
  std::vector<machine::AccessFacts> facts(body.size());
  const std::vector<bool> by_thread = machine::registers_by_thread(*kernel.function);
  for (ir::BlockId b = 0; b < kernel.graph.blocks.size(); ++b)
    analysis::for_each_instruction_backward(
        kernel.graph, live, b, [&](uint32_t i, const analysis::RegisterSet& behind) {
          if (!is_atomic(body[i]) && !is_constant_load(body[i])) return;
          facts[i].result_unused = true;
          ir::for_each_write(body[i], [&](ptx::RegId r) { facts[i].result_unused &= !behind.contains(r); });
          for (size_t k = 0; k < body[i].operands.size(); ++k) {
            const ptx::Operand& o = body[i].operands[k];
            if (o.tag == ptx::OperandTag::kAddress) facts[i].one_place = is_uniform(o, i, lanes, by_thread);
            if (body[i].def->form.operands[k].name == "b") facts[i].one_value = is_uniform(o, i, lanes, by_thread);
          }
        });
  return facts;
}

/// Of each load from shared memory and store to it, as the GPU's assembler sees it: of arrays whose size the launch
/// decides it knows the declared alignment only.
std::vector<machine::AddressBase> address_bases(const LoadedKernel& kernel) {
  const ptx::Function& function = *kernel.function;
  const auto place_of = [&](const ptx::SymbolRef& symbol) -> uint64_t {
    const bool local = symbol.kind == ptx::SymbolKind::kLocalVariable;
    if (!local && symbol.kind != ptx::SymbolKind::kModuleVariable) return 1;
    const ptx::Variable& v = local ? function.variables[symbol.index] : kernel.module->module->variables[symbol.index];
    if (v.unsized || v.bytes == 0 || v.space != ptx::Space::kShared) return v.align;
    return local ? kernel.variable_offsets[symbol.index] : kernel.symbols[symbol.index];
  };
  const std::vector<uint8_t> of_register = machine::register_alignments(function, place_of);
  const auto base_of = [&](const ptx::Operand& address) -> machine::AddressBase {
    if (address.reg != ptx::kNoReg) return {address.reg, 0, of_register[address.reg]};
    const ptx::SymbolRef& symbol = address.symbol;
    const bool local = symbol.kind == ptx::SymbolKind::kLocalVariable;
    if (!local && symbol.kind != ptx::SymbolKind::kModuleVariable) return {};
    const auto named = static_cast<uint32_t>(function.registers.size());
    const ptx::Variable& v = local ? function.variables[symbol.index] : kernel.module->module->variables[symbol.index];
    if (v.unsized || v.bytes == 0 || v.space != ptx::Space::kShared)
      return {named + 1 + 2 * symbol.index + (local ? 1 : 0), 0, static_cast<uint8_t>(std::countr_zero(v.align | 64u))};
    return {named, static_cast<int64_t>(place_of(symbol)), 16};
  };
  std::vector<machine::AddressBase> bases(function.body.size());
  for (uint32_t i = 0; i < function.body.size(); ++i) {
    if (!is_shared_access(function.body[i])) continue;
    for (const ptx::Operand& o : function.body[i].operands)
      if (o.tag == ptx::OperandTag::kAddress) bases[i] = base_of(o);
  }
  return bases;
}

/// The accesses as the GPU's assembler makes them.
void find_machine_accesses(LoadedKernel& kernel) {
  const auto& body = kernel.function->body;
  const bool atomics =
      std::any_of(body.begin(), body.end(), is_atomic) || std::any_of(body.begin(), body.end(), is_constant_load);
  const bool shared = std::any_of(body.begin(), body.end(), is_shared_access);
  if (!atomics && !shared) return;
  if (atomics) {
    const analysis::Liveness live = analysis::liveness(kernel.graph);
    kernel.accesses = machine::accesses_of(*kernel.function, access_facts(kernel, live, lanes_of(kernel, live)));
  }
  if (shared) machine::join_accesses(kernel.accesses, *kernel.function, kernel.graph, address_bases(kernel));
  kernel.info = machine::describe(*kernel.module->module, *kernel.function, kernel.graph, kernel.accesses);
}

/// The loops that the GPU's assembler unrolls and whose lanes may leave in different rounds; the others' counts do not
/// depend on it.
std::vector<passes::CountedLoop> loops_to_unroll(const LoadedKernel& kernel) {
  std::vector<passes::CountedLoop> loops = passes::find_counted_loops(*kernel.function);
  if (loops.empty()) return loops;
  const codegen::LaneAnalysis lanes = lanes_of(kernel, analysis::liveness(kernel.graph));
  std::erase_if(loops, [&](const passes::CountedLoop& loop) {
    const ir::BlockId block = kernel.graph.block_of[loop.last];
    return block == ir::kNoBlock || !lanes.divergent_branch[block];
  });
  return loops;
}

}  // namespace

Result<std::unique_ptr<LoadedKernel>> load_kernel(const LoadedModule& module, const ptx::Function& entry, Level level) {
  std::shared_ptr<const ptx::Function> inlined;
  if (passes::calls_defined_function(*module.module, entry)) {
    auto result = passes::inline_calls(*module.module, entry, ops::instruction_set(), function_handle);
    if (!result) return result.error();
    inlined = std::make_shared<const ptx::Function>(std::move(result).value());
  }
  const ptx::Function& function = inlined ? *inlined : entry;
  Diagnostics missing = missing_for(*module.module, function);
  if (!missing.empty()) return missing;
  auto kernel = std::make_unique<LoadedKernel>();
  kernel->module = &module;
  kernel->function = &function;
  kernel->inlined = std::move(inlined);
  const auto too_large = [&] {
    return make_error_at(module.module->file_name, entry.pos,
                         fmt::format("the variables of '{}' are larger than 2 GiB", entry.name));
  };
  if (!prepare(*kernel)) return too_large();
  if (level == Level::kMachine) {
    if (const auto loops = loops_to_unroll(*kernel); !loops.empty()) {
      kernel->inlined =
          std::make_shared<const ptx::Function>(passes::unroll_loops(function, loops, ops::instruction_set()));
      kernel->function = kernel->inlined.get();
      if (!prepare(*kernel)) return too_large();
    }
    find_machine_accesses(*kernel);
  }
  for (const ptx::Instr& in : kernel->function->body)
    kernel->has_barriers = kernel->has_barriers || in.def->role == ptx::Role::kBarrier ||
                           in.def->role == ptx::Role::kClusterBarrier || in.def->role == ptx::Role::kWarpMemory;
  kernel->program = std::make_shared<const Program>(*kernel);
  return kernel;
}

}  // namespace warplens::exec
