// SPDX-License-Identifier: Apache-2.0
// Lines of the measured tables (truth/h200/*.csv).
#pragma once
#include <string>
#include <vector>

namespace warplens::test {

/// Quoted cells may hold commas; the quotes go.
inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

}  // namespace warplens::test
