// SPDX-License-Identifier: Apache-2.0
#include "base/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace warplens {

Result<std::string> read_file(const std::string& path, const std::string& what) {
  const std::string named = what.empty() ? "'" + path + "'" : what + " " + path;
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return make_error(fmt::format("cannot read {}: it is a directory", named));
  const auto failed = [&] { return make_error(fmt::format("cannot read {}: {}", named, std::strerror(errno))); };
  // Streams do not tell a read that fails from the end of the file.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed();
  std::string text;
  ssize_t got = 0;
  do {
    constexpr size_t kStep = size_t{1} << 16;
    const size_t before = text.size();
    text.resize(before + kStep);
    got = ::read(file, text.data() + before, kStep);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  } while (got > 0 || (got < 0 && errno == EINTR));
  // Before the file is closed, which may change errno.
  Result<std::string> result = got < 0 ? Result<std::string>(failed()) : std::move(text);
  ::close(file);
  return result;
}

}  // namespace warplens
