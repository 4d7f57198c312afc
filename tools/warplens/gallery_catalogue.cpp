// SPDX-License-Identifier: Apache-2.0
#include "warplens/gallery_catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>

#include "base/text_file.h"
#include "warplens/nearest.h"

namespace warplens::cli {
namespace {

namespace fs = std::filesystem;

/// "05_tiled_32.cu": two digits first.
bool is_rung(const fs::path& path) {
  const std::string name = path.filename().string();
  return path.extension() == ".cu" && name.size() > 3 && std::isdigit(static_cast<unsigned char>(name[0])) &&
         std::isdigit(static_cast<unsigned char>(name[1])) && name[2] == '_';
}

Result<std::vector<Rung>> rungs_of(const std::string& topic, const fs::path& folder) {
  std::vector<Rung> rungs;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!is_rung(it->path())) continue;
    const auto text = read_file(it->path().string());
    if (!text) return text.error();
    rungs.push_back({topic, it->path().stem().string(), it->path().string(), idea_of(*text)});
  }
  if (error) return make_error(fmt::format("cannot read {}: {}", folder.string(), error.message()));
  std::ranges::sort(rungs, {}, &Rung::name);
  return rungs;
}

std::string without_blanks_around(const std::string& text) {
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
}

}  // namespace

std::string idea_of(const std::string& source) {
  std::istringstream lines(source);
  std::string comment;
  for (std::string line; std::getline(lines, line) && line.starts_with("//");) comment += line.substr(2);
  size_t begin = comment.find("Idea:");
  if (begin == std::string::npos) return {};
  begin += std::string_view("Idea:").size();
  size_t end = comment.size();
  for (const char* next : {"Change:", "Expected bottleneck:", "Measured on", "Not measured yet"})
    end = std::min(end, comment.find(next, begin));
  return without_blanks_around(comment.substr(begin, end - begin));
}

Result<std::vector<Topic>> read_gallery(const std::string& folder) {
  const auto text = read_file((fs::path(folder) / "topics.txt").string());
  if (!text) return text.error();
  std::vector<Topic> topics;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(": ");
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    const std::string name = line.substr(0, colon);
    auto rungs = rungs_of(name, fs::path(folder) / name);
    if (!rungs) return rungs.error();
    topics.push_back({name, line.substr(colon + 2), *std::move(rungs)});
  }
  return topics;
}

Result<std::vector<Rung>> chosen_rungs(const Topic& topic, const std::vector<std::string>& names) {
  if (names.empty()) return topic.rungs;
  std::vector<Rung> chosen;
  Diagnostics faults;
  for (const std::string& typed : names) {
    const std::string name = typed.ends_with(".cu") ? typed.substr(0, typed.size() - 3) : typed;
    const auto found = std::ranges::find_if(
        topic.rungs, [&](const Rung& r) { return r.name == name || r.name.substr(0, r.name.find('_')) == name; });
    if (found != topic.rungs.end()) {
      if (std::ranges::none_of(chosen, [&](const Rung& r) { return r.name == found->name; })) chosen.push_back(*found);
      continue;
    }
    std::string list;
    for (const Rung& r : topic.rungs) list += (list.empty() ? "" : ", ") + r.name;
    faults.push_back(make_error(fmt::format("{} has no rung '{}'", topic.name, typed), "it has " + list));
  }
  if (!faults.empty()) return faults;
  return chosen;
}

}  // namespace warplens::cli
