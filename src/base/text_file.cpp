// SPDX-License-Identifier: Apache-2.0
#include "base/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace warplens {

Result<std::string> read_file(const std::string& path, const std::string& what) {
  const std::string named = what.empty() ? "'" + path + "'" : what + " " + path;
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return make_error(fmt::format("cannot read {}: it is a directory", named));
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  // Reading an empty file sets failbit of `text`, which is no fault.
  if (in) text << in.rdbuf();
  if (!in || in.bad())
    return make_error(fmt::format("cannot read {}: {}", named, std::strerror(errno != 0 ? errno : EIO)));
  return std::move(text).str();
}

}  // namespace warplens
