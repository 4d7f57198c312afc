// SPDX-License-Identifier: Apache-2.0
// One thing that a run has to say about a place or a kernel, in the form that all formats for other tools take: text on
// the terminal, SARIF, JUnit, annotations, Markdown.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"

namespace warplens::gate {

enum class Level : uint8_t { kNote, kWarning, kError };

struct Issue {
  std::string_view rule;  ///< a name of rules()
  Level level = Level::kWarning;
  std::string kernel;   ///< as in the PTX; empty: none is concerned
  std::string message;  ///< one sentence, no full stop
  std::string file;     ///< as compiled; empty: no place
  uint32_t line = 0, column = 0;
  std::string text;     ///< of the line
  std::string allowed;  ///< the reason that an allowance at the line gives; not empty: said, but held against nobody
};

/// "file:line:column: error: message [rule]" without a newline. Control characters are shown as "?".
std::string issue_line(const Issue& issue);
/// `path` relative to the current folder where it lies below it: what users click on, and what CI services know.
std::string shown_path(const std::string& path);
/// `path` as the repository has it, for tools that look at the whole of it: relative to `source_root` where it lies
/// below that (an absolute path; empty: there is none), else to $GITHUB_WORKSPACE, else to the nearest folder above
/// that has a .git, else as shown_path() has it.
std::string repository_path(const std::string& path, const std::string& source_root = {});
/// Text without control characters (shown as "?"), for one line on a terminal.
std::string plain(std::string_view text);
/// A line's text without blanks and without a comment at its end: what makes it the same line when code moves, is
/// formatted or gets an allowance.
std::string code_text(std::string_view line);
/// "1,234" for whole numbers, "1,234.5", "0.1235": four figures, more before the point.
std::string number_shown(double number);
/// The same of two numbers beside each other: with as many figures as it takes to tell them apart.
std::pair<std::string, std::string> numbers_shown(double a, double b);
/// "file:line:column: message", for formats that have no place of their own for a fault.
std::string fault_text(const Diagnostic& fault);

}  // namespace warplens::gate
