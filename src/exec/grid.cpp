// SPDX-License-Identifier: Apache-2.0
// A launch from beginning to end: workers take blocks in order from one counter, so that a block may wait for one with
// a smaller number (look-back scans), and everything that they counted is added up.
#include <algorithm>
#include <chrono>
#include <thread>

#include "base/bits.h"
#include "base/check.h"
#include "exec/block_runner.h"
#include "exec/executor.h"
#include "exec/worker_pool.h"

namespace warplens::exec {

void LaunchState::fail(events::Finding finding) {
  {
    const std::lock_guard lock(mutex);
    findings.push_back(std::move(finding));
  }
  stop.store(kStopFault);
}

namespace {

unsigned worker_count(const LaunchRequest& request) {
  unsigned workers = request.workers != 0 ? request.workers : std::max(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::min<uint64_t>(workers, std::max<uint64_t>(request.grid.count(), 1)));
}

void begin(LaunchState& launch, const LaunchRequest& request, memory::Arena& arena) {
  launch.request = &request;
  launch.arena = &arena;
  launch.info.id = request.id;
  launch.info.kernel = &request.kernel->info;
  launch.info.grid = request.grid;
  launch.info.block = request.block;
  launch.info.cluster = request.cluster;
  launch.info.static_shared_bytes = request.kernel->static_shared_bytes;
  launch.info.dynamic_shared_bytes = request.dynamic_shared_bytes;
  launch.info.workers = worker_count(request);
  for (const events::Listener* listener : request.listeners) {
    launch.interests.push_back(listener->interest());
    launch.interest |= launch.interests.back();
  }
}

/// One worker's counters, apart from the others' so that no cache line is shared.
struct alignas(64) WorkerCounters {
  std::vector<uint64_t> words;
};

void run_blocks(LaunchState& launch, Executor& executor, std::vector<WorkerCounters>& counters) {
  std::atomic<uint64_t> next_block{0};
  const uint64_t blocks = launch.request->grid.count();
  run_on_workers(launch.info.workers, [&](unsigned worker) {
    BlockRunner runner(launch, executor, worker, counters[worker].words.data());
    while (launch.stop.load(std::memory_order_relaxed) == 0) {
      const uint64_t block = next_block.fetch_add(1, std::memory_order_relaxed);
      if (block >= blocks) break;
      runner.run_block(block);
    }
  });
}

/// A launch that was ended from outside has no finding of its own yet.
void report_stop(LaunchState& launch) {
  const uint32_t why = launch.stop.load();
  if (why == kStopNone || !launch.findings.empty()) return;
  events::Finding f;
  f.kind = why == kStopTimeout ? events::FindingKind::kTimeout : events::FindingKind::kInterrupted;
  f.kernel = launch.info.kernel->name;
  f.message = why == kStopTimeout ? "was ended by the time limit" : "was interrupted";
  launch.findings.push_back(std::move(f));
}

void report_cannot_run(LaunchState& launch, const Diagnostics& errors) {
  for (const Diagnostic& d : errors) {
    events::Finding f;
    f.kind = events::FindingKind::kUnsupported;
    f.kernel = launch.info.kernel->name;
    f.message = d.message;
    launch.findings.push_back(std::move(f));
  }
}

}  // namespace

LaunchOutcome run_launch(const LaunchRequest& request, memory::Arena& arena, Executor& executor) {
  WL_CHECK(request.kernel != nullptr && request.params.size() >= request.kernel->function->param_bytes);
  LaunchOutcome outcome;
  LaunchState launch;
  begin(launch, request, arena);
  const CheckContext context("kernel " + launch.info.kernel->name);
  const auto started = std::chrono::steady_clock::now();
  if (Status ready = executor.prepare(launch); !ready) {
    report_cannot_run(launch, ready.error());
    outcome.findings = std::move(launch.findings);
    return outcome;
  }
  for (events::Listener* listener : request.listeners) listener->on_launch_begin(launch.info);
  const size_t words = executor.counter_words(launch);
  std::vector<WorkerCounters> counters(launch.info.workers);
  for (WorkerCounters& c : counters) c.words.assign(words, 0);
  {
    const SignalForwarder forwarder(request.interrupt, &launch.stop);
    run_blocks(launch, executor, counters);
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  for (size_t i = 1; i < counters.size(); ++i)
    for (size_t k = 0; k < words; ++k) counters[0].words[k] += counters[i].words[k];
  executor.collect(launch, counters[0].words, outcome.counts);
  for (events::Listener* listener : request.listeners) listener->on_launch_end(launch.info);
  report_stop(launch);
  outcome.findings = std::move(launch.findings);
  return outcome;
}

}  // namespace warplens::exec
