// SPDX-License-Identifier: Apache-2.0
#include "base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

namespace warplens {
namespace {

std::string_view line_of(std::string_view source, uint32_t line) {
  size_t begin = 0;
  for (uint32_t n = 1; n < line; ++n) {
    begin = source.find('\n', begin);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  return source.substr(begin, source.find('\n', begin) - begin);
}

const char* word(Severity s) {
  switch (s) {
    case Severity::kNote: return "note";
    case Severity::kWarning: return "warning";
    case Severity::kError: return "error";
  }
  return "error";
}

}  // namespace

std::string render(const Diagnostic& d, std::string_view source) {
  std::string out;
  if (!d.file.empty()) out += d.file + ":";
  if (d.pos.line != 0) out += fmt::format("{}:{}:", d.pos.line, d.pos.column);
  if (!out.empty()) out += " ";
  out += fmt::format("{}: {}\n", word(d.severity), d.message);
  if (d.pos.line != 0 && !source.empty()) {
    const std::string_view text = line_of(source, d.pos.line);
    if (!text.empty() && text.size() < 400) {
      std::string pad;  // tabs stay tabs, so that the caret stands under its column
      for (size_t i = 0; i + 1 < d.pos.column && i < text.size(); ++i) pad += text[i] == '\t' ? '\t' : ' ';
      out += fmt::format("  {}\n  {}^\n", text, pad);
    }
  }
  if (!d.hint.empty()) out += fmt::format("  hint: {}\n", d.hint);
  return out;
}

Diagnostic make_error(std::string message, std::string hint) {
  return {Severity::kError, {}, {}, std::move(message), std::move(hint)};
}
Diagnostic make_error_at(std::string file, SourcePos pos, std::string message, std::string hint) {
  return {Severity::kError, std::move(file), pos, std::move(message), std::move(hint)};
}

}  // namespace warplens
