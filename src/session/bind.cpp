// SPDX-License-Identifier: Apache-2.0
#include "session/bind.h"

#include <fmt/format.h>

#include <cctype>
#include <cstring>

namespace warplens::session {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

/// A structure passed by value: .param .align 8 .b8 name[24].
bool is_structure(const ptx::Param& p) { return p.bytes != ptx::bytes_of(p.type); }

bool holds_address(const ptx::Param& p) { return !is_structure(p) && p.bytes == 8 && !ptx::is_float(p.type); }

/// The name of our type for a PTX type: "i32" for .u32 and .s32, "f16" for .f16.
std::string type_example(ptx::Type type) {
  if (ptx::is_float(type)) return fmt::format("{}:0.5", ptx::name_of(type));
  return fmt::format("i{}:5", ptx::bits_of(type));
}

std::string given(const Argument& a) {
  switch (a.kind) {
    case Argument::Kind::kArray: return fmt::format("the array {}", describe(a.array.type, a.array.shape));
    case Argument::Kind::kScalar: return fmt::format("{} ({} bytes)", a.text, a.bytes.size());
    case Argument::Kind::kPointer: return fmt::format("the pointer {}", a.text);
    case Argument::Kind::kBytes: return fmt::format("{} bytes", a.bytes.size());
  }
  return a.text;
}

/// Whether the value of a scalar is what the parameter's type says. Untyped bits (.b32) take everything of their size.
bool fits(const ptx::Param& p, const Argument& a) {
  if (a.bytes.size() != p.bytes) return false;
  if (a.kind == Argument::Kind::kBytes || is_structure(p)) return true;
  const char kind = ptx::info_of(p.type).kind;
  if (kind == 'b') return true;
  return (kind == 'f') == (kind_of(a.type) == 'f');
}

bool fits_parameter(const ptx::Param& p, const Argument& a) {
  switch (a.kind) {
    case Argument::Kind::kArray:
      return holds_address(p) || (is_structure(p) && !a.output && a.array.bytes.size() == p.bytes);
    case Argument::Kind::kPointer: return holds_address(p);
    case Argument::Kind::kScalar:
    case Argument::Kind::kBytes: return fits(p, a);
  }
  return false;
}

std::string type_text(const ptx::Param& p) {
  return is_structure(p) ? fmt::format(".{} [{}]", ptx::name_of(p.type), p.bytes / ptx::bytes_of(p.type))
                         : fmt::format(".{}", ptx::name_of(p.type));
}

std::string parameter_list(const ptx::Function& entry) {
  std::string list;
  for (size_t i = 0; i < entry.params.size(); ++i) {
    const ptx::Param& p = entry.params[i];
    list += fmt::format("{}{} {}", i == 0 ? "" : "; ", i + 1, type_text(p));
    // Compilers number them, NAME_param_0: with the kernel's mangled name in front that says nothing and fills screens.
    if (!p.name.starts_with(entry.name)) list += " " + p.name;
  }
  return entry.params.empty() ? "it has no parameters" : "its parameters: " + list;
}

}  // namespace

SourcePos position_of(const ptx::Module& module, const ptx::Function& entry, size_t parameter) {
  const std::string& text = module.text;
  const std::string& name = entry.params.at(parameter).name;
  SourcePos pos{1, 1};
  size_t at = 0;
  const auto step = [&] {
    if (text[at++] == '\n')
      pos = {pos.line + 1, 1};
    else
      ++pos.column;
  };
  while (at < text.size() && pos.line < entry.pos.line) step();
  for (; at + name.size() <= text.size(); step()) {
    if (text[at] == '{') break;  // the body: the list is behind us
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const bool ends = at + name.size() == text.size() || !is_word(text[at + name.size()]);
    if (begins && ends && text.compare(at, name.size(), name) == 0) return pos;
  }
  return entry.pos;
}

std::string expectation_of(const ptx::Param& p) {
  if (is_structure(p)) return fmt::format("{} bytes by value (bytes:..., or an array of that size)", p.bytes);
  if (holds_address(p)) return "an array, ptr:null, or a number such as i64:5";
  return fmt::format("a number such as {}", type_example(p.type));
}

Status check_arguments(const Module& module, const ptx::Function& entry, const std::vector<Argument>& arguments) {
  Diagnostics faults;
  const std::string& file = module.ptx().file_name;
  if (arguments.size() != entry.params.size()) {
    const bool few = arguments.size() < entry.params.size();
    faults.push_back(make_error_at(file, few ? position_of(module.ptx(), entry, arguments.size()) : entry.pos,
                                   fmt::format("{} has {} parameters, and {} arguments are given", entry.name,
                                               entry.params.size(), arguments.size()),
                                   parameter_list(entry)));
  }
  for (size_t i = 0; i < std::min(arguments.size(), entry.params.size()); ++i) {
    const ptx::Param& p = entry.params[i];
    if (fits_parameter(p, arguments[i])) continue;
    faults.push_back(make_error_at(file, position_of(module.ptx(), entry, i),
                                   fmt::format("parameter {} of {} is {} ({} bytes), and argument {} is {}", i + 1,
                                               entry.name, type_text(p), p.bytes, i + 1, given(arguments[i])),
                                   "give " + expectation_of(p)));
  }
  if (!faults.empty()) return faults;
  return Done{};
}

Result<BoundArguments> bind_arguments(Session& session, const Module& module, const ptx::Function& entry,
                                      const std::vector<Argument>& arguments) {
  if (Status good = check_arguments(module, entry, arguments); !good) return good.error();
  BoundArguments bound;
  bound.parameters.resize(entry.param_bytes);
  bound.addresses.assign(arguments.size(), 0);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    if (a.kind != Argument::Kind::kArray || !holds_address(entry.params[i])) continue;
    const auto address = session.allocate(a.array.bytes.size());
    if (!address) return address.error();
    bound.addresses[i] = *address;
    if (Status copied = session.copy_in(*address, a.array.bytes.data(), a.array.bytes.size()); !copied)
      return copied.error();
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    uint8_t* to = bound.parameters.data() + entry.params[i].offset;
    if (a.kind == Argument::Kind::kPointer) {
      const uint64_t address = a.target == 0 ? 0 : bound.addresses[a.target - 1] + a.offset;
      std::memcpy(to, &address, sizeof address);
    } else if (holds_address(entry.params[i]) && a.kind == Argument::Kind::kArray) {
      std::memcpy(to, &bound.addresses[i], sizeof(uint64_t));
    } else {
      const std::vector<uint8_t>& bytes = a.kind == Argument::Kind::kArray ? a.array.bytes : a.bytes;
      std::memcpy(to, bytes.data(), bytes.size());
    }
  }
  return bound;
}

}  // namespace warplens::session
