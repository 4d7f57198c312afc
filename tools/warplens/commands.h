// SPDX-License-Identifier: Apache-2.0
// The commands, once: main() runs them, `warplens help`, the manual pages and the shells' completions are made from
// them.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warplens::cli {

struct Command {
  std::string_view name;
  std::string_view summary;  ///< a few words
  int (*run)(const std::vector<std::string>& arguments);
  std::string (*help)();
};

std::span<const Command> commands();
/// Null: there is none of that name.
const Command* find_command(std::string_view name);

}  // namespace warplens::cli
