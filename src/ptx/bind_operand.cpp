// SPDX-License-Identifier: Apache-2.0
// Fits the operands of an instruction to one row: number, kinds, and types as the manual's section "Operand Type
// Checking" has them (untyped bits agree with everything of their size; loads, stores and conversions take wider
// registers). Constants become bits of the operand's type here, so that no later stage converts anything.
#include <fmt/format.h>

#include "ptx/module_parser.h"

namespace warplens::ptx {
namespace {

bool agrees(Type reg, Type wanted, bool wider_is_fine) {
  if (reg == Type::kPred || wanted == Type::kPred) return reg == wanted;
  const unsigned a = bits_of(reg), b = bits_of(wanted);
  if (wider_is_fine ? a < b : a != b) return false;
  const char x = info_of(reg).kind, y = info_of(wanted).kind;
  if (x == 'b' || y == 'b') return true;
  return is_float(reg) == is_float(wanted) && x != 'o' && y != 'o';
}

/// Rows whose registers may be wider than the instruction's type: memory accesses, and conversions (two type slots, one
/// for each side).
bool takes_wider_registers(const OpDef& def) {
  if (def.role == Role::kLoad || def.role == Role::kStore) return true;
  return def.form.slot("dtype") >= 0 && def.form.slot("atype") >= 0;
}

/// Length that a {list} must have: of slot v2/v4/v8 or x1/x2/x4; 0 when the row does not say.
unsigned list_length(const Instr& in) {
  bool has_slot = false;
  const Form& f = in.def->form;
  for (int s = 0; s < f.slot_count; ++s) {
    const bool is_length = f.slots[s].name == "vec" || f.slots[s].name == "num";
    has_slot |= is_length;
    if (in.slots[s] < 0) continue;
    const std::string_view w = f.word(s, in.slots[s]);
    if (w.size() == 2 && (w[0] == 'v' || (is_length && w[0] == 'x')) && w[1] >= '1' && w[1] <= '8')
      return static_cast<unsigned>(w[1] - '0');
  }
  return has_slot ? 1 : 0;
}

Type type_of_operand(const OperandForm& form, const Instr& in) {
  if (form.type_slot < 0) return form.type;
  const int8_t word = in.slots[static_cast<size_t>(form.type_slot)];
  return word < 0 ? Type::kNone : in.def->form.word_type(form.type_slot, word);
}

Type bits_type(unsigned bits) {
  switch (bits) {
    case 8: return Type::kB8;
    case 16: return Type::kB16;
    case 32: return Type::kB32;
    case 64: return Type::kB64;
    default: return Type::kNone;
  }
}

}  // namespace

bool ModuleParser::misfit(const RawOperand& raw, std::string message) {
  misfit_pos_ = raw.pos;
  misfit_message_ = std::move(message);
  return false;
}

std::string ModuleParser::describe(const RawOperand& raw) const {
  switch (raw.kind) {
    case RawOperand::Kind::kRegister: return fmt::format("'{}' (.{})", raw.name, name_of(fn_.registers[raw.reg].type));
    case RawOperand::Kind::kConstant: return raw.constant.is_integer() ? "an integer constant" : "a float constant";
    case RawOperand::Kind::kVector: return "a {list}";
    case RawOperand::Kind::kAddress: return "an [address]";
    case RawOperand::Kind::kList: return "a (list)";
    case RawOperand::Kind::kSink: return "'_'";
    default: return fmt::format("'{}'", raw.name);
  }
}

bool ModuleParser::bind(const RowMatch& row, Instr& instr) {
  const Form& form = row.def->form;
  instr.def = row.def;
  instr.slots = row.slots;
  instr.operands.assign(form.operand_count, {});
  instr.elements.clear();
  instr.args.clear();
  instr.returns = 0;
  if (row.def->role == Role::kCall) return bind_call(row, instr);
  size_t at = 0;
  for (size_t i = 0; i < form.operand_count; ++i) {
    const OperandForm& f = form.operands[i];
    Operand& out = instr.operands[i];
    if (f.implicit) {
      out.tag = OperandTag::kReg;
      out.type = Type::kPred;
      out.reg = carry_register();
      continue;
    }
    const RawOperand* raw = at < raw_.size() ? &raw_[at] : nullptr;
    if (!raw || raw->pair_second != f.pair_second || raw->in_bracket != f.in_bracket) {
      if (f.optional) continue;
      RawOperand here;
      here.pos = raw ? raw->pos : instr.pos;
      return misfit(here, fmt::format("'{}' lacks operand '{}'", opcode_, f.name));
    }
    if (!bind_operand(f, *raw, instr, out)) return false;
    for (PendingLabel& p : new_labels_)
      if (p.operand == kNoIndex) p.operand = static_cast<uint32_t>(i);
    ++at;
  }
  if (at < raw_.size()) return misfit(raw_[at], fmt::format("'{}' takes no operand here", opcode_));
  return true;
}

/// call (results), function, (arguments), prototype — all but the function may be missing.
bool ModuleParser::bind_call(const RowMatch& row, Instr& instr) {
  const auto take_args = [&](const RawOperand& list) {
    for (uint32_t i = 0; i < list.count; ++i) {
      const RawOperand& raw = raw_elements_[list.first + i];
      Operand o;
      if (raw.kind == RawOperand::Kind::kUnknownName) return misfit(raw, fmt::format("'{}' is not declared", raw.name));
      if (raw.kind == RawOperand::Kind::kRegister) o.type = fn_.registers[raw.reg].type;
      if (raw.kind == RawOperand::Kind::kConstant)
        o.type = raw.constant.kind == Constant::Kind::kSingle ? Type::kB32 : Type::kB64;
      if (!bind_value(raw, o.type, false, instr, o)) return false;
      instr.args.push_back(o);
    }
    return true;
  };
  size_t at = 0;
  bool has_function = false;
  for (size_t i = 0; i < row.def->form.operand_count && at < raw_.size(); ++i) {
    const RawOperand& raw = raw_[at];
    const bool is_list = raw.kind == RawOperand::Kind::kList;
    switch (row.def->form.operands[i].kind) {
      case OperandKind::kParams:
        if (!is_list) continue;
        if (!take_args(raw)) return false;
        if (!has_function) instr.returns = static_cast<uint32_t>(instr.args.size());
        break;
      case OperandKind::kFunction:
        if (!bind_function(raw, instr.operands[i])) return false;
        has_function = true;
        break;
      default: break;  // the prototype: checked when the callee is known
    }
    ++at;
  }
  if (at < raw_.size()) return misfit(raw_[at], fmt::format("'{}' takes no operand here", opcode_));
  RawOperand here;
  here.pos = instr.pos;
  if (!has_function) return misfit(here, "'call' lacks a function");
  for (const Operand& o : instr.operands) {
    if (o.tag != OperandTag::kFunction) continue;
    const Function& callee = module_.functions[o.symbol.index];
    const bool variadic = !callee.params.empty() && callee.params.back().bytes == 0;
    const size_t given = instr.args.size() - instr.returns;
    if (instr.returns != callee.returns.size() || (!variadic && given != callee.params.size()))
      return misfit(here, fmt::format("'{}' takes {} arguments and returns {} values; {} and {} are given", callee.name,
                                      callee.params.size(), callee.returns.size(), given, instr.returns));
  }
  return true;
}

bool ModuleParser::bind_operand(const OperandForm& form, const RawOperand& raw, Instr& instr, Operand& out) {
  const Type type = type_of_operand(form, instr);
  switch (form.kind) {
    case OperandKind::kAddress: return bind_address(raw, instr, out);
    case OperandKind::kLabel: return bind_label(raw, out);
    case OperandKind::kFunction: return bind_function(raw, out);
    case OperandKind::kImmediate:
      if (raw.kind != RawOperand::Kind::kConstant)
        return misfit(raw, fmt::format("operand '{}' must be a constant", form.name));
      return bind_value(raw, type, false, instr, out);
    case OperandKind::kVector: return bind_vector(form, raw, type, instr, out);
    case OperandKind::kAny:
      if (raw.kind == RawOperand::Kind::kVector || raw.kind == RawOperand::Kind::kVectorRegister)
        return bind_vector(form, raw, type, instr, out);
      return bind_value(raw, type, form.is_dest, instr, out);
    case OperandKind::kTyped: return bind_value(raw, type, form.is_dest, instr, out);
    case OperandKind::kParams: break;
  }
  return misfit(raw, "parameter lists belong to calls");
}

/// A register, constant, special register, symbol or "_". kNone as type takes any.
bool ModuleParser::bind_value(const RawOperand& raw, Type type, bool is_dest, Instr& instr, Operand& out) {
  using Kind = RawOperand::Kind;
  out.type = type;
  if (raw.negated && (raw.kind != Kind::kRegister || type != Type::kPred || is_dest))
    return misfit(raw, "'!' belongs before a predicate that is read");
  if (is_dest && raw.kind != Kind::kRegister && raw.kind != Kind::kSink && raw.kind != Kind::kUnknownName)
    return misfit(raw, fmt::format("{} cannot be written", describe(raw)));
  const bool wider = takes_wider_registers(*instr.def);
  switch (raw.kind) {
    case Kind::kRegister: {
      const Type reg = fn_.registers[raw.reg].type;
      if (type == Type::kNone) out.type = reg;
      if (!agrees(reg, out.type, wider))
        return misfit(raw, fmt::format("{} does not agree with .{} of '{}'", describe(raw), name_of(type), opcode_));
      out.tag = raw.negated ? OperandTag::kNegReg : OperandTag::kReg;
      out.reg = raw.reg;
      return true;
    }
    case Kind::kConstant: {
      const auto bits = convert(raw.constant, type == Type::kNone ? Type::kB64 : type);
      if (!bits)
        return misfit(raw, fmt::format("{} does not agree with .{} of '{}'", describe(raw), name_of(type), opcode_));
      out.tag = OperandTag::kImm;
      out.imm = *bits;
      return true;
    }
    case Kind::kSpecial:
      // Old programs read the 32-bit registers as u16, and conversions read them as they are.
      if ((type_of(raw.special) == Type::kPred) != (type == Type::kPred) || is_float(type))
        return misfit(raw, fmt::format("'{}' does not agree with .{} of '{}'", raw.name, name_of(type), opcode_));
      out.tag = OperandTag::kSpecial;
      out.special = raw.special;
      out.first = raw.first;
      return true;
    case Kind::kSymbol:
      if (type != Type::kNone && (!is_integer(type) || bits_of(type) < 32))
        return misfit(raw, fmt::format("the address of '{}' needs 32 or 64 bits", raw.name));
      out.tag = OperandTag::kSymbol;
      out.symbol = raw.symbol;
      out.imm = static_cast<uint64_t>(raw.offset);
      return true;
    case Kind::kSink:
      if (!is_dest) return misfit(raw, "'_' can only be written");
      out.tag = OperandTag::kSink;
      return true;
    case Kind::kUnknownName: return misfit(raw, fmt::format("'{}' is not declared", raw.name));
    default: return misfit(raw, fmt::format("'{}' cannot take {} here", opcode_, describe(raw)));
  }
}

/// {a, b, c}, a vector register, or a scalar where the length is one.
bool ModuleParser::bind_vector(const OperandForm& form, const RawOperand& raw, Type type, Instr& instr, Operand& out) {
  const bool is_list = raw.kind == RawOperand::Kind::kVector || raw.kind == RawOperand::Kind::kVectorRegister;
  const bool packs = form.kind == OperandKind::kAny;  // mov.b64 d, {lo, hi}: the elements share the type's bits
  const unsigned wanted = form.in_bracket ? 0 : list_length(instr);  // coordinates are as many as the geometry has
  const unsigned count = is_list ? raw.count : 1;
  if (count == 0) return misfit(raw, "the {list} is empty");
  const bool split = packs && wanted == 0;
  if (wanted != 0 && count != wanted)
    return misfit(raw, fmt::format("'{}' takes {} elements, not {}", opcode_, wanted, count));
  if (!is_list) return bind_value(raw, type, form.is_dest, instr, out);
  Type element = type;
  if (split && type != Type::kNone) {
    element = bits_of(type) % count == 0 ? bits_type(bits_of(type) / count) : Type::kNone;
    if (element == Type::kNone) return misfit(raw, fmt::format("{} elements do not make a .{}", count, name_of(type)));
  }
  out.tag = OperandTag::kVector;
  out.type = element;
  out.first = static_cast<uint32_t>(instr.elements.size());
  out.count = count;
  for (unsigned i = 0; i < count; ++i) {
    RawOperand one = raw;
    if (raw.kind == RawOperand::Kind::kVector) {
      one = raw_elements_[raw.first + i];
    } else {
      one.kind = RawOperand::Kind::kRegister;
      one.reg = raw.reg + i;
    }
    Operand o;
    if (!bind_value(one, element, form.is_dest, instr, o)) return false;
    instr.elements.push_back(o);
  }
  return true;
}

bool ModuleParser::bind_address(const RawOperand& raw, const Instr& instr, Operand& out) {
  if (raw.kind != RawOperand::Kind::kAddress) return misfit(raw, fmt::format("'{}' needs an [address] here", opcode_));
  if (raw.reg != kNoReg) {
    const Type t = fn_.registers[raw.reg].type;
    if (!is_integer(t) || bits_of(t) < 32 || bits_of(t) > 64)
      return misfit(raw, fmt::format("'{}' (.{}) cannot hold an address", raw.name, name_of(t)));
  }
  Space has = Space::kGeneric;
  if (raw.symbol.kind == SymbolKind::kModuleVariable) has = module_.variables[raw.symbol.index].space;
  if (raw.symbol.kind == SymbolKind::kLocalVariable) has = fn_.variables[raw.symbol.index].space;
  if (raw.symbol.kind == SymbolKind::kParameter || raw.symbol.kind == SymbolKind::kReturn) has = Space::kParam;
  Space wants = instr.space();
  if (wants == Space::kSharedCluster) wants = Space::kShared;
  const bool memory = instr.def->role == Role::kLoad || instr.def->role == Role::kStore;
  if (memory && has != Space::kGeneric && wants != Space::kGeneric && has != wants)
    return misfit(raw, fmt::format("'{}' is a .{} variable, not .{}", raw.name, name_of(has), name_of(wants)));
  out.tag = OperandTag::kAddress;
  out.reg = raw.reg;
  out.symbol = raw.symbol;
  out.imm = static_cast<uint64_t>(raw.offset);
  return true;
}

bool ModuleParser::bind_label(const RawOperand& raw, Operand& out) {
  if (raw.name.empty()) return misfit(raw, fmt::format("'{}' needs a label here", opcode_));
  out.tag = OperandTag::kLabel;
  PendingLabel p;
  p.name = raw.name;
  p.pos = raw.pos;
  p.operand = kNoIndex;  // bind() knows which one
  new_labels_.push_back(p);
  return true;
}

bool ModuleParser::bind_function(const RawOperand& raw, Operand& out) {
  if (raw.kind == RawOperand::Kind::kRegister) {
    out.tag = OperandTag::kReg;
    out.reg = raw.reg;
    out.type = fn_.registers[raw.reg].type;
    return true;
  }
  if (raw.kind != RawOperand::Kind::kSymbol || raw.symbol.kind != SymbolKind::kFunction)
    return misfit(raw, fmt::format("'{}' is not a function", raw.name));
  out.tag = OperandTag::kFunction;
  out.symbol = raw.symbol;
  return true;
}

}  // namespace warplens::ptx
