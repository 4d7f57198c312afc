// SPDX-License-Identifier: Apache-2.0
// The estimate of registers per thread against ptxas 13.0 for sm_90 (truth/ptx/registers.csv, by `ptxas -v`): kernels
// that nvcc compiled in one table (truth/ptx/{access,apps,ladder}.ptx), others in a second. The model's numbers must be
// those that fit one half of the first best; the error is that of the other half, and of the second table's kernels,
// which no number was fitted to. A launch takes 16 registers at least (docs/occupancy.md), so both sides do here.
#include "machine/registers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "base/diagnostic.h"
#include "machine/register_model.h"
#include "ops/instruction_set.h"
#include "ptx/parser.h"
#include "support/csv_cells.h"

namespace warplens::session {
namespace {

constexpr double kLeast = 16;

struct Known {
  std::string name;
  double told = 0;       ///< by ptxas, at least kLeast
  double estimated = 0;  ///< by the shipped model and the kernel's bounds
  uint32_t pressure = 0, loads = 0;
};

std::string text_of(const std::string& name) {
  std::ifstream in(WARPLENS_TEST_DATA "/../../" + name);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Kernels of one file that the table has, by name.
std::vector<Known> kernels_of(const std::string& file) {
  std::map<std::string, double> told;
  std::istringstream table(text_of("truth/ptx/registers.csv"));
  for (std::string line; std::getline(table, line);) {
    const std::vector<std::string> cells = test::cells_of(line);
    if (cells[0] == file) told[cells[1]] = std::stod(cells[2]);
  }
  std::map<std::string, Known> found;
  const auto module = ptx::parse(text_of(file), file, ops::instruction_set());
  EXPECT_TRUE(module.has_value()) << file;
  if (!module) return {};
  for (const ptx::Function& f : module->functions) {
    if (!f.is_entry || !told.contains(f.name)) continue;
    const ir::Kernel graph = ir::build(f);
    const analysis::Liveness live = analysis::liveness(graph);
    found[f.name] = {f.name, std::max(kLeast, told[f.name]),
                     std::max(kLeast, double(machine::estimated_registers(graph, live))),
                     machine::register_pressure(graph, live), machine::words_in_flight(graph)};
  }
  EXPECT_EQ(found.size(), told.size()) << file;
  std::vector<Known> kernels;
  for (auto& [name, kernel] : found) kernels.push_back(std::move(kernel));
  return kernels;
}

std::vector<Known> kernels_of(std::initializer_list<const char*> files) {
  std::vector<Known> all;
  for (const char* file : files)
    for (Known& k : kernels_of(std::string(file))) all.push_back(std::move(k));
  return all;
}

/// Every second one, from `first` on.
std::vector<Known> half(const std::vector<Known>& all, size_t first) {
  std::vector<Known> some;
  for (size_t i = first; i < all.size(); i += 2) some.push_back(all[i]);
  return some;
}

double error_of(const Known& k, double estimated) { return std::abs(std::max(kLeast, estimated) - k.told) / k.told; }

double mean_error(const machine::RegisterModel& model, const std::vector<Known>& kernels) {
  double sum = 0;
  for (const Known& k : kernels) sum += error_of(k, machine::modelled_registers(model, k.pressure, k.loads));
  return sum / static_cast<double>(kernels.size());
}

struct Errors {
  double median = 0, three_quarters = 0, largest = 0;
  size_t kernels = 0;
};

Errors errors_of(const std::vector<Known>& kernels, double above) {
  std::vector<double> errors;
  for (const Known& k : kernels)
    if (k.told > above) errors.push_back(error_of(k, k.estimated));
  std::sort(errors.begin(), errors.end());
  if (errors.empty()) return {};
  return {errors[errors.size() / 2], errors[errors.size() * 3 / 4], errors.back(), errors.size()};
}

void print(const char* what, const Errors& e) {
  std::printf("%-46s %3zu kernels: median error %4.1f %%, three quarters within %4.1f %%, largest %3.0f %%\n", what,
              e.kernels, 100 * e.median, 100 * e.three_quarters, 100 * e.largest);
}

TEST(RegisterEstimate, is_within_15_percent_on_kernels_that_it_was_not_fitted_to) {
  const std::vector<Known> all = kernels_of({"truth/ptx/access.ptx", "truth/ptx/apps.ptx", "truth/ptx/ladder.ptx"});
  ASSERT_GT(all.size(), 75u);
  const std::vector<Known> fitted = half(all, 0), held_out = half(all, 1);
  for (const Known& k : all)
    std::printf("%-70.70s ptxas %3.0f  estimated %3.0f  pressure %3u  loads %3u\n", k.name.c_str(), k.told, k.estimated,
                k.pressure, k.loads);
  print("the half that the model was fitted to", errors_of(fitted, 0));
  print("  of these above 16 registers", errors_of(fitted, 16));
  print("the other half", errors_of(held_out, 0));
  print("  of these above 16 registers", errors_of(held_out, 16));
  EXPECT_LE(errors_of(held_out, 0).median, 0.15);
  EXPECT_LE(errors_of(held_out, 16).median, 0.15);
  EXPECT_LE(errors_of(all, 0).median, 0.15);
  EXPECT_LE(errors_of(all, 16).median, 0.15);
}

TEST(RegisterEstimate, has_the_numbers_that_fit_best) {
  const std::vector<Known> fitted =
      half(kernels_of({"truth/ptx/access.ptx", "truth/ptx/apps.ptx", "truth/ptx/ladder.ptx"}), 0);
  const machine::RegisterModel shipped;
  double best = 1;
  for (uint32_t own = 0; own <= 16; ++own)
    for (const uint32_t full : {24u, 32u, 40u, 48u})
      for (uint32_t some = 2; some <= 10; ++some) {
        const double error = mean_error({own, full, some}, fitted);
        if (error < best - 1e-9)
          std::printf("own %u, full SM %u, 1/%u: mean error %.2f %%\n", own, full, some, 100 * error);
        best = std::min(best, error);
      }
  EXPECT_NEAR(mean_error(shipped, fitted), best, 1e-9);
}

TEST(RegisterEstimate, of_other_code) {
  const std::vector<Known> others =
      kernels_of({"bench/kernels.ptx", "truth/src/loops.ptx", "truth/ptx/warp_costs.ptx"});
  ASSERT_GT(others.size(), 250u);
  for (const char* file : {"bench/kernels.ptx", "truth/src/loops.ptx", "truth/ptx/warp_costs.ptx"}) {
    const std::vector<Known> some = kernels_of(std::string(file));
    print(file, errors_of(some, 0));
    print("  of these above 16 registers", errors_of(some, 16));
  }
  EXPECT_LE(errors_of(others, 0).median, 0.15);
}

}  // namespace
}  // namespace warplens::session
