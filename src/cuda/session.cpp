// SPDX-License-Identifier: Apache-2.0
// Opening a session and choosing launches.
#include "cuda/session.h"

#include <unistd.h>

#include <cstdlib>

#include "cuda/ranges.h"

namespace warplens::cuda {

Result<std::unique_ptr<Session>> Session::open(report::SessionFile options) {
  for (const std::string& pattern : {options.kernel_regex, options.nvtx_regex})
    if (Status good = report::LaunchSelection::check_pattern(pattern); !good) return good.error();
  std::unique_ptr<Session> session(new Session(std::move(options)));
  const report::SessionFile& o = session->options_;
  if (!o.record.empty()) {
    auto records = report::RecordWriter::open(o.record);
    if (!records) return records.error();
    session->records_ = std::move(*records);
  }
  return session;
}

Result<std::unique_ptr<Session>> Session::from_environment() {
  const char* path = std::getenv(report::kSessionVariable);
  if (!path || !*path) {
    report::SessionFile none;
    none.count = false;
    return open(std::move(none));
  }
  auto options = report::read_session_file(path);
  if (!options) return options.error();
  return open(std::move(*options));
}

report::ProgressWatcher* Session::progress() {
  if (!options_.progress || isatty(STDERR_FILENO) == 0) return nullptr;
  if (progress_process_ != getpid()) {  // a fork leaves the thread behind
    progress_process_ = getpid();
    progress_ = new report::ProgressWatcher(STDERR_FILENO);
  }
  return progress_;
}

bool Session::select(const std::string& mangled_name) {
  return selection_.select(mangled_name, selection_.wants_ranges() ? open_ranges() : std::vector<std::string>());
}

}  // namespace warplens::cuda
