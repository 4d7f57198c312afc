// SPDX-License-Identifier: Apache-2.0
#include "passes/inline_calls.h"

#include <algorithm>
#include <map>

#include "base/check.h"

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

class Inliner {
 public:
  Inliner(const ptx::Module& module, const ptx::Function& entry, const ptx::OpTable& table)
      : module_(module), table_(table), out_(entry) {
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
  void append_jump(const ptx::Instr& like, ptx::RegId guard, bool negated, uint32_t target);
  ptx::Instr translated(const ptx::Instr& in, const Copy& copy, const Binding& params, const Binding& returns);
  void translate(ptx::Operand& o, const ptx::Instr& in, const Copy& copy, const Binding& params,
                 const Binding& returns);
  void complain(const ptx::Instr& in, std::string message) {
    errors_.push_back(make_error_at(module_.file_name, in.pos, std::move(message)));
  }

  const ptx::Module& module_;
  const ptx::OpTable& table_;
  ptx::Function out_;
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

/// "@guard bra target;"
void Inliner::append_jump(const ptx::Instr& like, ptx::RegId guard, bool negated, uint32_t target) {
  ptx::Instr jump;
  const auto rows = table_.rows("bra");
  WL_CHECK(!rows.empty());
  jump.def = rows.front();
  jump.slots.fill(-1);
  jump.operands.resize(1);
  jump.operands[0].tag = OperandTag::kLabel;
  jump.operands[0].first = target;
  jump.guard = guard;
  jump.guard_negated = negated;
  jump.pos = like.pos;
  jump.loc = like.loc;
  out_.body.push_back(std::move(jump));
}

void Inliner::append_call(const ptx::Function& callee, const ptx::Instr& call) {
  if (std::find(active_.begin(), active_.end(), &callee) != active_.end())
    return complain(call, fmt::format("'{}' calls itself; recursion is not supported yet", callee.name));
  Binding params, returns;
  for (uint32_t k = 0; k < call.args.size(); ++k) {
    if (call.args[k].tag != OperandTag::kSymbol || call.args[k].symbol.kind != SymbolKind::kLocalVariable)
      return complain(call, fmt::format("'{}' is called with an argument that is not a .param variable", callee.name));
    (k < call.returns ? returns : params).push_back(call.args[k].symbol.index);
  }
  if (params.size() < callee.params.size() || returns.size() < callee.returns.size())
    return complain(call, fmt::format("'{}' is called with too few arguments", callee.name));
  const size_t first = out_.body.size();
  // `call` has been translated: its guard and place are the result's.
  if (call.guard != ptx::kNoReg) append_jump(call, call.guard, !call.guard_negated, 0);
  append(callee, params, returns);
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
  return std::any_of(function.body.begin(), function.body.end(),
                     [&](const ptx::Instr& in) { return defined_callee(module, in) != nullptr; });
}

Result<ptx::Function> inline_calls(const ptx::Module& module, const ptx::Function& entry, const ptx::OpTable& table) {
  return Inliner(module, entry, table).run(entry);
}

}  // namespace warplens::passes
