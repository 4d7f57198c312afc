// SPDX-License-Identifier: Apache-2.0
// warplens: the first word says what to do.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "warplens/cache_command.h"
#include "warplens/cc_command.h"
#include "warplens/demo_command.h"
#include "warplens/exit_codes.h"
#include "warplens/gpus_command.h"
#include "warplens/help.h"
#include "warplens/metrics_command.h"
#include "warplens/nearest.h"
#include "warplens/occupancy_command.h"
#include "warplens/run_command.h"

namespace {

using namespace warplens;

int show(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return 0;
}

int help(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return show(cli::general_help());
  if (arguments[0] == "run") return show(cli::run_help());
  if (arguments[0] == "cc") return show(cli::cc_help());
  if (arguments[0] == "demo") return show(cli::demo_help());
  if (arguments[0] == "cache") return show(cli::cache_help());
  if (arguments[0] == "occupancy") return show(cli::occupancy_help());
  if (arguments[0] == "metrics") return show(cli::metrics_help());
  if (arguments[0] == "gpus") return show(cli::gpus_help());
  return show(cli::general_help());
}

int unknown(const std::string& command) {
  static constexpr std::string_view kCommands[] = {"run",       "cc",      "demo", "cache",  "gpus",
                                                   "occupancy", "metrics", "help", "--help", "--version"};
  const std::string like = cli::nearest(command, kCommands);
  std::string hint = like.empty() ? "warplens --help lists what there is" : "did you mean 'warplens " + like + "'?";
  // The commonest slip: the file without the word "run".
  if (like.empty() && command.find('.') != std::string::npos) hint = "did you mean 'warplens run " + command + "'?";
  cli::print({make_error("unknown command '" + command + "'", hint)});
  return cli::kMisuse;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) {
    std::fputs(cli::general_help().c_str(), stderr);
    return cli::kMisuse;
  }
  const std::string command = arguments[0];
  arguments.erase(arguments.begin());
  if (command == "run") return cli::run_command(arguments);
  if (command == "cc") return cli::cc_command(arguments);
  if (command == "demo") return cli::demo_command(arguments);
  if (command == "cache") return cli::cache_command(arguments);
  if (command == "occupancy") return cli::occupancy_command(arguments);
  if (command == "metrics") return cli::metrics_command(arguments);
  if (command == "gpus") return cli::gpus_command(arguments);
  if (command == "help" || command == "--help" || command == "-h") return help(arguments);
  if (command == "--version" || command == "version") return show("warplens " WARPLENS_VERSION "\n");
  return unknown(command);
}
