// SPDX-License-Identifier: Apache-2.0
// What the tool that started the program asked for (docs/session-file.md), and which launches that selects. Without a
// session file the program simply runs, and nothing is counted or recorded.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "report/launch_selection.h"
#include "report/progress_line.h"
#include "report/run_record.h"
#include "report/session_file.h"

namespace warplens::cuda {

class Session {
 public:
  /// Opens the record file. Fails for one that cannot be written, and for a bad regular expression.
  static Result<std::unique_ptr<Session>> open(report::SessionFile options);
  /// From the environment; a session without counting when the variable is not set.
  static Result<std::unique_ptr<Session>> from_environment();

  const report::SessionFile& options() const { return options_; }
  /// Whether this launch is to be counted and recorded. Called once a launch, in the order of launches.
  bool select(const std::string& mangled_name);
  /// cudaProfilerStart and cudaProfilerStop.
  void set_profiling(bool on) { selection_.set_profiling(on); }
  /// Null when nobody wants to see progress, or there is no terminal. Asked by one thread at a time.
  report::ProgressWatcher* progress();
  /// Null when records are not wanted.
  report::RecordWriter* records() { return records_.get(); }

 private:
  explicit Session(report::SessionFile options) : options_(std::move(options)), selection_(options_) {}
  report::SessionFile options_;
  report::LaunchSelection selection_;
  std::unique_ptr<report::RecordWriter> records_;
  /// Never destroyed: its thread looks at launches until the process ends.
  report::ProgressWatcher* progress_ = nullptr;
  int progress_process_ = 0;  ///< that the watcher's thread is in
};

}  // namespace warplens::cuda
