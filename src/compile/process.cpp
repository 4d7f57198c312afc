// SPDX-License-Identifier: Apache-2.0
// See process.h. Both pipes are drained with poll, so a compiler that writes much to one cannot block on it.
#include "compile/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

extern char** environ;

namespace warplens {
namespace {

struct Pipe {
  int read_end = -1, write_end = -1;
  bool open() {
    std::array<int, 2> fds{};
    if (pipe2(fds.data(), O_CLOEXEC) != 0) return false;
    read_end = fds[0], write_end = fds[1];
    return true;
  }
  void close_write() {
    if (write_end >= 0) ::close(write_end);
    write_end = -1;
  }
  ~Pipe() {
    close_write();
    if (read_end >= 0) ::close(read_end);
  }
};

// Reads both pipes until both are closed at the other end.
void drain(Pipe& out, std::string& out_text, Pipe& err, std::string& err_text) {
  std::array<pollfd, 2> fds{pollfd{out.read_end, POLLIN, 0}, pollfd{err.read_end, POLLIN, 0}};
  std::array<std::string*, 2> texts{&out_text, &err_text};
  std::array<char, 65536> buffer;
  int open_ends = 2;
  while (open_ends > 0) {
    if (poll(fds.data(), fds.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    for (size_t i = 0; i < fds.size(); i++) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      const ssize_t n = read(fds[i].fd, buffer.data(), buffer.size());
      if (n > 0) {
        texts[i]->append(buffer.data(), static_cast<size_t>(n));
      } else if (n == 0 || errno != EINTR) {
        fds[i].fd = -1;
        open_ends--;
      }
    }
  }
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  return WEXITSTATUS(status);
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& argv, ProcessOutput output) {
  WL_CHECK(!argv.empty());
  std::vector<char*> arguments;
  for (const std::string& a : argv) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);

  const bool capture = output == ProcessOutput::kCapture;
  Pipe out, err;
  if (capture && (!out.open() || !err.open())) return make_error(std::string("no pipe: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (capture) {
    posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
  }
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return make_error("cannot start '" + argv[0] + "': " + std::strerror(error));

  ProcessResult result;
  if (capture) {
    out.close_write();
    err.close_write();
    drain(out, result.output, err, result.errors);
  }
  result.exit_code = wait_for(pid);
  return result;
}

std::string find_on_path(const std::string& name) {
  const auto executable = [](const std::string& path) {
    std::error_code ec;
    return access(path.c_str(), X_OK) == 0 && !std::filesystem::is_directory(path, ec);
  };
  if (name.find('/') != std::string::npos) return executable(name) ? name : std::string();
  const char* path = std::getenv("PATH");
  std::istringstream entries(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string entry; std::getline(entries, entry, ':');) {
    const std::string candidate = (entry.empty() ? "." : entry) + "/" + name;
    if (executable(candidate)) return candidate;
  }
  return {};
}

std::string quoted_command(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& a : argv) {
    if (!line.empty()) line += ' ';
    const bool plain = !a.empty() && a.find_first_of(" \t\n\"'\\$`<>|&;()*?[]{}#~!") == std::string::npos;
    if (plain) {
      line += a;
      continue;
    }
    line += '\'';
    for (const char c : a) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

Result<TemporaryDirectory> TemporaryDirectory::create() {
  const char* base = std::getenv("TMPDIR");
  std::string path = std::string(base && *base ? base : "/tmp") + "/warplens-XXXXXX";
  if (mkdtemp(path.data()) == nullptr)
    return make_error("cannot make a temporary directory '" + path + "': " + std::strerror(errno),
                      "set TMPDIR to a directory that you may write to");
  return TemporaryDirectory(path);
}

TemporaryDirectory::TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status write_file(const std::string& path, const std::string& contents) {
  std::string temporary = path + ".XXXXXX";
  const int fd = mkstemp(temporary.data());
  if (fd < 0) return make_error("cannot write '" + path + "': " + std::strerror(errno));
  size_t done = 0;
  int error = 0;
  while (done < contents.size() && error == 0) {
    const ssize_t n = write(fd, contents.data() + done, contents.size() - done);
    if (n >= 0)
      done += static_cast<size_t>(n);
    else if (errno != EINTR)
      error = errno;
  }
  fchmod(fd, 0644);
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return Done{};
  unlink(temporary.c_str());
  return make_error("cannot write '" + path + "': " + std::strerror(error));
}

}  // namespace warplens
