// SPDX-License-Identifier: Apache-2.0
// What was measured of the gallery on a real GPU: results/<gpu>/gallery.json, which scripts/measure_gpu writes.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"

namespace warplens::cli {

struct MeasuredRow {
  uint64_t size = 0;
  double us = 0;      ///< median
  double figure = 0;  ///< work a second, or nanoseconds for one thing, in `unit`
  std::string unit;   ///< "GB/s", "GFLOP/s", ..., "ns/load"
  std::string date;
};

struct MeasuredGallery {
  std::string gpu;  ///< its full name; empty: nothing was measured
  std::map<std::string, MeasuredRow> rows;
  /// Null: not measured. `name`: "matmul/05_tiled_32", of a rung with several forms the form's.
  const MeasuredRow* find(const std::string& name) const;
};

/// `folder`: that of all results; `gpu`: as --gpu takes it ("h200"). A file that is not there is nothing measured; one
/// that is damaged is an error.
Result<MeasuredGallery> read_measured_gallery(const std::string& folder, const std::string& gpu);

}  // namespace warplens::cli
