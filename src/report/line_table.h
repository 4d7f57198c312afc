// SPDX-License-Identifier: Apache-2.0
// The heart of the report: which source line moves how much, and how much of that for nothing. Access sites and
// executed instructions of a kernel are gathered by the line that the *user* wrote (the call site when code was inlined
// from a header; the innermost place is kept beside it). Code without a line of its own inherits the line before it. A
// kernel without any line information is gathered by PTX line instead.
#pragma once
#include <string>
#include <vector>

#include "report/fold.h"
#include "report/traffic.h"

namespace warplens::report {

/// Accesses of one line that cannot be told apart in the source: unrolled copies of one expression.
struct AccessRow {
  Memory memory = Memory::kGlobal;
  Kind kind = Kind::kRead;
  uint32_t column = 0;    ///< in the user's line; 0 = unknown
  unsigned bytes = 0;     ///< per lane
  std::string parameter;  ///< what the source calls the pointer, when known
  std::string inside;     ///< "load() at tile.h:7" when the access is in inlined code of another place
  uint32_t ptx_line = 0;  ///< of the first copy
  unsigned copies = 0;    ///< access sites joined
  Traffic traffic;
};

struct LineRow {
  std::string file;                 ///< path as compiled; the PTX file's name when `from_ptx`
  uint32_t line = 0;                ///< 0: belongs to no line
  std::string text;                 ///< source or PTX text of the line, when it can be read
  std::vector<AccessRow> accesses;  ///< worst first
  Traffic global, shared, other;    ///< of its accesses; other: local and constant
  uint64_t instructions = 0, lanes = 0;
  double instructions_error = 0, lanes_error = 0;  ///< as TrafficErrors
};

struct LineTable {
  bool from_ptx = false;      ///< no line information: `line` is a line of PTX
  bool sampled = false;       ///< numbers are estimates, and have errors
  std::vector<LineRow> rows;  ///< worst first
};

/// `sample`: what the counts are estimates of, or null.
LineTable line_table(const KernelRecord& kernel, const events::LaunchCounts& counts,
                     const events::LaunchSample* sample = nullptr);

}  // namespace warplens::report
