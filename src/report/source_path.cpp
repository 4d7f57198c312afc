// SPDX-License-Identifier: Apache-2.0
#include "report/source_path.h"

#include <filesystem>
#include <system_error>

namespace warplens::report {
namespace {

namespace fs = std::filesystem;

std::string below(const fs::path& path, const fs::path& folder) {
  // A slash at the end would be an empty last part.
  const fs::path root = (folder / "").lexically_normal().parent_path();
  const fs::path relative = path.lexically_normal().lexically_relative(root);
  return relative.empty() || *relative.begin() == ".." || relative == "." ? std::string() : relative.string();
}

}  // namespace

std::string path_below(const std::string& path, const std::string& folder) {
  if (path.empty() || folder.empty()) return {};
  if (std::string found = below(path, folder); !found.empty()) return found;
  // Compilers record the folder's name by which they were called, which may be a link to its real one.
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  const fs::path real_folder = error ? fs::path() : fs::weakly_canonical(folder, error);
  return error ? std::string() : below(real, real_folder);
}

const std::string& PathsFromRoot::operator()(const std::string& path) {
  const auto [it, added] = known_.try_emplace(path);
  if (added) {
    it->second = path_below(path, root_);
    if (it->second.empty()) it->second = path;
  }
  return it->second;
}

}  // namespace warplens::report
