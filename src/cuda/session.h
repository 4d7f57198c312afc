// SPDX-License-Identifier: Apache-2.0
// What the tool that started the program asked for: a JSON file whose path is in the environment variable
// WARPLENS_SESSION (docs/session-file.md). Without it the program simply runs, and nothing is recorded.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <string>

#include "base/result.h"
#include "report/run_record.h"

namespace warplens::cuda {

struct SessionOptions {
  std::string record;  ///< file that records are appended to; empty: none
  bool count = true;
  std::string kernel_regex;  ///< launches of kernels whose mangled or readable name matches are selected; empty: all
  uint64_t launch_skip = 0;  ///< of the selected ones, so many are left out first ...
  std::optional<uint64_t> launch_count;  ///< ... and so many are taken then
  bool interpreter = false;
  unsigned workers = 0;
  std::string gpu;    ///< GPU file; empty: the one compiled in
  std::string trace;  ///< file that gets the text of all events; empty: none
};
/// Reads a session file's text. Unknown keys are ignored: the tool may be newer than this library.
Result<SessionOptions> parse_session(const std::string& text, const std::string& file_name);

class Session {
 public:
  explicit Session(SessionOptions options);
  /// From the environment; a session without records when the variable is not set.
  static Result<std::unique_ptr<Session>> from_environment();

  const SessionOptions& options() const { return options_; }
  /// Whether this launch is to be counted and recorded. Called once a launch, in the order of launches.
  bool select(const std::string& mangled_name);
  /// Nothing when records are not wanted.
  report::RecordWriter* records() { return records_.get(); }

 private:
  SessionOptions options_;
  std::optional<std::regex> kernel_regex_;
  std::unique_ptr<report::RecordWriter> records_;
  std::mutex mutex_;
  uint64_t seen_ = 0;
};

}  // namespace warplens::cuda
