// SPDX-License-Identifier: Apache-2.0
#include "passes/inline_calls.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "passes/instruction_writer.h"

namespace warplens::passes {
namespace {

using ptx::OperandTag;
using ptx::Role;
using ptx::SymbolKind;

/// Repeated inlining can double the size at each level of calls.
constexpr size_t kMostInstructions = 200000;

/// The defined function that `in` calls, or null.
const ptx::Function* defined_callee(const ptx::Module& module, const ptx::Instr& in) {
  if (in.def->role != Role::kCall) return nullptr;
  for (const ptx::Operand& o : in.operands)
    if (o.tag == OperandTag::kFunction && !module.functions[o.symbol.index].is_declaration)
      return &module.functions[o.symbol.index];
  return nullptr;
}

/// The register that holds the callee of an indirect call, or kNoReg.
ptx::RegId callee_register(const ptx::Instr& in) {
  if (in.def->role != Role::kCall) return ptx::kNoReg;
  for (const ptx::Operand& o : in.operands)
    if (o.tag == OperandTag::kReg) return o.reg;
  return ptx::kNoReg;
}

/// Indices of the defined functions whose address is taken: in an initialiser, or by an instruction that does not call.
std::vector<uint32_t> addressed_functions(const ptx::Module& module) {
  std::vector<bool> taken(module.functions.size());
  for (const ptx::Variable& v : module.variables)
    for (const ptx::InitAddress& a : v.init_addresses)
      for (size_t i = 0; i < taken.size(); ++i)
        if (module.functions[i].name == a.symbol) taken[i] = true;
  for (const ptx::Function& f : module.functions)
    for (const ptx::Instr& in : f.body)
      for (const auto* list : {&in.operands, &in.elements, &in.args})
        for (const ptx::Operand& o : *list)
          if (o.symbol.kind == SymbolKind::kFunction && o.tag == OperandTag::kSymbol) taken[o.symbol.index] = true;
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < taken.size(); ++i)
    if (taken[i] && !module.functions[i].is_declaration && !module.functions[i].is_entry) out.push_back(i);
  return out;
}

/// The type that mov takes for a register: it has none of 8 bits, and takes bits of the same size.
std::string move_type(ptx::Type type) {
  return type == ptx::Type::kPred ? "pred" : fmt::format("b{}", std::max(16u, ptx::bits_of(type)));
}
std::string immediate_text(ptx::Type type, uint64_t bits) {
  return fmt::format("{:#x}", ptx::bits_of(type) >= 64 ? bits : bits & ((uint64_t{1} << ptx::bits_of(type)) - 1));
}

class Inliner {
 public:
  Inliner(const ptx::Module& module, const ptx::Function& entry, const ptx::OpTable& table, FunctionHandle handle_of)
      : module_(module), handle_of_(handle_of), out_(entry), writer_(out_, table) {
    out_.body.clear();
    out_.branch_tables.clear();
    out_.labels.clear();
    copies_[&entry] = {};  // the entry's own registers, variables and places keep their numbers
  }

  Result<ptx::Function> run(const ptx::Function& entry) {
    append(entry, {}, {});
    if (!errors_.empty()) return errors_;
    return std::move(out_);
  }

 private:
  /// Where a function's registers, variables and places begin in the result.
  struct Copy {
    uint32_t registers = 0, variables = 0, locs = 0;
  };
  /// By parameter: the caller's variable (already an index of the result) that holds it.
  using Binding = std::vector<uint32_t>;

  const Copy& copy_of(const ptx::Function& f);
  void append(const ptx::Function& f, const Binding& params, const Binding& returns);
  void append_call(const ptx::Function& callee, const ptx::Instr& call);
  void append_indirect_call(const ptx::Instr& call);
  void append_bound_body(const ptx::Function& callee, const ptx::Instr& call);
  bool matches(const ptx::Function& callee, const ptx::Instr& call) const;
  bool is_active(const ptx::Function& f) const {
    return std::find(active_.begin(), active_.end(), &f) != active_.end();
  }
  void append_jump(const ptx::Instr& like, ptx::RegId guard, bool negated, uint32_t target) {
    writer_.append_jump(like, guard, negated, target);
  }
  ptx::Instr translated(const ptx::Instr& in, const Copy& copy, const Binding& params, const Binding& returns);
  void translate(ptx::Operand& o, const ptx::Instr& in, const Copy& copy, const Binding& params,
                 const Binding& returns);
  void complain(const ptx::Instr& in, std::string message) {
    errors_.push_back(make_error_at(module_.file_name, in.pos, std::move(message)));
  }

  const ptx::Module& module_;
  FunctionHandle handle_of_;
  ptx::Function out_;
  InstructionWriter writer_;
  std::map<const ptx::Function*, Copy> copies_;
  std::vector<const ptx::Function*> active_;
  Diagnostics errors_;
};

const Inliner::Copy& Inliner::copy_of(const ptx::Function& f) {
  const auto found = copies_.find(&f);
  if (found != copies_.end()) return found->second;
  Copy copy;
  copy.registers = static_cast<uint32_t>(out_.registers.size());
  copy.variables = static_cast<uint32_t>(out_.variables.size());
  copy.locs = static_cast<uint32_t>(out_.locs.size());
  out_.registers.insert(out_.registers.end(), f.registers.begin(), f.registers.end());
  out_.variables.insert(out_.variables.end(), f.variables.begin(), f.variables.end());
  out_.locs.insert(out_.locs.end(), f.locs.begin(), f.locs.end());
  out_.unsupported.insert(out_.unsupported.end(), f.unsupported.begin(), f.unsupported.end());
  return copies_.emplace(&f, copy).first->second;
}

void Inliner::translate(ptx::Operand& o, const ptx::Instr& in, const Copy& copy, const Binding& params,
                        const Binding& returns) {
  if (o.reg != ptx::kNoReg) o.reg += copy.registers;
  if (o.symbol.kind == SymbolKind::kLocalVariable) o.symbol.index += copy.variables;
  const bool parameter = o.symbol.kind == SymbolKind::kParameter || o.symbol.kind == SymbolKind::kReturn;
  if (!parameter || active_.size() == 1) return;
  // The entry's parameters stay; a function's are the variables of the call.
  const Binding& bound = o.symbol.kind == SymbolKind::kParameter ? params : returns;
  if (o.tag != OperandTag::kAddress && in.def->role != Role::kCall)
    return complain(in, "the address of a function's parameter is not supported");
  o.symbol = {SymbolKind::kLocalVariable, bound.at(o.symbol.index)};
}

ptx::Instr Inliner::translated(const ptx::Instr& in, const Copy& copy, const Binding& params, const Binding& returns) {
  ptx::Instr result = in;
  if (result.guard != ptx::kNoReg) result.guard += copy.registers;
  if (result.loc != 0) result.loc += copy.locs;
  for (auto* list : {&result.operands, &result.elements, &result.args})
    for (ptx::Operand& o : *list) translate(o, in, copy, params, returns);
  return result;
}

/// Whether the call's arguments and results have the sizes of the function's.
bool Inliner::matches(const ptx::Function& callee, const ptx::Instr& call) const {
  const size_t given = call.args.size() - call.returns;
  if (given != callee.params.size() || call.returns != callee.returns.size()) return false;
  for (size_t k = 0; k < call.args.size(); ++k) {
    const ptx::Param& p = k < call.returns ? callee.returns[k] : callee.params[k - call.returns];
    const ptx::Operand& o = call.args[k];
    if (o.tag == OperandTag::kSymbol && out_.variables[o.symbol.index].bytes != p.bytes) return false;
  }
  return true;
}

/// The function's body with the call's variables for its parameters; parameters in registers are moved.
void Inliner::append_bound_body(const ptx::Function& callee, const ptx::Instr& call) {
  Binding params, returns;
  std::vector<std::pair<ptx::RegId, ptx::RegId>> results;  // the caller's, the function's
  const Copy copy = copy_of(callee);
  for (uint32_t k = 0; k < call.args.size(); ++k) {
    const bool is_result = k < call.returns;
    const auto& declared = is_result ? callee.returns : callee.params;
    const size_t index = is_result ? k : k - call.returns;
    const ptx::Operand& o = call.args[k];
    (is_result ? returns : params).push_back(o.symbol.index);
    if (o.tag == OperandTag::kSymbol && o.symbol.kind == SymbolKind::kLocalVariable) continue;
    const ptx::RegId own = index < declared.size() ? declared[index].reg : ptx::kNoReg;
    if (own == ptx::kNoReg || (o.tag != OperandTag::kReg && o.tag != OperandTag::kImm))
      return complain(call, fmt::format("'{}' is called with an argument that is not a .param variable", callee.name));
    const ptx::Type type = callee.registers[own].type;
    if (is_result)
      results.emplace_back(o.reg, own + copy.registers);
    else if (o.tag == OperandTag::kReg)
      writer_.append(call, fmt::format("mov.{} r0, r1;", move_type(type)),
                     {{"r0", own + copy.registers}, {"r1", o.reg}});
    else
      writer_.append(call, fmt::format("mov.{} r0, {};", move_type(type), immediate_text(type, o.imm)),
                     {{"r0", own + copy.registers}});
  }
  if (params.size() < callee.params.size() || returns.size() < callee.returns.size())
    return complain(call, fmt::format("'{}' is called with too few arguments", callee.name));
  const size_t first = out_.body.size();
  append(callee, params, returns);
  // The GPU's assembler calls most of these functions.
  if (first < out_.body.size()) out_.body[first].nounroll = true;
  for (const auto& [to, from] : results) {
    const ptx::Type type = out_.registers[from].type;
    writer_.append(call, fmt::format("mov.{} r0, r1;", move_type(type)), {{"r0", to}, {"r1", from}});
  }
}

void Inliner::append_indirect_call(const ptx::Instr& call) {
  const ptx::RegId pointer = callee_register(call);
  const ptx::RegId differs = writer_.new_register(ptx::Type::kPred, "%call_differs");
  std::vector<uint32_t> to_end;
  const size_t first = out_.body.size();
  if (call.guard != ptx::kNoReg) append_jump(call, call.guard, !call.guard_negated, 0);
  const ptx::Type type = out_.registers[pointer].type;
  for (const uint32_t index : addressed_functions(module_)) {
    const ptx::Function& f = module_.functions[index];
    // A function that calls itself through a pointer is not a candidate: such a call traps.
    if (!matches(f, call) || is_active(f)) continue;
    writer_.append(call, fmt::format("setp.ne.b{} p, r0, {};", ptx::bits_of(type), handle_of_(index)),
                   {{"r0", pointer}, {"p", differs}});
    const size_t skip = out_.body.size();
    append_jump(call, differs, false, 0);
    append_bound_body(f, call);
    to_end.push_back(static_cast<uint32_t>(out_.body.size()));
    append_jump(call, ptx::kNoReg, false, 0);
    out_.body[skip].operands[0].first = static_cast<uint32_t>(out_.body.size());
    if (!errors_.empty()) return;
  }
  writer_.append(call, "trap;", {});
  const auto end = static_cast<uint32_t>(out_.body.size());
  for (const uint32_t i : to_end) out_.body[i].operands[0].first = end;
  if (call.guard != ptx::kNoReg) out_.body[first].operands[0].first = end;
}

void Inliner::append_call(const ptx::Function& callee, const ptx::Instr& call) {
  if (is_active(callee))
    return complain(call, fmt::format("'{}' calls itself; recursion is not supported yet", callee.name));
  const size_t first = out_.body.size();
  // `call` has been translated: its guard and place are the result's.
  if (call.guard != ptx::kNoReg) append_jump(call, call.guard, !call.guard_negated, 0);
  append_bound_body(callee, call);
  if (call.guard != ptx::kNoReg) out_.body[first].operands[0].first = static_cast<uint32_t>(out_.body.size());
}

void Inliner::append(const ptx::Function& f, const Binding& params, const Binding& returns) {
  const Copy copy = copy_of(f);
  active_.push_back(&f);
  std::vector<uint32_t> new_index(f.body.size() + 1), own;  // `own`: instructions of this body, not of inlined ones
  std::vector<uint32_t> returning;
  for (size_t i = 0; i < f.body.size() && errors_.empty(); ++i) {
    new_index[i] = static_cast<uint32_t>(out_.body.size());
    if (out_.body.size() > kMostInstructions) {
      complain(f.body[i], "the kernel is too large when all its calls are inlined");
      break;
    }
    ptx::Instr in = translated(f.body[i], copy, params, returns);
    if (const ptx::Function* callee = defined_callee(module_, in)) {
      append_call(*callee, in);
    } else if (callee_register(in) != ptx::kNoReg) {
      append_indirect_call(in);
    } else if (in.def->role == Role::kReturn && active_.size() > 1) {
      returning.push_back(static_cast<uint32_t>(out_.body.size()));
      append_jump(in, in.guard, in.guard_negated, 0);
    } else {
      own.push_back(static_cast<uint32_t>(out_.body.size()));
      out_.body.push_back(std::move(in));
    }
  }
  const auto end = static_cast<uint32_t>(out_.body.size());
  new_index.back() = end;
  for (const uint32_t i : returning) out_.body[i].operands[0].first = end;
  const auto tables = static_cast<uint32_t>(out_.branch_tables.size());
  for (std::vector<uint32_t> targets : f.branch_tables) {
    for (uint32_t& t : targets) t = new_index[t];
    out_.branch_tables.push_back(std::move(targets));
  }
  for (const uint32_t i : own)
    for (ptx::Operand& o : out_.body[i].operands) {
      if (o.tag == OperandTag::kLabel) o.first = new_index[o.first];
      if (o.tag == OperandTag::kBranchTable) o.first += tables;
    }
  active_.pop_back();
}

}  // namespace

bool calls_defined_function(const ptx::Module& module, const ptx::Function& function) {
  return std::any_of(function.body.begin(), function.body.end(), [&](const ptx::Instr& in) {
    return defined_callee(module, in) != nullptr || callee_register(in) != ptx::kNoReg;
  });
}

Result<ptx::Function> inline_calls(const ptx::Module& module, const ptx::Function& entry, const ptx::OpTable& table,
                                   FunctionHandle handle_of) {
  return Inliner(module, entry, table, handle_of).run(entry);
}

}  // namespace warplens::passes
