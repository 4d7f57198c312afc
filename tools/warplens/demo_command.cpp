// SPDX-License-Identifier: Apache-2.0
#include "warplens/demo_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>

#include "report/comparison_view.h"
#include "report/output_file.h"
#include "report/run_report.h"
#include "report/text_style.h"
#include "warplens/child.h"
#include "warplens/exit_codes.h"
#include "warplens/help.h"
#include "warplens/installation.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

constexpr const char* kIntroduction =
    "Two CUDA programs compute C = alpha A B + beta C. They differ in one thing: whether neighbouring threads work on "
    "neighbouring rows or on neighbouring columns of C. Both run here on the CPU, and every memory access of every "
    "warp (32 threads that execute together) is counted.";

constexpr const char* kConclusion =
    "A request is one memory instruction of a warp; a sector is 32 bytes, the unit in which a GPU moves memory; ideal "
    "is what a request would need if its addresses lay side by side.";

/// Measured with Nsight Compute, nvcc 13.0, cold caches: truth/h200/examples.csv.
constexpr const char* kMeasured =
    "A real H200 counts the same requests and sectors for these two programs, and takes 557 us and 50 us for them.";
constexpr const char* kMeasuredSize = "512";

constexpr const char* kNext = "Next, your own program: warplens run app.cu   (warplens run --help)";

/// The report of one product, without what the reader of both needs only once.
void show(const report::RunRecord& run, const report::TextStyle& style) {
  report::TextOptions options;
  options.style = style;
  options.lines.instruction_lines = 0;
  options.legend = false;
  const std::string text = report::run_text(run, options);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

RunOutcome run_example(const std::string& name, const std::string& size, const Installation& installation) {
  RunOptions options;
  options.inputs = {(std::filesystem::path(installation.examples) / name).string()};
  options.arguments = {size};
  return run_program(options);
}

/// The size of the matrices, from the command line.
Result<std::string> size_from(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return std::string("512");
  const std::string& size = arguments[0];
  unsigned n = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), n);
  if (arguments.size() > 1 || error != std::errc() || end != size.data() + size.size() || n < 32 || n > 4096)
    return make_error("demo takes one number from 32 to 4096, the size of the matrices");
  return size;
}

/// Runs and shows one product; an exit code when there is nothing to compare, else 0.
int run_and_show(const std::string& name, const std::string& size, const Installation& installation,
                 const report::TextStyle& style, RunOutcome& outcome, report::Side& side) {
  std::fputs("\n", stdout);
  outcome = run_example(name, size, installation);
  if (!outcome.ran) return outcome.exit_code;
  show(outcome.record, style);
  if (outcome.exit_code != 0) return outcome.exit_code;
  if (report::pick_side(outcome.record, side)) return 0;
  print({make_error(fmt::format("{} was not counted", name))});
  return kCannotWrite;
}

}  // namespace

int demo_command(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
    std::fputs(demo_help().c_str(), stdout);
    return 0;
  }
  const auto size = size_from(arguments);
  const auto installation = find_installation();
  if (!size || !installation) {
    print(size ? installation.error() : size.error());
    return kMisuse;
  }
  const SignalGuard guard;
  const report::TextStyle style = report::style_of(STDOUT_FILENO);
  std::fputs(report::wrapped(kIntroduction, style.width, 0).c_str(), stdout);
  RunOutcome outcomes[2];
  report::Side sides[2];
  const char* const names[] = {"matmul_naive.cu", "matmul_coalesced.cu"};
  for (int i = 0; i < 2; ++i)
    if (const int code = run_and_show(names[i], *size, *installation, style, outcomes[i], sides[i]); code != 0)
      return code;
  std::string end = "\n" + report::comparison_text(sides[0], sides[1], style) + "\n";
  if (*size == kMeasuredSize) end += report::wrapped(kMeasured, style.width, 0);
  end += report::wrapped(kConclusion, style.width, 0) + report::wrapped(kNext, style.width, 0);
  return report::write_all(STDOUT_FILENO, end, "standard output") ? 0 : kCannotWrite;
}

}  // namespace warplens::cli
