// SPDX-License-Identifier: Apache-2.0
#include "warplens/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>

extern char** environ;

namespace warplens::cli {
namespace {

constexpr std::array kGuarded = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

volatile sig_atomic_t first_signal = 0;

void remember(int signal) {
  if (first_signal == 0) first_signal = signal;
}

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (int s : signals) sigaddset(&set, s);
  return set;
}

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// The environment with `variables` in place of variables of the same names.
std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry = *e;
    const std::string_view name = entry.substr(0, entry.find('=') + 1);
    bool replaced = false;
    for (const std::string& v : variables) replaced |= v.compare(0, name.size(), name) == 0;
    if (!replaced) all.emplace_back(entry);
  }
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& t : texts) out.push_back(t.data());
  out.push_back(nullptr);
  return out;
}

Result<pid_t> start(const ChildRequest& request, const sigset_t& mask) {
  std::vector<std::string> argv = request.argv, environment = environment_with(request.variables);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (!request.output.empty())
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, request.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, request.path.c_str(), &files, &attributes, pointers(argv).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return make_error(fmt::format("cannot start {}: {}", request.path, std::strerror(error)));
  return pid;
}

/// Waits for the child with the guarded signals blocked, so that none is lost between a look and a wait.
class Waiter {
 public:
  Waiter(const ChildRequest& request, pid_t pid) : request_(request), pid_(pid) {
    if (request.timeout_seconds) deadline_ = now() + *request.timeout_seconds;
  }

  report::RunEnd wait() {
    if (const int early = SignalGuard::pending(); early != 0) forward(early);
    for (int status = 0;;) {
      const pid_t done = waitpid(pid_, &status, WNOHANG);
      if (done == pid_ || (done < 0 && errno != EINTR)) {
        if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
        end_.exit_code = WIFSIGNALED(status) ? 128 + end_.signal : WEXITSTATUS(status);
        return end_;
      }
      step();
    }
  }

 private:
  void step() {
    const sigset_t all = set_of({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT});
    siginfo_t info{};
    int signal = 0;
    if (deadline_ > 0) {
      const double left = std::max(deadline_ - now(), 0.0);
      const timespec wait{static_cast<time_t>(left), static_cast<long>((left - std::floor(left)) * 1e9)};
      signal = sigtimedwait(&all, &info, &wait);
    } else {
      signal = sigwaitinfo(&all, &info);
    }
    if (signal < 0 && errno == EAGAIN) {
      time_is_up();
    } else if (signal > 0 && signal != SIGCHLD) {
      end_.interrupted = true;
      // From the terminal it has reached the child already.
      if (info.si_code != SI_KERNEL) forward(signal);
    }
  }

  void time_is_up() {
    if (!end_.timed_out) {
      end_.timed_out = true;
      kill(pid_, SIGINT);
      deadline_ = now() + request_.grace_seconds;
    } else {
      kill(pid_, SIGKILL);
      deadline_ = 0;
    }
  }

  void forward(int signal) {
    end_.interrupted = true;
    kill(pid_, signal);
  }

  const ChildRequest& request_;
  pid_t pid_;
  double deadline_ = 0;  // 0: none
  report::RunEnd end_;
};

}  // namespace

struct SignalGuard::Saved {
  std::array<struct sigaction, kGuarded.size()> actions;
};

SignalGuard::SignalGuard() : saved_(new Saved) {
  struct sigaction action{};
  action.sa_handler = remember;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < kGuarded.size(); ++i) {
    sigaction(kGuarded[i], nullptr, &saved_->actions[i]);
    // What the caller told us to ignore (nohup) stays ignored, here and in the program.
    if (saved_->actions[i].sa_handler != SIG_IGN) sigaction(kGuarded[i], &action, nullptr);
  }
}

SignalGuard::~SignalGuard() {
  for (size_t i = 0; i < kGuarded.size(); ++i) sigaction(kGuarded[i], &saved_->actions[i], nullptr);
  delete saved_;
}

int SignalGuard::pending() { return first_signal; }

Result<report::RunEnd> run_child(const ChildRequest& request) {
  const sigset_t guarded = set_of({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT});
  sigset_t before;
  sigprocmask(SIG_BLOCK, &guarded, &before);
  Result<pid_t> pid = start(request, before);
  Result<report::RunEnd> end =
      pid ? Result<report::RunEnd>(Waiter(request, *pid).wait()) : Result<report::RunEnd>(pid.error());
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return end;
}

}  // namespace warplens::cli
