// SPDX-License-Identifier: Apache-2.0
#include "compile/wide_copies.h"

#include <fmt/format.h>

#include <cstdlib>
#include <regex>
#include <string_view>

namespace warplens {
namespace {

constexpr unsigned kWide = 16, kMostBytes = 64;

struct Copy {
  std::string to, from;  ///< typed pointers: "ptr %14", "ptr addrspace(3) @tile"
  unsigned bytes = 0;
  std::string place;  ///< ", !dbg !22" or empty
};

/// One pointer argument with its attributes: the type, "align N" somewhere, the name last.
const char* const kPointer = R"((ptr(?: addrspace\(\d+\))?) (?:[^,]*? )?align (\d+) (?:[^,]*? )?([%@][\w.$-]+))";

bool parse(const std::string& line, Copy& copy) {
  static const std::regex form(std::string(R"(^\s*(?:tail )?call void @llvm\.memcpy\.p\d+\.p\d+\.i64\()") + kPointer +
                               ", " + kPointer + R"(, i64 (\d+), i1 false\)(.*)$)");
  std::smatch m;
  if (!std::regex_match(line, m, form)) return false;
  copy.bytes = static_cast<unsigned>(std::strtoul(m[7].str().c_str(), nullptr, 10));
  const auto aligned = [&](int group) { return std::strtoul(m[group].str().c_str(), nullptr, 10) % kWide == 0; };
  if (!aligned(2) || !aligned(5) || copy.bytes % kWide != 0 || copy.bytes == 0 || copy.bytes > kMostBytes) return false;
  copy.to = m[1].str() + " " + m[3].str();
  copy.from = m[4].str() + " " + m[6].str();
  static const std::regex place(R"(, !dbg !\d+)");
  std::smatch p;
  const std::string rest = m[8];
  if (std::regex_search(rest, p, place)) copy.place = p[0];
  return true;
}

/// Loads, then stores; `number` makes the names unique in the text.
std::string written_out(const Copy& c, unsigned number) {
  std::string out;
  const auto address = [&](const char* side, const std::string& base, unsigned at) {
    const std::string name = fmt::format("%wide.{}{}.{}", side, number, at);
    out += fmt::format("  {} = getelementptr inbounds i8, {}, i64 {}{}\n", name, base, at, c.place);
    return base.substr(0, base.rfind(' ')) + " " + name;
  };
  for (unsigned at = 0; at < c.bytes; at += kWide) {
    const std::string from = address("f", c.from, at);
    out += fmt::format("  %wide.v{}.{} = load <4 x i32>, {}, align 16{}\n", number, at, from, c.place);
  }
  for (unsigned at = 0; at < c.bytes; at += kWide) {
    const std::string to = address("t", c.to, at);
    out += fmt::format("  store <4 x i32> %wide.v{}.{}, {}, align 16{}\n", number, at, to, c.place);
  }
  return out;
}

}  // namespace

std::string widen_copies(const std::string& ir) {
  std::string out;
  out.reserve(ir.size());
  unsigned number = 0;
  for (size_t begin = 0; begin < ir.size();) {
    size_t end = ir.find('\n', begin);
    if (end == std::string::npos) end = ir.size();
    const std::string_view line(ir.data() + begin, end - begin);
    Copy copy;
    if (line.find("call void @llvm.memcpy.") != std::string_view::npos && parse(std::string(line), copy)) {
      out += written_out(copy, number++);
    } else {
      out += line;
      out += '\n';
    }
    begin = end + 1;
  }
  return out;
}

}  // namespace warplens
