// SPDX-License-Identifier: Apache-2.0
#include "report/source_path.h"

#include <filesystem>

namespace warplens::report {

std::string path_below(const std::string& path, const std::string& folder) {
  namespace fs = std::filesystem;
  if (path.empty() || folder.empty()) return {};
  // A slash at the end would be an empty last part.
  const fs::path root = (fs::path(folder) / "").lexically_normal().parent_path();
  const fs::path relative = fs::path(path).lexically_normal().lexically_relative(root);
  return relative.empty() || *relative.begin() == ".." || relative == "." ? std::string() : relative.string();
}

std::string path_from_root(const std::string& path, const std::string& root) {
  const std::string below = path_below(path, root);
  return below.empty() ? path : below;
}

}  // namespace warplens::report
