// SPDX-License-Identifier: Apache-2.0
// Diagnostics: what is wrong with an *input* (PTX text, a command line, a file), where, and what to do about it.
// Printed compiler-style:   k.ptx:12:7: error: unknown opcode 'foo'   with the source line and a caret below.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warplens {

/// A place in a text: line and column count from 1; line 0 means "no place".
struct SourcePos {
  uint32_t line = 0;
  uint32_t column = 0;
  friend bool operator==(const SourcePos&, const SourcePos&) = default;
};

enum class Severity : uint8_t { kNote, kWarning, kError };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string file;  ///< empty when no file is concerned
  SourcePos pos;
  std::string message;
  std::string hint;  ///< what to do; may be empty
};
using Diagnostics = std::vector<Diagnostic>;

/// "file:line:col: error: message", then the source line and a caret when `source` (the whole text of the file)
/// holds that line, then "  hint: ..." when there is one. Ends with a newline.
std::string render(const Diagnostic& d, std::string_view source = {});

/// An error without a place.
Diagnostic make_error(std::string message, std::string hint = {});
/// An error at a place.
Diagnostic make_error_at(std::string file, SourcePos pos, std::string message, std::string hint = {});

}  // namespace warplens
