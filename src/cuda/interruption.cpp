// SPDX-License-Identifier: Apache-2.0
// The signal handler only reads and writes lock-free atomics and calls async-signal-safe functions.
#include "cuda/interruption.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace warplens::cuda {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM};

std::atomic<uint32_t> g_interrupt{0};
std::atomic<int> g_signal{0};      // arrived while the current launch runs
std::atomic<int> g_end_signal{0};  // the process is to end by it
std::atomic<bool> g_running{false};
struct sigaction g_before[kSignals.size()];  // written before the handler is installed, read by it

void default_action(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  kill(getpid(), signal);
}

bool has_own_handler(const struct sigaction& action) {
  if (action.sa_flags & SA_SIGINFO) return true;
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = g_before[signal == kSignals[0] ? 0 : 1];
  const bool own = has_own_handler(before);
  const bool repeated = g_signal.exchange(signal) != 0;
  if (g_running && (!own || repeated)) {
    const bool timeout = info && info->si_code == SI_QUEUE && info->si_value.sival_int == 2;
    g_interrupt = timeout ? 2 : 1;
    if (!own) g_end_signal = signal;
  }
  if (own) {
    if (before.sa_flags & SA_SIGINFO)
      before.sa_sigaction(signal, info, context);
    else
      before.sa_handler(signal);
    return;
  }
  if (!g_running) default_action(signal);
}

/// At the first launch, so that handlers of the program's start-up are seen.
void install() {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &g_before[i]);
    if (!(g_before[i].sa_flags & SA_SIGINFO) && g_before[i].sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, nullptr);
  }
}

}  // namespace

RunningLaunch::RunningLaunch() {
  [[maybe_unused]] static const bool once = (install(), true);
  g_interrupt = 0;
  g_signal = 0;
  g_running = true;
}

RunningLaunch::~RunningLaunch() { g_running = false; }

const std::atomic<uint32_t>* RunningLaunch::flag() const { return &g_interrupt; }

void end_by_signal() {
  const int signal = g_end_signal;
  if (signal == 0) return;
  std::fflush(nullptr);
  default_action(signal);
}

}  // namespace warplens::cuda
