// SPDX-License-Identifier: Apache-2.0
#include "report/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace warplens::report {
namespace {

Diagnostic cannot_write(const std::string& name, int error) {
  return make_error(fmt::format("cannot write {}: {}", name, std::strerror(error)));
}

bool replaceable(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode);
}

Status write_directly(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return cannot_write(path, errno);
  Status status = write_all(fd, text, path);
  if (::close(fd) != 0 && status) return cannot_write(path, errno);
  return status;
}

/// The mode that a plain open(2) would have given: what the user's umask leaves of rw-rw-rw-.
mode_t plain_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Status write_all(int fd, std::string_view text, const std::string& name) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return cannot_write(name, errno);
    text.remove_prefix(static_cast<size_t>(n));
  }
  return Done{};
}

Status write_output(const std::string& path, std::string_view text) {
  if (path == "-") return write_all(STDOUT_FILENO, text, "standard output");
  if (!replaceable(path)) return write_directly(path, text);
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkstemp(temporary.data());
  if (fd < 0) return cannot_write(path, errno);
  ::fchmod(fd, plain_mode());
  Status status = write_all(fd, text, path);
  // Delayed allocation reports a full disk as late as here.
  if (status && ::fsync(fd) != 0) status = cannot_write(path, errno);
  if (::close(fd) != 0 && status) status = cannot_write(path, errno);
  if (status && ::rename(temporary.c_str(), path.c_str()) != 0) status = cannot_write(path, errno);
  if (!status) ::unlink(temporary.c_str());
  return status;
}

}  // namespace warplens::report
