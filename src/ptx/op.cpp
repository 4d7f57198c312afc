// SPDX-License-Identifier: Apache-2.0
// OpTable: finds the rows of a mnemonic (binary search, since the parser asks once for each instruction), and the known
// mnemonic nearest to a misspelt one (edit distance) for "did you mean".
#include "ptx/op.h"

#include <algorithm>

namespace warplens::ptx {

OpTable::OpTable(std::span<const std::span<const OpDef>> chapters) {
  for (const auto& chapter : chapters)
    for (const OpDef& row : chapter) all_.push_back(&row);
  for (const OpDef* row : all_) {
    const auto it = std::lower_bound(by_mnemonic_.begin(), by_mnemonic_.end(), row->form.mnemonic,
                                     [](const auto& e, std::string_view m) { return e.first < m; });
    if (it != by_mnemonic_.end() && it->first == row->form.mnemonic)
      it->second.push_back(row);
    else
      by_mnemonic_.insert(it, {row->form.mnemonic, {row}});
  }
}

std::span<const OpDef* const> OpTable::rows(std::string_view mnemonic) const {
  const auto it = std::lower_bound(by_mnemonic_.begin(), by_mnemonic_.end(), mnemonic,
                                   [](const auto& e, std::string_view m) { return e.first < m; });
  if (it == by_mnemonic_.end() || it->first != mnemonic) return {};
  return {it->second.data(), it->second.size()};
}

namespace {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string_view OpTable::nearest(std::string_view mnemonic) const {
  constexpr size_t kLongestMnemonic = 32;
  if (mnemonic.size() > kLongestMnemonic) return {};
  std::string_view best;
  size_t best_distance = mnemonic.size() <= 3 ? 2 : 3;  // one slip in a short word, two in a longer one
  for (const auto& [name, rows] : by_mnemonic_) {
    const size_t distance = edit_distance(mnemonic, name);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace warplens::ptx
