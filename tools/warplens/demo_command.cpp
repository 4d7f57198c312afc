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
#include "report/source_text.h"
#include "warplens/child.h"
#include "warplens/exit_codes.h"
#include "warplens/help.h"
#include "warplens/installation.h"
#include "warplens/run_command.h"

namespace warplens::cli {
namespace {

constexpr const char* kIntroduction =
    "Two CUDA programs compute C = alpha A B + beta C. They differ in one thing: which\n"
    "index of C neighbouring threads share. Both run here, on this computer's CPU, and\n"
    "every memory access of every warp (32 threads that issue one access together) is\n"
    "counted.\n";

constexpr const char* kConclusion =
    "A request is one memory instruction of a warp; a sector is 32 bytes, the unit in which\n"
    "a GPU moves memory. Swapping two words makes each warp's addresses neighbours.\n"
    "Next: warplens run --help, and your own program: warplens run app.cu\n";

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

}  // namespace

int demo_command(const std::vector<std::string>& arguments) {
  std::string size = "512";
  if (!arguments.empty()) size = arguments[0];
  if (size == "--help" || size == "-h") {
    std::fputs(demo_help().c_str(), stdout);
    return 0;
  }
  unsigned n = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), n);
  if (arguments.size() > 1 || error != std::errc() || end != size.data() + size.size() || n < 32 || n > 4096) {
    print({make_error("demo takes one number from 32 to 4096, the size of the matrices")});
    return kMisuse;
  }
  const auto installation = find_installation();
  if (!installation) {
    print(installation.error());
    return kMisuse;
  }
  const SignalGuard guard;
  const report::TextStyle style = report::style_of(STDOUT_FILENO);
  std::fputs(kIntroduction, stdout);
  RunOutcome outcomes[2];
  report::Side sides[2];
  const char* const names[] = {"matmul_naive.cu", "matmul_coalesced.cu"};
  for (int i = 0; i < 2; ++i) {
    std::fputs("\n", stdout);
    outcomes[i] = run_example(names[i], size, *installation);
    if (!outcomes[i].ran) return outcomes[i].exit_code;
    show(outcomes[i].record, style);
    if (outcomes[i].exit_code != 0) return outcomes[i].exit_code;
    if (!report::pick_side(outcomes[i].record, sides[i])) {
      print({make_error(fmt::format("{} was not counted", names[i]))});
      return kCannotWrite;
    }
  }
  const std::string comparison = "\n" + report::comparison_text(sides[0], sides[1], style) + "\n" + kConclusion;
  if (!report::write_all(STDOUT_FILENO, comparison, "standard output")) return kCannotWrite;
  return 0;
}

}  // namespace warplens::cli
