// SPDX-License-Identifier: Apache-2.0
#include "warplens/installation.h"

#include <fmt/format.h>

#include <filesystem>

namespace warplens::cli {
namespace {

namespace fs = std::filesystem;

/// The installed folder, else the one of the source tree that this executable was built from.
std::string folder(const fs::path& installed, const fs::path& source) {
  std::error_code error;
  if (fs::is_directory(installed, error)) return installed.lexically_normal().string();
  if (fs::is_directory(source, error)) return source.string();
  return {};
}

}  // namespace

Result<Installation> find_installation() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return make_error("cannot find the place of this executable: " + error.message());
  const fs::path prefix = self.parent_path().parent_path();
  Installation found;
  found.library_folder = (prefix / "lib" / "warplens").string();
  found.runtime_library = (prefix / "lib" / "warplens" / "libcudart.so.13").string();
  found.toolkit = (prefix / "lib" / "warplens" / "toolkit").string();
  found.cuda_headers = folder(prefix / "share/warplens/cuda", fs::path(WARPLENS_SOURCE_DIR) / "include/cuda");
  found.examples = folder(prefix / "share/warplens/examples", fs::path(WARPLENS_SOURCE_DIR) / "examples");
  const fs::path share = prefix / "share/warplens", source = WARPLENS_SOURCE_DIR;
  found.gallery = folder(share / "gallery", source / "gallery");
  found.results = folder(share / "results", source / "results");
  found.kernel_headers = fs::is_directory(prefix / "include/warplens", error) ? (prefix / "include").string()
                                                                              : (source / "include").string();
  if (const std::string scripts = folder(share / "scripts", source / "scripts"); !scripts.empty())
    found.measure_script = scripts + "/measure_gpu";
  if (!fs::exists(found.runtime_library, error))
    return make_error(fmt::format("this copy of warplens is incomplete: {} is missing", found.runtime_library),
                      "build or install it again");
  if (found.cuda_headers.empty())
    return make_error("this copy of warplens is incomplete: its CUDA headers are missing", "build or install it again");
  return found;
}

}  // namespace warplens::cli
