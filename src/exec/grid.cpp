// SPDX-License-Identifier: Apache-2.0
// A launch from beginning to end: workers take blocks in order from one counter, so that a block may wait for one with
// a smaller number (look-back scans), and everything that they counted is added up. Blocks of kernels that spin may
// wait for any block that the device holds at the same time (grid barriers), so a worker sets a waiting block aside and
// goes on with others, up to that number.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>

#include "base/bits.h"
#include "base/check.h"
#include "exec/executor.h"
#include "exec/gang.h"
#include "exec/worker_pool.h"
#include "memory/counter_listener.h"

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
  const uint64_t clusters = request.grid.count() / request.cluster.count();
  return static_cast<unsigned>(std::min<uint64_t>(workers, std::max<uint64_t>(clusters, 1)));
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

/// The linear indices of cluster number `cluster`'s blocks, in order of rank.
void blocks_of_cluster(const LaunchRequest& request, uint64_t cluster, std::vector<uint64_t>& blocks) {
  blocks.clear();
  const events::Dim3 &grid = request.grid, &size = request.cluster;
  if (size.count() == 1) return blocks.push_back(cluster);
  const uint64_t across = grid.x / size.x, down = grid.y / size.y;
  const uint64_t x = cluster % across * size.x, y = cluster / across % down * size.y,
                 z = cluster / across / down * size.z;
  for (uint64_t k = 0; k < size.z; ++k)
    for (uint64_t j = 0; j < size.y; ++j)
      for (uint64_t i = 0; i < size.x; ++i) blocks.push_back(x + i + grid.x * (y + j + grid.y * (z + k)));
}

/// One worker's share of the blocks, a cluster (mostly of one block) at a time.
class BlockShare {
 public:
  BlockShare(LaunchState& launch, Executor& executor, std::atomic<uint64_t>& next_cluster, unsigned worker,
             uint64_t* counters)
      : launch_(launch), executor_(executor), next_cluster_(next_cluster), worker_(worker), counters_(counters) {}

  void run() {
    const uint64_t together = launch_.info.workers * launch_.request->cluster.count();
    const uint64_t limit = std::max<uint64_t>(1, launch_.request->resident_blocks / together);
    while (launch_.stop.load(std::memory_order_relaxed) == 0) {
      // A new block begins when the waiting ones have had several turns in vain.
      const bool in_vain = waiting_.empty() || turns_in_vain_ >= kTurnsInVain;
      if (waiting_.size() < limit && in_vain && begin_next()) continue;
      if (waiting_.empty()) return;
      resume_oldest();
    }
    finish_waiting();
  }

 private:
  static constexpr size_t kTurnsInVain = 4;

  /// Several at once of many, since workers ask for small blocks every 200 ns; in step where blocks may wait for
  /// others.
  bool take_more() {
    const uint64_t clusters = launch_.request->grid.count() / launch_.request->cluster.count();
    if (next_cluster_.load(std::memory_order_relaxed) >= clusters) return false;
    const uint64_t share = spins_ ? 1 : std::clamp<uint64_t>(clusters / (launch_.info.workers * 64), 1, 16);
    next_ = next_cluster_.fetch_add(share, std::memory_order_relaxed);
    end_ = std::min(next_ + share, clusters);
    if (next_ >= end_) next_ = end_ = 0;
    return next_ != end_;
  }

  bool begin_next() {
    if (next_ == end_ && !take_more()) return false;
    const uint64_t cluster = next_++;
    if (!free_) free_ = std::make_unique<Gang>(launch_, executor_, worker_, counters_);
    blocks_of_cluster(*launch_.request, cluster, blocks_);
    free_->run(blocks_);
    turns_in_vain_ = 0;
    if (free_->waits()) waiting_.push_back(std::move(free_));
    return true;
  }

  void resume_oldest() {
    std::unique_ptr<Gang> runner = std::move(waiting_.front());
    waiting_.pop_front();
    runner->resume();
    if (runner->waits()) {
      waiting_.push_back(std::move(runner));
      // When all have been tried, what they wait for comes from another worker's block.
      if (++turns_in_vain_ > waiting_.size() + kTurnsInVain) sched_yield();
    } else {
      turns_in_vain_ = 0;
      free_ = std::move(runner);
    }
  }

  /// The launch is being ended: each waiting block comes to its own end.
  void finish_waiting() {
    for (const auto& runner : waiting_) runner->resume();
  }

  LaunchState& launch_;
  Executor& executor_;
  std::atomic<uint64_t>& next_cluster_;
  const unsigned worker_;
  uint64_t* const counters_;
  std::deque<std::unique_ptr<Gang>> waiting_;
  std::unique_ptr<Gang> free_;
  std::vector<uint64_t> blocks_;
  uint64_t next_ = 0, end_ = 0;  ///< clusters that are this worker's, and have not begun
  const bool spins_ = launch_.request->kernel->any_loop_spins();
  size_t turns_in_vain_ = 0;
};

void run_blocks(LaunchState& launch, Executor& executor, std::vector<WorkerCounters>& counters) {
  std::atomic<uint64_t> next_cluster{0};
  run_on_workers(launch.info.workers, [&](unsigned worker) {
    BlockShare(launch, executor, next_cluster, worker, counters[worker].words.data()).run();
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
  if (request.count && request.by_oracle) {
    memory::CounterListener oracle;
    LaunchRequest observed = request;
    observed.count = false;
    observed.listeners.push_back(&oracle);
    LaunchOutcome outcome = run_launch(observed, arena, executor);
    outcome.counts = oracle.counts();
    return outcome;
  }
  WL_CHECK(request.kernel != nullptr && request.params.size() >= request.kernel->function->param_bytes);
  LaunchOutcome outcome;
  LaunchState launch;
  begin(launch, request, arena);
  const CheckContext context("kernel " + launch.info.kernel->name);
  const auto started = std::chrono::steady_clock::now();
  const bool whole_clusters = request.grid.x % request.cluster.x == 0 && request.grid.y % request.cluster.y == 0 &&
                              request.grid.z % request.cluster.z == 0;
  if (!whole_clusters) {
    report_cannot_run(launch, {make_error("the grid is not a multiple of its clusters in each dimension")});
    outcome.findings = std::move(launch.findings);
    return outcome;
  }
  if (Status ready = executor.prepare(launch); !ready) {
    report_cannot_run(launch, ready.error());
    outcome.findings = std::move(launch.findings);
    return outcome;
  }
  outcome.preparation = launch.preparation;
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
