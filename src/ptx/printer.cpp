// SPDX-License-Identifier: Apache-2.0
// Module -> PTX text that parses to an equal module. Names are made unique first: the parser flattened nested scopes,
// so two registers of one function may share a name. Immediates are written as numbers of the operand's type.
#include <fmt/format.h>

#include <bit>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ptx/parser.h"

namespace warplens::ptx {
namespace {

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}

  std::string print_module() {
    out(".version {}.{}\n.target {}\n.address_size {}\n", module_.version_major, module_.version_minor,
        module_.target.empty() ? "sm_50" : module_.target, module_.address_size);
    for (size_t i = 0; i < module_.files.size(); ++i)
      if (!module_.files[i].empty()) out(".file {} \"{}\"\n", i, module_.files[i]);
    for (const Function& f : module_.functions)
      print_function(f, true);  // declarations: initialisers may name functions
    for (const Variable& v : module_.variables) print_variable(v, v.name, linkage_of(v.linkage));
    for (const Function& f : module_.functions)
      if (!f.is_declaration) print_function(f, false);
    print_inline_names();
    return std::move(text_);
  }

  /// For people: names as written, and no time spent on making them unique.
  std::string print_instr(const Function& f, const Instr& in) {
    fn_ = &f;
    as_written_ = true;
    instr(in);
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void out(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  static std::string_view linkage_of(Linkage l) {
    switch (l) {
      case Linkage::kNone: return "";
      case Linkage::kVisible: return ".visible ";
      case Linkage::kExtern: return ".extern ";
      case Linkage::kWeak: return ".weak ";
      case Linkage::kCommon: return ".common ";
    }
    return "";
  }

  /// Chooses the names of the function's registers and variables.
  void use(const Function& f) {
    fn_ = &f;
    registers_.clear();
    variables_.clear();
    std::unordered_set<std::string> taken;
    for (const Param& p : f.params) taken.insert(p.name);
    for (const Param& p : f.returns) taken.insert(p.name);
    const auto choose = [&](std::string name) {
      // The components of a vector register are registers of their own here.
      for (char& c : name)
        if (c == '.') c = '_';
      std::string unique = name;
      for (unsigned n = 1; !taken.insert(unique).second; ++n) unique = fmt::format("{}_s{}", name, n);
      return unique;
    };
    // Registers passed as .reg parameters keep their names, which stand in the header.
    std::unordered_map<RegId, std::string> fixed;
    for (const auto* list : {&f.params, &f.returns})
      for (const Param& p : *list)
        if (p.reg != kNoReg) fixed[p.reg] = p.name;
    for (RegId r = 0; r < f.registers.size(); ++r) {
      const auto it = fixed.find(r);
      registers_.push_back(it != fixed.end() ? it->second : choose(f.registers[r].name));
    }
    for (const Variable& v : f.variables) variables_.push_back(choose(v.name));
    fixed_ = std::move(fixed);
  }

  void print_params(const std::vector<Param>& list) {
    text_ += '(';
    for (size_t i = 0; i < list.size(); ++i) {
      const Param& p = list[i];
      if (i) text_ += ", ";
      if (p.reg != kNoReg) {
        out(".reg .{} {}", name_of(p.type), p.name);
        continue;
      }
      out(".param .align {} .{} {}", p.align, name_of(p.type), p.name);
      const uint64_t size = std::max(1u, bytes_of(p.type));
      if (p.bytes == 0)
        text_ += "[]";
      else if (p.bytes != size)
        out("[{}]", p.bytes / size);
    }
    text_ += ')';
  }

  void print_function(const Function& f, bool declaration) {
    use(f);
    out("{}{} ", linkage_of(f.linkage), f.is_entry ? ".entry" : ".func");
    if (!f.returns.empty()) {
      print_params(f.returns);
      text_ += ' ';
    }
    out("{} ", f.name);
    print_params(f.params);
    const auto triple = [&](std::string_view name, const std::array<uint32_t, 3>& t) {
      if (t[0] != 0) out(" .{} {}, {}, {}", name, t[0], t[1], t[2]);
    };
    triple("maxntid", f.maxntid);
    triple("reqntid", f.reqntid);
    triple("reqnctapercluster", f.reqcluster);
    if (f.minnctapersm) out(" .minnctapersm {}", f.minnctapersm);
    if (f.maxnreg) out(" .maxnreg {}", f.maxnreg);
    if (f.noreturn) text_ += " .noreturn";
    if (f.nounroll) text_ += " .pragma \"nounroll\";";
    if (declaration) {
      text_ += ";\n";
      return;
    }
    text_ += "\n{\n";
    print_body(f);
    text_ += "}\n";
  }

  void print_registers(const Function& f) {
    Type open = Type::kNone;
    for (RegId r = 0; r < f.registers.size(); ++r) {
      const bool declared = !fixed_.contains(r) && f.registers[r].name != "CC.CF";
      const Type type = declared ? f.registers[r].type : Type::kNone;
      if (type != open && open != Type::kNone) text_ += ";\n";
      if (type != Type::kNone && type != open) out("\t.reg .{} {}", name_of(type), registers_[r]);
      if (type != Type::kNone && type == open) out(", {}", registers_[r]);
      open = type;
    }
    if (open != Type::kNone) text_ += ";\n";
  }

  void print_body(const Function& f) {
    print_registers(f);
    for (size_t i = 0; i < f.variables.size(); ++i)
      print_variable(f.variables[i], variables_[i], linkage_of(f.variables[i].linkage));
    for (size_t i = 0; i < f.branch_tables.size(); ++i) {
      out("$table_{}: .branchtargets ", i);
      for (size_t j = 0; j < f.branch_tables[i].size(); ++j) out("{}$at_{}", j ? ", " : "", f.branch_tables[i][j]);
      text_ += ";\n";
    }
    std::set<uint32_t> targets;
    for (const auto& table : f.branch_tables) targets.insert(table.begin(), table.end());
    for (const auto& [name, at] : f.labels) targets.insert(at);
    uint32_t loc = 0;
    for (uint32_t i = 0; i <= f.body.size(); ++i) {
      if (targets.contains(i)) out("$at_{}:\n", i);
      if (i == f.body.size()) break;
      // Also those that no instruction has: the place of a call may be named by inlined code only.
      while (loc < f.body[i].loc) print_loc(f.locs[++loc]);
      if (f.body[i].nounroll) text_ += "\t.pragma \"nounroll\";\n";
      text_ += '\t';
      instr(f.body[i]);
      text_ += '\n';
    }
  }

  void print_loc(const SourceLoc& loc) {
    out("\t.loc {} {} {}", loc.file, loc.line, loc.column);
    if (loc.inlined_at != kNoIndex) {
      const InlineSite& site = module_.inline_sites[loc.inlined_at];
      if (!site.function.empty()) out(", function_name $inlined_{}", loc.inlined_at);
      out(", inlined_at {} {} {}", site.call.file, site.call.line, site.call.column);
    }
    text_ += '\n';
  }

  void print_inline_names() {
    if (module_.inline_sites.empty()) return;
    text_ += ".section .debug_str\n{\n";
    for (size_t i = 0; i < module_.inline_sites.size(); ++i) {
      out("$inlined_{}:\n.b8 ", i);
      for (const char c : module_.inline_sites[i].function) out("{},", static_cast<unsigned>(static_cast<uint8_t>(c)));
      text_ += "0\n";
    }
    text_ += "}\n";
  }

  void print_variable(const Variable& v, std::string_view name, std::string_view linkage) {
    out("{}.{} {}.align {} .", linkage, name_of(v.space), v.managed ? ".attribute(.managed) " : "", v.align);
    const unsigned size = std::max(1u, bytes_of(v.type));
    // Where an address is less than an element, or lies across two, all is written as bytes.
    bool split = false;
    for (const InitAddress& x : v.init_addresses) split |= x.bytes != size || x.offset % size != 0 || x.shift != 0;
    const unsigned unit = split ? 1 : size;
    out("{} {}", split ? "b8" : name_of(v.type), name);
    if (v.unsized)
      text_ += "[]";
    else if (v.bytes != unit)
      out("[{}]", v.bytes / unit);
    if (!v.init.empty() || !v.init_addresses.empty()) print_initialiser(v, unit);
    text_ += ";\n";
  }

  void print_initialiser(const Variable& v, unsigned unit) {
    const bool scalar = v.bytes == unit;
    uint64_t end = v.init.size();
    for (const InitAddress& a : v.init_addresses) end = std::max<uint64_t>(end, a.offset + a.bytes);
    std::unordered_map<uint64_t, std::string> addresses;  // by offset
    for (const InitAddress& a : v.init_addresses) {
      std::string symbol = a.generic ? fmt::format("generic({})", a.symbol) : a.symbol;
      if (a.addend != 0) symbol += fmt::format("{:+}", a.addend);
      if (a.bytes == unit && a.shift == 0 && unit != 1) {
        addresses[a.offset] = symbol;
        continue;
      }
      for (unsigned i = 0; i < a.bytes; ++i)
        addresses[a.offset + i] = fmt::format("0x{:x}({})", uint64_t{0xff} << (a.shift + 8 * i), symbol);
    }
    text_ += scalar ? " = " : " = {";
    for (uint64_t at = 0; at < end; at += unit) {
      if (at) text_ += ", ";
      if (const auto it = addresses.find(at); it != addresses.end()) {
        text_ += it->second;
        continue;
      }
      uint64_t bits = 0;
      for (unsigned i = 0; i < unit && i < 8 && at + i < v.init.size(); ++i)
        bits |= uint64_t{v.init[at + i]} << (8 * i);
      immediate(bits, unit == bytes_of(v.type) ? v.type : Type::kB8);
    }
    if (!scalar) text_ += '}';
  }

  void immediate(uint64_t bits, Type type) {
    if (type == Type::kF32)
      out("0f{:08X}", bits);
    else if (type == Type::kF64)
      out("0d{:016X}", bits);
    else if (is_signed(type) && bits_of(type) < 64 && (bits >> (bits_of(type) - 1) & 1))
      out("-{}", (uint64_t{1} << bits_of(type)) - bits);
    else if (static_cast<int64_t>(bits) < 0 && is_signed(type))
      out("{}", static_cast<int64_t>(bits));
    else if (bits > 0xffff)
      out("0x{:x}", bits);
    else
      out("{}", bits);
  }

  std::string_view register_name(RegId r) const { return as_written_ ? fn_->registers[r].name : registers_[r]; }

  void label(uint32_t target) {
    if (as_written_) {
      for (const auto& [name, at] : fn_->labels) {
        if (at != target) continue;
        text_ += name;
        return;
      }
    }
    out("$at_{}", target);
  }

  std::string_view symbol_name(SymbolRef s) const {
    switch (s.kind) {
      case SymbolKind::kModuleVariable: return module_.variables[s.index].name;
      case SymbolKind::kLocalVariable: return as_written_ ? fn_->variables[s.index].name : variables_[s.index];
      case SymbolKind::kParameter: return fn_->params[s.index].name;
      case SymbolKind::kReturn: return fn_->returns[s.index].name;
      case SymbolKind::kFunction: return module_.functions[s.index].name;
      case SymbolKind::kNone: break;
    }
    return "";
  }

  void special(const Operand& o) {
    static constexpr std::string_view kReserved[] = {"begin", "end", "cap"};
    if (o.special == SpecialReg::kEnvreg)
      out("%envreg{}", o.first);
    else if (o.special == SpecialReg::kReservedSmemOffset && o.first < 100)
      out("%reserved_smem_offset_{}", o.first);
    else if (o.special == SpecialReg::kReservedSmemOffset)
      out("%reserved_smem_offset_{}", kReserved[(o.first - 100) % 3]);
    else
      text_ += name_of(o.special);
  }

  void offset(const Operand& o) {
    if (o.imm != 0) out("{:+}", static_cast<int64_t>(o.imm));
  }

  void operand(const Operand& o, const Instr& in, bool open_bracket) {
    switch (o.tag) {
      case OperandTag::kNone: return;
      case OperandTag::kReg: text_ += register_name(o.reg); return;
      case OperandTag::kNegReg: out("!{}", register_name(o.reg)); return;
      case OperandTag::kImm: immediate(o.imm, o.type); return;
      case OperandTag::kSpecial: special(o); return;
      case OperandTag::kSink: text_ += '_'; return;
      case OperandTag::kFunction: text_ += symbol_name(o.symbol); return;
      case OperandTag::kLabel: label(o.first); return;
      case OperandTag::kBranchTable: out("$table_{}", o.first); return;
      case OperandTag::kSymbol:
        text_ += symbol_name(o.symbol);
        offset(o);
        return;
      case OperandTag::kVector:
        text_ += '{';
        for (uint32_t i = 0; i < o.count; ++i) {
          if (i) text_ += ", ";
          operand(in.elements[o.first + i], in, false);
        }
        text_ += '}';
        return;
      case OperandTag::kAddress:
        text_ += '[';
        if (o.reg != kNoReg)
          text_ += register_name(o.reg);
        else
          text_ += symbol_name(o.symbol);
        if (o.reg == kNoReg && o.symbol.kind == SymbolKind::kNone)
          out("{}", static_cast<int64_t>(o.imm));
        else
          offset(o);
        if (!open_bracket) text_ += ']';
        return;
    }
  }

  void args(const Instr& in, size_t begin, size_t end) {
    text_ += '(';
    for (size_t i = begin; i < end; ++i) {
      if (i != begin) text_ += ", ";
      operand(in.args[i], in, false);
    }
    text_ += ')';
  }

  void call_operands(const Instr& in) {
    if (in.returns != 0) {
      args(in, 0, in.returns);
      text_ += ", ";
    }
    for (const Operand& o : in.operands) operand(o, in, false);
    if (in.args.size() > in.returns) {
      text_ += ", ";
      args(in, in.returns, in.args.size());
    }
  }

  void instr(const Instr& in) {
    if (in.guard != kNoReg) out("@{}{} ", in.guard_negated ? "!" : "", register_name(in.guard));
    const Form& form = in.def->form;
    text_ += form.mnemonic;
    for (int s = 0; s < form.slot_count; ++s)
      if (in.slots[s] >= 0) out(".{}", form.word(s, in.slots[s]));
    bool first = true;
    if (in.def->role == Role::kCall) {
      text_ += ' ';
      call_operands(in);
      text_ += ';';
      return;
    }
    for (size_t i = 0; i < in.operands.size(); ++i) {
      const OperandForm& f = form.operands[i];
      if (in.operands[i].tag == OperandTag::kNone || f.implicit) continue;
      text_ += first ? " " : f.pair_second ? "|" : ", ";
      first = false;
      const bool more =
          i + 1 < in.operands.size() && form.operands[i + 1].in_bracket && in.operands[i + 1].tag != OperandTag::kNone;
      operand(in.operands[i], in, more);
      if (f.in_bracket && !more) text_ += ']';
    }
    text_ += ';';
  }

  const Module& module_;
  const Function* fn_ = nullptr;
  std::string text_;
  std::vector<std::string> registers_, variables_;
  std::unordered_map<RegId, std::string> fixed_;
  bool as_written_ = false;
};

}  // namespace

std::string print(const Module& module) { return Printer(module).print_module(); }

std::string print(const Module& module, const Function& function, const Instr& instr) {
  return Printer(module).print_instr(function, instr);
}

}  // namespace warplens::ptx
