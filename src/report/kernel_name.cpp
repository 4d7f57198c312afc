// SPDX-License-Identifier: Apache-2.0
#include "report/kernel_name.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "report/source_text.h"

namespace warplens::report {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Position of the "(" that opens the parameter list at the end of a demangled function name, or npos.
size_t parameter_list(std::string_view name) {
  if (name.empty() || name.back() != ')') return std::string_view::npos;
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

void remove_all(std::string& text, std::string_view part) {
  for (size_t at; (at = text.find(part)) != std::string::npos;) text.erase(at, part.size());
}

/// Splits "int n, const T<a, b>* x" at its top-level commas.
std::vector<std::string_view> split_parameters(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '(' || list[i] == '<' || list[i] == '[' || list[i] == '{') ++depth;
    if (list[i] == ')' || list[i] == '>' || list[i] == ']' || list[i] == '}') --depth;
    if (list[i] != ',' || depth != 0) continue;
    parts.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(list.substr(begin));
  return parts;
}

/// "const float* __restrict__ A" -> "A"; nothing when the parameter has no name of its own.
std::string declared_name(std::string_view parameter) {
  parameter = parameter.substr(0, parameter.find('='));
  parameter = parameter.substr(0, parameter.find('['));
  while (!parameter.empty() && !is_word(parameter.back())) parameter.remove_suffix(1);
  size_t begin = parameter.size();
  while (begin > 0 && is_word(parameter[begin - 1])) --begin;
  static const std::set<std::string_view> kTypes = {"int",   "float",    "double", "char",  "bool",        "long",
                                                    "short", "unsigned", "size_t", "const", "__restrict__"};
  const std::string_view name = parameter.substr(begin);
  return begin == 0 || kTypes.count(name) != 0 ? std::string() : std::string(name);
}

/// The names of the kernel's parameters as its definition in `source` spells them; empty when it is not found.
std::vector<std::string> names_in_source(std::string_view source, std::string_view kernel) {
  for (size_t at = 0; (at = source.find(kernel, at)) != std::string_view::npos; at += kernel.size()) {
    const size_t after = at + kernel.size();
    if (after >= source.size() || source[after] != '(' || (at > 0 && is_word(source[at - 1]))) continue;
    // A definition or declaration has __global__ in front, with nothing that ends a statement between.
    const std::string_view before = source.substr(at > 300 ? at - 300 : 0, at > 300 ? 300 : at);
    const size_t global = before.rfind("__global__");
    if (global == std::string_view::npos || before.find_first_of(";}", global) != std::string_view::npos) continue;
    int depth = 0;
    size_t end = after;
    for (; end < source.size(); ++end) {
      if (source[end] == '(') ++depth;
      if (source[end] == ')' && --depth == 0) break;
    }
    std::vector<std::string> names;
    for (std::string_view p : split_parameters(source.substr(after + 1, end - after - 1)))
      names.push_back(declared_name(p));
    return names;
  }
  return {};
}

std::string base_name(const std::string& mangled) {
  std::string name = short_name(mangled);
  name = name.substr(0, name.find('<'));
  const size_t scope = name.rfind("::");
  return scope == std::string::npos ? name : name.substr(scope + 2);
}

}  // namespace

std::string demangled(const std::string& name) {
  // Without the prefix the demangler reads a type: a kernel called "e" would be "long double".
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return result;
}

std::string short_name(const std::string& name) {
  std::string text = demangled(name);
  if (text == name) return name;
  const size_t list = parameter_list(text);
  if (list != std::string::npos) text.erase(list);
  remove_all(text, "(anonymous namespace)::");
  // Templates demangle with their return type, which is always void for a kernel.
  if (text.rfind("void ", 0) == 0) text.erase(0, 5);
  return text;
}

std::string parameter_name(const events::KernelInfo& kernel, const std::string& parameter) {
  const size_t at = parameter.rfind("_param_");
  if (at == std::string::npos) return parameter;
  const size_t index = std::strtoul(parameter.c_str() + at + 7, nullptr, 10);
  const std::string base = base_name(kernel.name);
  for (const std::string& file : kernel.files) {
    const std::vector<std::string> names = names_in_source(source_file(file), base);
    if (index < names.size() && !names[index].empty()) return names[index];
  }
  return fmt::format("argument {}", index + 1);
}

}  // namespace warplens::report
