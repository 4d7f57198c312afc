// SPDX-License-Identifier: Apache-2.0
#include "gate/issue.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "report/number_text.h"

namespace warplens::gate {

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? '?' : c;
  return out;
}

std::string shown_path(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error || path.empty()) return path;
  const fs::path relative = fs::path(path).lexically_normal().lexically_relative(here);
  const bool below = !relative.empty() && *relative.begin() != ".." && relative != ".";
  return below ? relative.string() : path;
}

std::string code_text(std::string_view line) {
  std::string text;
  for (const char c : line.substr(0, line.find("//")))
    if (c != ' ' && c != '\t') text += c;
  return text;
}

std::string number_shown(double number) {
  if (number >= 0 && number < 1e15 && number == std::floor(number))
    return report::grouped(static_cast<uint64_t>(number));
  return fmt::format("{:.4g}", number);
}

std::string issue_line(const Issue& issue) {
  std::string place;
  if (!issue.file.empty() && issue.line != 0) {
    place = fmt::format("{}:{}:", plain(shown_path(issue.file)), issue.line);
    if (issue.column != 0) place += fmt::format("{}:", issue.column);
    place += " ";
  }
  const char* level = issue.level == Level::kError ? "error" : issue.level == Level::kWarning ? "warning" : "note";
  return fmt::format("{}{}: {} [{}]", place, level, plain(issue.message), issue.rule);
}

}  // namespace warplens::gate
