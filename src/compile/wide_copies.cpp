// SPDX-License-Identifier: Apache-2.0
#include "compile/wide_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string_view>

namespace warplens {
namespace {

constexpr unsigned kWide = 16, kMostBytes = 64;

struct Copy {
  std::string to, from;  ///< typed pointers: "ptr %14", "ptr addrspace(3) @tile"
  unsigned to_align = 0, from_align = 0, bytes = 0;
  std::string place;   ///< ", !dbg !22" or empty
  std::string fields;  ///< the name of the metadata that lists the object's fields, "!23", or empty
};

/// One pointer argument with its attributes: the type, "align N" somewhere, the name last.
const char* const kPointer = R"((ptr(?: addrspace\(\d+\))?) (?:[^,]*? )?align (\d+) (?:[^,]*? )?([%@][\w.$-]+))";

bool parse(const std::string& line, Copy& copy) {
  static const std::regex form(std::string(R"(^\s*(?:tail )?call void @llvm\.memcpy\.p\d+\.p\d+\.i64\()") + kPointer +
                               ", " + kPointer + R"(, i64 (\d+), i1 false\)(.*)$)");
  std::smatch m;
  if (!std::regex_match(line, m, form)) return false;
  const auto number = [&](int group) {
    return static_cast<unsigned>(std::strtoul(m[group].str().c_str(), nullptr, 10));
  };
  copy.bytes = number(7);
  copy.to_align = number(2);
  copy.from_align = number(5);
  if (copy.bytes % kWide != 0 || copy.bytes == 0 || copy.bytes > kMostBytes) return false;
  copy.to = m[1].str() + " " + m[3].str();
  copy.from = m[4].str() + " " + m[6].str();
  static const std::regex place(R"(, !dbg !\d+)");
  std::smatch p;
  const std::string rest = m[8];
  if (std::regex_search(rest, p, place)) copy.place = p[0];
  static const std::regex fields(R"(, !tbaa\.struct (!\d+))");
  if (std::regex_search(rest, p, fields)) copy.fields = p[1];
  return true;
}

/// Loads, then stores, of vectors of iN, N = element_bytes * 8; `number` makes the names unique in the text.
std::string written_out(const Copy& c, const char* name, unsigned number, unsigned element_bytes) {
  const std::string vector = fmt::format("<{} x i{}>", kWide / element_bytes, element_bytes * 8);
  std::string out;
  const auto address = [&](const char* side, const std::string& base, unsigned at) {
    const std::string place = fmt::format("%{}.{}{}.{}", name, side, number, at);
    out += fmt::format("  {} = getelementptr inbounds i8, {}, i64 {}{}\n", place, base, at, c.place);
    return base.substr(0, base.rfind(' ')) + " " + place;
  };
  for (unsigned at = 0; at < c.bytes; at += kWide) {
    const std::string from = address("f", c.from, at);
    out += fmt::format("  %{}.v{}.{} = load {}, {}, align 16{}\n", name, number, at, vector, from, c.place);
  }
  for (unsigned at = 0; at < c.bytes; at += kWide) {
    const std::string to = address("t", c.to, at);
    out += fmt::format("  store {} %{}.v{}.{}, {}, align 16{}\n", vector, name, number, at, to, c.place);
  }
  return out;
}

/// Copies the text line by line; `rewrite` may append something else for a line and say so.
std::string rewritten(const std::string& ir, const std::function<bool(std::string_view, std::string&)>& rewrite) {
  std::string out;
  out.reserve(ir.size());
  for (size_t begin = 0; begin < ir.size();) {
    size_t end = ir.find('\n', begin);
    if (end == std::string::npos) end = ir.size();
    const std::string_view line(ir.data() + begin, end - begin);
    if (!rewrite(line, out)) {
      out += line;
      out += '\n';
    }
    begin = end + 1;
  }
  return out;
}

bool is_copy(std::string_view line) { return line.find("call void @llvm.memcpy.") != std::string_view::npos; }

/// The smallest field in "i64 offset, i64 size, !tag, ..."; 0 where a field is not one number of 1, 2, 4 or 8 bytes
/// (an array is listed as one field).
unsigned smallest_field(std::string_view list) {
  unsigned smallest = kWide, numbers = 0;
  for (size_t at = list.find("i64 "); at != std::string_view::npos; at = list.find("i64 ", at + 1)) {
    if (numbers++ % 2 == 0) continue;  // the offset
    const unsigned long size = std::strtoul(std::string(list.substr(at + 4, 12)).c_str(), nullptr, 10);
    if (size != 1 && size != 2 && size != 4 && size != 8) return 0;
    smallest = std::min(smallest, static_cast<unsigned>(size));
  }
  return smallest < kWide ? smallest : 0;
}

/// Smallest fields of the objects that metadata lines "!23 = !{i64 ...}" list, by "!23".
std::map<std::string, unsigned, std::less<>> smallest_fields(const std::string& ir) {
  std::map<std::string, unsigned, std::less<>> out;
  constexpr std::string_view kBegin = " = !{i64 ";
  for (size_t begin = ir.find("\n!"); begin != std::string::npos; begin = ir.find("\n!", begin + 1)) {
    const std::string_view line(ir.data() + begin + 1, std::min(ir.find('\n', begin + 1), ir.size()) - begin - 1);
    const size_t name_end = line.find(kBegin);
    if (name_end == std::string_view::npos) continue;
    const unsigned smallest = smallest_field(line.substr(name_end));
    if (smallest != 0) out.emplace(line.substr(0, name_end), smallest);
  }
  return out;
}

}  // namespace

std::string widen_object_copies(const std::string& ir) {
  unsigned number = 0;
  std::map<std::string, unsigned, std::less<>> fields;
  if (ir.find("!tbaa.struct") != std::string::npos) fields = smallest_fields(ir);
  std::set<std::string, std::less<>> own;  // of the function: "ptr %5"
  return rewritten(ir, [&](std::string_view line, std::string& out) {
    if (line.starts_with("define ")) own.clear();
    if (const size_t at = line.find(" = alloca "); at != std::string_view::npos)
      own.insert("ptr " + std::string(line.substr(line.find('%'), at - line.find('%'))));
    Copy copy;
    if (!is_copy(line) || !parse(std::string(line), copy)) return false;
    const auto field = fields.find(copy.fields);
    // Both sides are objects of one type, which is aligned where the other side shows it.
    if (field == fields.end() || std::max(copy.to_align, copy.from_align) % kWide != 0) return false;
    if (own.contains(copy.to) && own.contains(copy.from)) return false;
    out += written_out(copy, "object", number++, field->second);
    return true;
  });
}

std::string widen_copies(const std::string& ir) {
  unsigned number = 0;
  return rewritten(ir, [&](std::string_view line, std::string& out) {
    Copy copy;
    if (!is_copy(line) || !parse(std::string(line), copy)) return false;
    if (copy.to_align % kWide != 0 || copy.from_align % kWide != 0) return false;
    out += written_out(copy, "wide", number++, 4);
    return true;
  });
}

}  // namespace warplens
