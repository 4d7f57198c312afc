// SPDX-License-Identifier: Apache-2.0
// A JSON report (docs/report-schema.md) read back for comparing: only what the comparison needs. The file may be
// damaged, cut short, of another version or no report at all; then it is told where.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warplens::gate {

/// Numbers of one kind of access, of a launch group or of one access in a line.
struct StoredTraffic {
  std::string memory, kind, parameter;
  bool exact = false;
  uint32_t column = 0, bytes_per_lane = 0;
  uint64_t requests = 0, bytes_asked = 0, sectors = 0, ideal_sectors = 0, repeated_sectors = 0, lines = 0;
  uint64_t wavefronts = 0, ideal_wavefronts = 0;
};

struct StoredLine {
  std::string file, text;
  uint32_t line = 0, ptx_line = 0;
  std::vector<StoredTraffic> accesses;
};

struct StoredGroup {
  std::string grid, block;  ///< as the JSON text has them: "[16,16,1]"
  uint64_t grid_blocks = 0, block_threads = 0, launches = 0;
  bool counted = false, complete = false, line_information = false;
  std::string shape;  ///< all that makes launches comparable
  std::optional<double> occupancy;
  bool occupancy_exact = false;
  std::vector<StoredTraffic> totals;
  std::vector<StoredLine> lines;
};

struct StoredKernel {
  std::string name, short_name;
  std::string ptx_hash, compiler, source_hash;  ///< empty when the report does not have them
  std::vector<StoredGroup> groups;              ///< those that were counted to their end: one for each shape
};

struct StoredReport {
  std::string path, version, program, gpu;
  bool whole = true;  ///< the run ended by itself, and its record could be read
  std::vector<StoredKernel> kernels;
};

/// Schema version `report::kSchemaVersion` only.
Result<StoredReport> parse_report(std::string_view text, const std::string& path);
Result<StoredReport> read_report(const std::string& path);

}  // namespace warplens::gate
