// SPDX-License-Identifier: Apache-2.0
// Two reports compared. Kernels are found by name, lines by their text, so code that only moved is no difference. What
// counts as worse is decided here, once, for `warplens diff` and for `run --baseline`:
//
//   an exact number of a kernel grew (or its exact occupancy fell), or the excess of a line did, by more than is
//   allowed; not when another compiler made other code of the same source files: then the change is the compiler's.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gate/issue.h"
#include "gate/report_file.h"

namespace warplens::gate {

/// By how much a number may grow without being worse: the larger of both.
struct Growth {
  double relative = 0, absolute = 0;
  bool allows(double before, double after) const;
};
/// "5%" sets the relative part, "100" the absolute one.
Status set_growth(Growth& to, std::string_view text);

enum class Change : uint8_t {
  kBetter,
  kWorse,
  kAllowed,   ///< worse, but within what may grow
  kEstimate,  ///< changed, but not exact on both sides: held against nobody
  kCompiler,  ///< worse, and the compiler's doing
  kNew,       ///< of a memory that the kernel did not use before: only its excess is held against it
};

/// One number that changed.
struct NumberChange {
  std::string what;  ///< "global read sectors"
  double before = 0, after = 0;
  Change change = Change::kWorse;
  bool at_lines = false;  ///< of a kernel: the lines that are worse make up all of its growth
};

/// A line that both reports have, or only one (then without numbers).
struct LineChange {
  std::string file, text, label;  ///< label: "read in"
  uint32_t line = 0, column = 0;  ///< in the later report, 0: PTX
  std::vector<NumberChange> numbers;
};

struct KernelChange {
  std::string name, short_name, shape;          ///< shape: "grid [16,16,1], block [32,32,1]"
  std::string note;                             ///< why it is not compared ("only in the later report"); empty: it is
  std::string compiler_before, compiler_after;  ///< when they differ
  bool source_changed = false;                  ///< each side has a line that the other lacks
  bool same_source = false, same_code = false;  ///< the hashes of the source files, of the instructions
  std::vector<NumberChange> numbers;
  std::vector<LineChange> lines;  ///< those whose numbers changed
  bool worse() const;
  bool changed() const { return !note.empty() || !numbers.empty() || !lines.empty() || !compiler_before.empty(); }
};

struct Difference {
  std::string before, after;          ///< files
  std::vector<std::string> notes;     ///< what else differs: the GPU, the version
  std::vector<KernelChange> kernels;  ///< all, in the order of the later report, then those that are gone
  size_t compared = 0;
  bool worse() const;
};

Difference compare(const StoredReport& before, const StoredReport& after, const Growth& growth);

/// The fault to report when `compared` is 0 in a comparison of whole runs: it must not pass for a good one.
Diagnostic nothing_compared(const Difference& difference, const std::string& baseline);

/// One error a line that is worse, one a kernel for what those lines do not make up; one note a kernel that another
/// compiler made.
std::vector<Issue> issues_of(const Difference& difference);

}  // namespace warplens::gate
