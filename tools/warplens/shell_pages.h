// SPDX-License-Identifier: Apache-2.0
// Manual pages and completions for bash, zsh and fish, made from the help texts when Warplens is built
// (cmake/package): what --help says is the one source. `warplens shell-page KIND [COMMAND]` prints them; KIND is man,
// bash, zsh or fish, and man without a command is warplens(1).
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warplens::cli {

/// An option as a help text shows it: "  --json FILE            write the report as JSON too".
struct HelpOption {
  std::string name;     ///< "--json", "-q"
  std::string value;    ///< "FILE"; empty: takes none
  std::string summary;  ///< its line, without what continues it
};
/// Options stand at the beginning of indented lines, their explanation behind two blanks or more.
std::vector<HelpOption> help_options(std::string_view help);

int shell_page_command(const std::vector<std::string>& arguments);

}  // namespace warplens::cli
