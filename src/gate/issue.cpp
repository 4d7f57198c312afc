// SPDX-License-Identifier: Apache-2.0
#include "gate/issue.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "report/number_text.h"
#include "report/source_path.h"

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
  const std::string below = report::path_below(path, here.string());
  return below.empty() ? path : below;
}

std::string repository_path(const std::string& path, const std::string& source_root) {
  namespace fs = std::filesystem;
  if (path.empty()) return path;
  std::error_code error;
  const fs::path file = fs::absolute(path, error).lexically_normal();
  if (error) return path;
  const auto below = [&](const fs::path& root) { return report::path_below(file.string(), root.string()); };
  if (std::string found = below(source_root); !found.empty()) return found;
  if (const char* root = std::getenv("GITHUB_WORKSPACE"); root != nullptr && *root == '/')
    if (std::string found = below(root); !found.empty()) return found;
  for (fs::path at = file.parent_path(); at != at.parent_path(); at = at.parent_path())
    if (fs::exists(at / ".git", error)) return below(at);
  return shown_path(path);
}

std::string code_text(std::string_view line) {
  std::string text;
  for (const char c : line.substr(0, line.find("//")))
    if (c != ' ' && c != '\t') text += c;
  return text;
}

namespace {

std::string with_figures(double number, int figures) {
  if (number < 0) return "-" + with_figures(-number, figures);
  if (!(number < 1e15)) return fmt::format("{:.{}g}", number, figures);
  if (number == std::floor(number)) return report::grouped(static_cast<uint64_t>(number));
  if (number < 1000) return fmt::format("{:.{}g}", number, figures);
  const std::string text = fmt::format("{:.{}f}", number, figures - 3);
  const size_t point = text.find('.');
  return report::grouped(std::stoull(text.substr(0, point))) + text.substr(point);
}

}  // namespace

std::string number_shown(double number) { return with_figures(number, 4); }

std::pair<std::string, std::string> numbers_shown(double a, double b) {
  std::pair<std::string, std::string> shown;
  for (const int figures : {4, 6, 9, 12, 17}) {
    shown = {with_figures(a, figures), with_figures(b, figures)};
    if (a == b || shown.first != shown.second) break;
  }
  return shown;
}

std::string fault_text(const Diagnostic& fault) {
  if (fault.file.empty()) return fault.message;
  if (fault.pos.line == 0) return fmt::format("{}: {}", shown_path(fault.file), fault.message);
  return fmt::format("{}:{}:{}: {}", shown_path(fault.file), fault.pos.line, fault.pos.column, fault.message);
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
