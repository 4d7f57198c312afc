// SPDX-License-Identifier: Apache-2.0
#include "exec/worker_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace warplens::exec {
namespace {

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> cores;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cores.push_back(i);
  return cores;
}

TEST(WorkerPool, each_worker_runs_once_and_the_first_on_the_callers_thread) {
  for (unsigned workers : {1U, 2U, 5U, 32U}) {
    std::mutex mutex;
    std::vector<unsigned> seen;
    std::vector<std::thread::id> threads(workers);
    run_on_workers(workers, [&](unsigned worker) {
      const std::lock_guard lock(mutex);
      seen.push_back(worker);
      threads[worker] = std::this_thread::get_id();
    });
    std::sort(seen.begin(), seen.end());
    ASSERT_EQ(seen.size(), workers);
    for (unsigned i = 0; i < workers; ++i) EXPECT_EQ(seen[i], i);
    EXPECT_EQ(threads[0], std::this_thread::get_id());
    for (unsigned i = 1; i < workers; ++i) EXPECT_NE(threads[i], threads[0]);
  }
}

/// A woken thread is told where to begin; it must be free to move when it runs what it was given.
TEST(WorkerPool, workers_may_run_wherever_the_caller_may) {
  const std::vector<int> callers = allowed_cores();
  for (int pause_ms : {0, 0, 5, 20}) {  // a worker that still looks out for work, and one that sleeps
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    std::vector<std::vector<int>> cores(6);
    run_on_workers(6, [&](unsigned worker) { cores[worker] = allowed_cores(); });
    for (const std::vector<int>& each : cores) EXPECT_EQ(each, callers);
  }
}

}  // namespace
}  // namespace warplens::exec
