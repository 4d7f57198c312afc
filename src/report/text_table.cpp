// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.h"

#include <algorithm>

#include "base/check.h"

namespace warplens::report {
namespace {

constexpr size_t kGap = 2;

std::string blanks(size_t count) { return std::string(count, ' '); }

}  // namespace

std::vector<size_t> TextTable::widths() const {
  std::vector<size_t> width(columns_.size());
  for (size_t c = 0; c < columns_.size(); ++c) {
    width[c] = columns(columns_[c].title);
    for (const Row& row : rows_) {
      if (row.cells.empty()) continue;
      WL_CHECK(row.cells.size() == columns_.size());
      width[c] = std::max(width[c], columns(row.cells[c].text));
    }
  }
  return width;
}

std::vector<bool> TextTable::shown(const std::vector<size_t>& width, size_t available) const {
  std::vector<bool> show(columns_.size(), true);
  const auto needed = [&] {
    size_t sum = std::min(width[0], name_width_);
    for (size_t c = 1; c < columns_.size(); ++c)
      if (show[c]) sum += kGap + width[c];
    return sum;
  };
  while (needed() > available) {
    size_t lowest = 0;
    for (size_t c = 1; c < columns_.size(); ++c)
      if (show[c] && columns_[c].rank < 100 && (lowest == 0 || columns_[c].rank < columns_[lowest].rank)) lowest = c;
    if (lowest == 0) break;
    show[lowest] = false;
  }
  return show;
}

std::string TextTable::render(const TextStyle& style, size_t indent) const {
  std::vector<size_t> width = widths();
  const size_t available = style.width > indent ? style.width - indent : 1;
  const std::vector<bool> show = shown(width, available);
  size_t numbers = 0;
  for (size_t c = 1; c < columns_.size(); ++c)
    if (show[c]) numbers += kGap + width[c];
  width[0] = std::min(width[0], std::max(name_width_, available > numbers ? available - numbers : 0));

  std::string out;
  const auto print = [&](const std::vector<Cell>& cells) {
    std::string line = blanks(indent);
    const std::string name = fitted_middle(cells[0].text, width[0]);
    line += painted(style, cells[0].tone, name) + blanks(width[0] - columns(name));
    for (size_t c = 1; c < cells.size(); ++c) {
      if (!show[c]) continue;
      line += blanks(kGap + width[c] - columns(cells[c].text)) + painted(style, cells[c].tone, cells[c].text);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  std::vector<Cell> titles;
  for (const Column& c : columns_) titles.push_back({c.title, Tone::kFaint});
  print(titles);
  for (const Row& row : rows_) {
    if (row.cells.empty()) {
      out += blanks(indent) + fitted(row.heading, available) + "\n";
    } else {
      print(row.cells);
    }
  }
  return out;
}

}  // namespace warplens::report
