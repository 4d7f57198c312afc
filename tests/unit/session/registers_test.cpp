// SPDX-License-Identifier: Apache-2.0
// The estimate of registers per thread against what an H200's profiler reported for the probe programs
// (truth/h200/*.csv, column regs). Prints the table; asks that the median error stays within 15 %.
#include "machine/registers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "base/diagnostic.h"
#include "ops/instruction_set.h"
#include "passes/inline_calls.h"
#include "ptx/parser.h"
#include "report/kernel_name.h"
#include "support/csv_cells.h"

namespace warplens::session {
namespace {

std::string text_of(const std::string& name) {
  std::ifstream in(WARPLENS_TEST_DATA "/../../truth/" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// "void mm_at_b<32, true, 1>(float const*, ...)" and the profiler's "void mm_at_b<32, 1, 1>(const float *, ...)" are
/// "mm_at_b<32,1,1>".
std::string key_of(std::string name) {
  name = name.substr(0, name.find('('));
  name = std::regex_replace(name, std::regex("\\(bool\\)|\\(int\\)|^void "), "");
  name = std::regex_replace(name, std::regex("true"), "1");
  name = std::regex_replace(name, std::regex("false"), "0");
  return std::regex_replace(name, std::regex(" "), "");
}

struct Estimate {
  uint32_t registers = 0, pressure = 0;
};

std::map<std::string, Estimate> estimates_of(const std::string& ptx) {
  std::map<std::string, Estimate> found;
  auto module = ptx::parse(text_of(ptx), ptx, ops::instruction_set());
  EXPECT_TRUE(module.has_value());
  if (!module) return found;
  for (const ptx::Function& f : module->functions) {
    if (!f.is_entry) continue;
    const ir::Kernel graph = ir::build(f);
    const analysis::Liveness live = analysis::liveness(graph);
    found[key_of(report::demangled(f.name))] = {machine::estimated_registers(graph, live),
                                                machine::register_pressure(graph, live)};
  }
  return found;
}

TEST(RegisterEstimate, is_within_15_percent_of_the_profiler_in_the_median) {
  std::map<std::string, std::pair<double, double>> kernels;  // measured, estimated: each kernel once
  std::map<std::string, uint32_t> pressure;
  for (const char* name : {"access", "apps", "ladder"}) {
    const auto estimates = estimates_of(std::string("ptx/") + name + ".ptx");
    std::istringstream table(text_of(std::string("h200/") + name + ".csv"));
    std::string line;
    std::getline(table, line);
    while (std::getline(table, line)) {
      const std::vector<std::string> cells = test::cells_of(line);
      const auto found = estimates.find(key_of(cells[1]));
      if (found == estimates.end()) continue;  // of a library
      // A launch takes 16 registers at least (docs/occupancy.md).
      kernels[found->first] = {std::stod(cells[4]), std::max(16.0, double(found->second.registers))};
      pressure[found->first] = found->second.pressure;
    }
  }
  ASSERT_GT(kernels.size(), 60u);
  std::vector<double> errors, above;
  for (const auto& [name, both] : kernels) {
    errors.push_back(std::abs(both.second - both.first) / both.first);
    if (both.first > 16) above.push_back(errors.back());
    std::printf("%-44s measured %3.0f  estimated %3.0f  error %3.0f %%  pressure %u\n", name.c_str(), both.first,
                both.second, 100 * errors.back(), pressure[name]);
  }
  std::sort(errors.begin(), errors.end());
  std::printf("%zu kernels: median error %.1f %%, three quarters within %.1f %%, largest %.0f %%\n", errors.size(),
              100 * errors[errors.size() / 2], 100 * errors[errors.size() * 3 / 4], 100 * errors.back());
  EXPECT_LE(errors[errors.size() / 2], 0.15);
  std::sort(above.begin(), above.end());
  std::printf("%zu of them measured above 16: median error %.1f %%\n", above.size(), 100 * above[above.size() / 2]);
  EXPECT_LE(above[above.size() / 2], 0.15);
}

}  // namespace
}  // namespace warplens::session
