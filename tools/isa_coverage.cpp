// SPDX-License-Identifier: Apache-2.0
// Writes docs/isa-coverage.md from the rows of the instruction set: what runs, how, and what is refused with which
// reason.
//   isa_coverage            prints the page
//   isa_coverage --check F  exits with 1 when F is not what it would print
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "ops/instruction_set.h"

namespace warplens {
namespace {

using ptx::OpDef;
using ptx::Role;

std::string how_it_runs(const OpDef& row) {
  if (!row.unsupported.empty()) return fmt::format("refused: {}", row.unsupported);
  switch (row.role) {
    case Role::kValue:
    case Role::kWarp: return row.lower ? "generated code" : "reference function";
    case Role::kLoad:
    case Role::kStore: return "memory access";
    case Role::kAtomic:
    case Role::kReduction: return "atomic";
    case Role::kNoEffect: return "accepted, no effect here";
    case Role::kFence: return "accepted, every access is ordered";
    default: return "control flow";
  }
}

struct Tally {
  int rows = 0, run = 0;
};

std::string page() {
  std::vector<std::string> order;
  std::map<std::string, std::string> tables;
  std::map<std::string, Tally> tallies;
  Tally total;
  for (const OpDef* row : ops::instruction_set().all()) {
    const std::string section(row->spec.section.substr(0, row->spec.section.find(':')));
    if (!tables.contains(section)) order.push_back(section);
    std::string syntax(row->form.text);
    for (size_t at = 0; (at = syntax.find('|', at)) != std::string::npos; at += 2) syntax.insert(at, 1, '\\');
    tables[section] += fmt::format("| `{}` | {}.{} | sm_{} | {} |\n", syntax, row->spec.ptx_major, row->spec.ptx_minor,
                                   row->spec.sm, how_it_runs(*row));
    for (Tally* t : {&tallies[section], &total}) {
      ++t->rows;
      t->run += row->unsupported.empty() ? 1 : 0;
    }
  }
  std::string text =
      "# Instruction coverage\n\nWritten by `isa_coverage` from the rows in src/ops; do not edit. The syntax is the "
      "one rows "
      "are written in\n(src/ptx/form.h): `{.x}` may be left out, `.x = {...}` lists what a modifier can be. "
      "\"Generated code\" "
      "means that the\ninstruction becomes SIMD code of its own; a \"reference function\" is called for each lane, "
      "which is "
      "correct and slow.\n\n| section of the PTX manual | rows | run |\n|---|---|---|\n";
  for (const std::string& section : order)
    text += fmt::format("| {} | {} | {} |\n", section, tallies[section].rows, tallies[section].run);
  text += fmt::format("| all | {} | {} |\n", total.rows, total.run);
  for (const std::string& section : order)
    text += fmt::format("\n## {}\n\n| syntax | PTX | target | here |\n|---|---|---|---|\n{}", section, tables[section]);
  return text;
}

int check(const char* file) {
  std::ifstream in(file);
  const std::string held{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (held == page()) return 0;
  fmt::print(stderr, "{} is not current: write it anew with isa_coverage > {}\n", file, file);
  return 1;
}

}  // namespace
}  // namespace warplens

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--check") return warplens::check(argv[2]);
  if (argc != 1) {
    fmt::print(stderr, "usage: isa_coverage [--check FILE]\n");
    return 2;
  }
  fmt::print("{}", warplens::page());
  return 0;
}
