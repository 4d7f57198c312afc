// SPDX-License-Identifier: Apache-2.0
// Tables that fit. The first column holds names and is cut when it must be; the others hold numbers and are never cut,
// but columns of low rank are left out, the lowest first, until the table fits the width.
//
//   access            requests      sectors  per request  ideal   wasted
//   read A           4,194,304  134,217,728         32.0    4.0     88 %
#pragma once
#include <string>
#include <vector>

#include "report/text_style.h"

namespace warplens::report {

struct Column {
  std::string title;
  unsigned rank = 100;  ///< lower goes first when space is short; 100 and above always stays
};

struct Cell {
  std::string text;
  Tone tone = Tone::kPlain;
};

class TextTable {
 public:
  /// The first column is the name column. It keeps at least `name_width` columns.
  TextTable(std::vector<Column> columns, size_t name_width) : columns_(std::move(columns)), name_width_(name_width) {}
  /// A row of as many cells as there are columns.
  void add(std::vector<Cell> cells) { rows_.push_back({{}, std::move(cells)}); }
  /// A line across the table, above the rows that follow.
  void add_heading(std::string text) { rows_.push_back({std::move(text), {}}); }
  bool empty() const { return rows_.empty(); }
  std::string render(const TextStyle& style, size_t indent) const;

 private:
  struct Row {
    std::string heading;
    std::vector<Cell> cells;
  };
  std::vector<size_t> widths() const;
  std::vector<bool> shown(const std::vector<size_t>& widths, size_t width) const;

  std::vector<Column> columns_;
  size_t name_width_;
  std::vector<Row> rows_;
};

}  // namespace warplens::report
