// SPDX-License-Identifier: Apache-2.0
// Case files: reading, and the kernel around an instruction.
#include "case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace warplens::ops_test {
namespace {

std::string trimmed(std::string_view v) {
  while (!v.empty() && v.front() == ' ') v.remove_prefix(1);
  while (!v.empty() && (v.back() == ' ' || v.back() == '\r')) v.remove_suffix(1);
  return std::string(v);
}
std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(trimmed(part));
  return parts;
}

/// "a:f32", "[m:u32]" or a constant: the operand as PTX.
bool read_operand(Case& c, const std::string& text, std::string& shown) {
  const bool cell = text.starts_with("[");
  const std::string body = cell ? text.substr(1, text.size() - 2) : text;
  const size_t colon = body.find(':');
  if (colon == std::string::npos) {
    shown = text;
    return true;
  }
  const std::string name = body.substr(0, colon);
  const auto type = ptx::type_named(body.substr(colon + 1));
  if (!type) return false;
  if (cell) {
    c.has_cell = true;
    c.cell_type = *type;
    c.inputs.insert(c.inputs.begin(), {"m", *type});
    shown = "[cell]";
    return true;
  }
  (name == "d" || name == "p" ? c.outputs : c.inputs).push_back({name, *type});
  shown = "r_" + name;
  return true;
}

bool read_header(Case& c, const std::string& line) {
  const std::vector<std::string> notes = split(line, ';');
  for (size_t i = 1; i < notes.size(); ++i) {
    if (notes[i].starts_with("tolerance ")) c.tolerance = std::stod(notes[i].substr(10));
    if (notes[i].starts_with("absolute ")) c.absolute = std::stod(notes[i].substr(9));
  }
  const size_t space = notes[0].find(' ');
  if (space == std::string::npos) return false;
  c.opcode = notes[0].substr(0, space);
  for (const std::string& operand : split(notes[0].substr(space + 1), ',')) {
    std::string joined;
    for (const std::string& part : split(operand, '|')) {
      std::string shown;
      if (!read_operand(c, part, shown)) return false;
      joined += (joined.empty() ? "" : "|") + shown;
    }
    c.operands += (c.operands.empty() ? "" : ", ") + joined;
  }
  if (c.has_cell) c.outputs.push_back({"m", c.cell_type});
  return true;
}

bool read_row(Case& c, const std::string& line, int number) {
  const size_t arrow = line.find("->");
  if (arrow == std::string::npos) return false;
  CaseRow row;
  row.line = number;
  const auto words = [](const std::string& text, std::vector<uint64_t>& to) {
    std::istringstream in(text);
    for (std::string w; in >> w;) {
      if (w.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
      to.push_back(std::stoull(w, nullptr, 16));
    }
    return true;
  };
  if (!words(line.substr(0, arrow), row.inputs) || !words(line.substr(arrow + 2), row.outputs)) return false;
  if (row.inputs.size() != c.inputs.size() || row.outputs.size() != c.outputs.size()) return false;
  c.rows.push_back(std::move(row));
  return true;
}

/// The type that a register of the case is declared with: halves and packed values are held untyped.
std::string declared(ptx::Type t) {
  if (t == ptx::Type::kPred || t == ptx::Type::kF32 || t == ptx::Type::kF64) return std::string(ptx::name_of(t));
  return fmt::format("b{}", std::max(16u, ptx::bits_of(t)));
}

}  // namespace

std::vector<std::string> case_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(WARPLENS_OPS_CASES))
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<Case> read_cases(const std::string& mnemonic, std::string& error) {
  std::vector<Case> cases;
  std::ifstream in(fmt::format("{}/{}.txt", WARPLENS_OPS_CASES, mnemonic));
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (trimmed(line).empty() || line[0] == '#') continue;
    bool good = false;
    if (line[0] == ' ') {
      good = !cases.empty() && read_row(cases.back(), line, number);
    } else {
      cases.emplace_back().line = number;
      good = read_header(cases.back(), line);
    }
    if (!good) error += fmt::format("{}.txt:{}: cannot read '{}'\n", mnemonic, number, line);
  }
  return cases;
}

std::string kernel_text(const Case& c, Operands operands) {
  // The instruction stands alone on its line (kInstructionLine); all that leads to it is on the one before.
  std::string declare, load, store;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const auto& [name, type] = c.inputs[i];
    const unsigned bits = ptx::bits_of(type);
    load += fmt::format("ld.global.u64 t64, [in+{}]; ", 8 * i);
    if (c.has_cell && i == 0) {
      load += bits == 64 ? "" : fmt::format("cvt.u{0}.u64 t{0}, t64; ", bits);
      load += fmt::format("st.{}.b{} [cell], t{}; ",
                          c.opcode.find(".shared") != std::string::npos ? "shared" : "global", bits, bits);
      continue;
    }
    declare += fmt::format(".reg .{} r_{}; ", declared(type), name);
    if (bits == 1)
      load += fmt::format("setp.ne.u64 r_{}, t64, 0; ", name);
    else if (bits == 64)
      load += fmt::format("mov.b64 r_{}, t64; ", name);
    else
      load += fmt::format("cvt.u{0}.u64 t{0}, t64; mov.b{0} r_{1}, t{0}; ", std::max(16u, bits), name);
  }
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    const auto& [name, type] = c.outputs[i];
    const unsigned bits = ptx::bits_of(type);
    std::string value = fmt::format("r_{}", name);
    if (c.has_cell && i + 1 == c.outputs.size()) {
      store += fmt::format("ld.{}.b{} t{}, [cell]; ",
                           c.opcode.find(".shared") != std::string::npos ? "shared" : "global", bits, bits);
      value = fmt::format("t{}", bits);
    } else {
      declare += fmt::format(".reg .{} {}; ", declared(type), value);
    }
    if (bits == 1)
      store += fmt::format("selp.u64 t64, 1, 0, {}; ", value);
    else if (bits == 64)
      store += fmt::format("mov.b64 t64, {}; ", value);
    else
      store += fmt::format("mov.b{0} t{0}, {1}; cvt.u64.u{0} t64, t{0}; ", std::max(16u, bits), value);
    store += fmt::format("st.global.u64 [out+{}], t64; ", 8 * i);
  }
  std::string cell;
  if (c.has_cell && c.opcode.find(".shared") != std::string::npos)
    cell = ".shared .align 8 .b8 cells[2048]; mov.u64 cell, cells; mad.wide.u32 cell, i, 8, cell; ";
  else if (c.has_cell)
    cell = fmt::format("add.u64 cell, out, {}; ", 8 * kCaseOutputs - 8);
  const bool by_lane = operands == Operands::kByLane;
  return fmt::format(
      ".version 8.6 .target sm_90 .address_size 64\n"
      ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u32 pn) {{ .reg .b32 i, n, t32; .reg .b64 in, out, "
      "t64, cell; .reg .b16 t16; .reg .pred q; {}\n"
      "mov.u32 i, %tid.x; ld.param.u32 n, [pn]; {}ld.param.u64 in, [pin]; mad.wide.u32 in, {}, {}, in; ld.param.u64 "
      "out, "
      "[pout]; mad.wide.u32 out, i, {}, out; {}{}\n"
      "{} {};\n"
      "{}ret; }}\n",
      declare, by_lane ? "setp.ge.u32 q, i, n; @q ret; " : "", by_lane ? "i" : "n", 8 * kCaseInputs, 8 * kCaseOutputs,
      cell, load, c.opcode, c.operands, store);
}

bool agrees(const Case& c, size_t output, uint64_t expected, uint64_t actual) {
  if (expected == actual) return true;
  if (c.tolerance == 0 && c.absolute == 0) return false;
  const ptx::Type type = c.outputs[output].type;
  const auto value = [&](uint64_t v) {
    return type == ptx::Type::kF64 ? std::bit_cast<double>(v) : double{std::bit_cast<float>(static_cast<uint32_t>(v))};
  };
  if (type != ptx::Type::kF64 && type != ptx::Type::kF32) {  // halves: neighbours in their bits
    bool near = true;
    for (unsigned at = 0; at < ptx::bits_of(type); at += 16) {
      const auto e = static_cast<int16_t>(expected >> at), a = static_cast<int16_t>(actual >> at);
      near &= e == a || ((e < 0) == (a < 0) && std::abs(e - a) <= c.tolerance && (e & 0x7fff) < 0x7f80);
    }
    return near;
  }
  const double e = value(expected), a = value(actual);
  if (!std::isfinite(e) || !std::isfinite(a)) return false;
  if (std::fabs(e - a) <= c.absolute) return true;
  const int mantissa = type == ptx::Type::kF64 ? 52 : 23, least = type == ptx::Type::kF64 ? -1074 : -149;
  const int exponent = e == 0 ? least : std::max(std::ilogb(e) - mantissa, least);
  return std::fabs(e - a) <= std::ldexp(c.tolerance, exponent);
}

}  // namespace warplens::ops_test
