// SPDX-License-Identifier: Apache-2.0
// Paths as reports name them: relative to a folder that they lie in, so that a report of one machine is read on
// another.
#pragma once
#include <string>
#include <unordered_map>
#include <utility>

namespace warplens::report {

/// `path` relative to `folder`, both absolute or both relative, without "." and ".."; empty when it does not lie below
/// it (or is the folder itself). Links are followed when the names alone do not tell.
std::string path_below(const std::string& path, const std::string& folder);
/// What path_below gives for one folder, `path` itself where that is nothing or there is no folder. A report names few
/// files many times: each is looked up once.
class PathsFromRoot {
 public:
  /// `root` empty: all paths stay as they are.
  explicit PathsFromRoot(std::string root) : root_(std::move(root)) {}
  const std::string& operator()(const std::string& path);

 private:
  std::string root_;
  std::unordered_map<std::string, std::string> known_;
};

}  // namespace warplens::report
