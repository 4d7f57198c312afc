// SPDX-License-Identifier: Apache-2.0
// warplens: the first word says what to do (commands.h).
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "warplens/commands.h"
#include "warplens/exit_codes.h"
#include "warplens/help.h"
#include "warplens/nearest.h"
#include "warplens/run_command.h"
#include "warplens/shell_pages.h"

namespace {

using namespace warplens;

int show(const std::string& text) {
  return std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0 ? cli::kCannotWrite : 0;
}

int unknown(const std::string& command) {
  std::vector<std::string_view> names = {"help", "--help", "--version"};
  for (const cli::Command& c : cli::commands()) names.push_back(c.name);
  const std::string like = cli::nearest(command, names);
  std::string hint = like.empty() ? "warplens --help lists what there is" : "did you mean 'warplens " + like + "'?";
  // The commonest slip: the file without the word "run".
  if (like.empty() && command.find('.') != std::string::npos) hint = "did you mean 'warplens run " + command + "'?";
  cli::print({make_error("unknown command '" + command + "'", hint)});
  return cli::kMisuse;
}

int help(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return show(cli::general_help());
  const cli::Command* command = cli::find_command(arguments[0]);
  return command != nullptr ? show(command->help()) : unknown(arguments[0]);
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
  if (const cli::Command* known = cli::find_command(command)) return known->run(arguments);
  if (command == "help" || command == "--help" || command == "-h") return help(arguments);
  if (command == "--version" || command == "version") return show("warplens " WARPLENS_VERSION "\n");
  if (command == "shell-page") return cli::shell_page_command(arguments);
  return unknown(command);
}
