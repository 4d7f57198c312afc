// SPDX-License-Identifier: Apache-2.0
// Runs another program (a compiler) and waits for it: its exit, and what it wrote, captured or passed through.
// Started with posix_spawn; no shell is involved, so no argument needs quoting.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text_file.h"

namespace warplens {

struct ProcessResult {
  int exit_code = 0;   ///< 128 + signal number when a signal ended it
  std::string output;  ///< standard output, when captured
  std::string errors;  ///< standard error, when captured
  bool ok() const { return exit_code == 0; }
};

enum class ProcessOutput { kCapture, kInherit };

/// Runs argv[0] (looked up on PATH) and waits. Fails only when it cannot be started.
Result<ProcessResult> run_process(const std::vector<std::string>& argv, ProcessOutput output = ProcessOutput::kCapture);

/// The first executable `name` on PATH, or an empty string. A name with a slash is taken as it is.
std::string find_on_path(const std::string& name);

/// Arguments as one line for people to copy into a shell.
std::string quoted_command(const std::vector<std::string>& argv);

/// A directory of our own below $TMPDIR, removed with its contents when this object goes.
class TemporaryDirectory {
 public:
  static Result<TemporaryDirectory> create();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept;
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Writes beside the target and renames: a reader sees the old file or the whole new one.
Status write_file(const std::string& path, const std::string& contents);

}  // namespace warplens
