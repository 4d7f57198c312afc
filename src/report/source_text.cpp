// SPDX-License-Identifier: Apache-2.0
#include "report/source_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "base/text_file.h"
#include "base/text_hash.h"

namespace warplens::report {
namespace {

constexpr std::uintmax_t kLargestFile = 16 << 20;

std::string read(const std::string& path) {
  std::error_code error;
  if (path.empty() || !std::filesystem::is_regular_file(path, error)) return {};
  if (std::filesystem::file_size(path, error) > kLargestFile || error) return {};
  auto text = read_file(path);
  return text ? *std::move(text) : std::string();
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

std::string source_hash(const std::set<std::string>& files) {
  uint64_t hash = kTextHashSeed;
  for (const std::string& file : files) {
    std::string_view text = source_file(file);
    if (text.empty()) return {};
    for (bool comment = false; !text.empty(); text.remove_prefix(1)) {
      comment = text[0] != '\n' && (comment || text.starts_with("//"));
      const auto c = static_cast<unsigned char>(text[0]);
      if (!comment && c > ' ') hash = text_hash(c, hash);
    }
    hash = text_hash(static_cast<unsigned char>(0), hash);
  }
  return files.empty() ? std::string() : fmt::format("{:016x}", hash);
}

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace warplens::report
