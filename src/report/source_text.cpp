// SPDX-License-Identifier: Apache-2.0
#include "report/source_text.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

namespace warplens::report {
namespace {

constexpr std::uintmax_t kLargestFile = 16 << 20;

std::string read(const std::string& path) {
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return {};
  if (std::filesystem::file_size(path, error) > kLargestFile || error) return {};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

}  // namespace

std::string_view source_file(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::string> files;
  std::lock_guard lock(mutex);
  auto [it, fresh] = files.try_emplace(path);
  if (fresh) it->second = read(path);
  return it->second;
}

std::string source_line(const std::string& path, uint32_t line) {
  std::string_view text = source_file(path);
  for (uint32_t n = 1; n < line && !text.empty(); ++n) {
    const size_t end = text.find('\n');
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  if (line == 0) return {};
  std::string out;
  for (char c : text.substr(0, text.find('\n'))) {
    if (c == '\t') c = ' ';
    if (out.empty() && c == ' ') continue;
    if (static_cast<unsigned char>(c) >= ' ' && c != 0x7f) out += c;
  }
  return out;
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace warplens::report
