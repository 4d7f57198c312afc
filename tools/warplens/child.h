// SPDX-License-Identifier: Apache-2.0
// Runs the user's program as a child and waits, passing signals on. A signal that the terminal sends (Ctrl-C) reaches
// the child by itself, as both are in the terminal's foreground group; one that was sent to us alone is forwarded. At
// the time limit the child is asked to stop (SIGINT: the library ends the running kernel and records what it counted),
// and killed when it has not stopped after a grace period.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/run_record.h"

namespace warplens::cli {

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT are remembered instead of ending this process, so that temporary
/// files are removed. Programs started meanwhile have the default actions.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  /// The first signal that came, 0 when none did.
  static int pending();

 private:
  struct Saved;
  Saved* saved_;
};

struct ChildRequest {
  std::string path;
  std::vector<std::string> argv;       ///< with argv[0]
  std::vector<std::string> variables;  ///< NAME=value, replacing those of the environment
  std::string output;                  ///< a file that takes its standard output; empty: ours does
  std::optional<double> timeout_seconds;
  double grace_seconds = 5;
};

/// Fails only when the program cannot be started. A SignalGuard must live.
Result<report::RunEnd> run_child(const ChildRequest& request);

}  // namespace warplens::cli
