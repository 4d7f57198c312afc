// SPDX-License-Identifier: Apache-2.0
// A whole text file that the user named: a report, a configuration.
#pragma once
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/result.h"

namespace warplens::gate {

/// A diagnostic with the system's reason where it cannot be read; a folder cannot.
inline Result<std::string> read_text_file(const std::string& path) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  std::error_code error;
  if (!in || std::filesystem::is_directory(path, error))
    return make_error(fmt::format("cannot read {}: {}", path, std::strerror(errno != 0 ? errno : EISDIR)));
  return text.str();
}

}  // namespace warplens::gate
