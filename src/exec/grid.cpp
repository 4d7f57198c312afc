// SPDX-License-Identifier: Apache-2.0
// A launch from beginning to end: workers take blocks in order from one counter, so that a block may wait for one with
// a smaller number (look-back scans), and everything that they counted is added up. Blocks of kernels that spin may
// wait for any block that the device holds at the same time (grid barriers), so a worker sets a waiting block aside and
// goes on with others, up to that number. When only a sample of the blocks is counted, the others run as a launch of
// their own without counting.
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <iterator>
#include <thread>

#include "base/bits.h"
#include "base/check.h"
#include "exec/block_sample.h"
#include "exec/executor.h"
#include "exec/gang.h"
#include "exec/worker_pool.h"
#include "memory/counter_listener.h"

namespace warplens::exec {

void LaunchState::fail(events::Finding finding) {
  LaunchState& launch = whole != nullptr ? *whole : *this;
  {
    const std::lock_guard lock(launch.mutex);
    launch.findings.push_back(std::move(finding));
  }
  stop.store(kStopFault);
  launch.stop.store(kStopFault);
}

bool LaunchState::has_remark(uint32_t pc) {
  LaunchState& launch = whole != nullptr ? *whole : *this;
  const std::lock_guard lock(launch.mutex);
  return std::ranges::find(launch.remarks, pc, &events::Finding::pc) != launch.remarks.end();
}

void LaunchState::remark(events::Finding finding) {
  LaunchState& launch = whole != nullptr ? *whole : *this;
  const std::lock_guard lock(launch.mutex);
  const auto known = std::ranges::find(launch.remarks, finding.pc, &events::Finding::pc);
  if (known == launch.remarks.end()) launch.remarks.push_back(std::move(finding));
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

/// One worker's counters. Each warp writes some, so no core may write what is near another's: words that nobody uses
/// stand behind them (cores fetch lines of 64 bytes in pairs).
struct alignas(64) WorkerCounters {
  static constexpr size_t kApart = 32;
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

events::Dim3 clusters_of(const LaunchRequest& request) {
  const events::Dim3 &g = request.grid, &c = request.cluster;
  return {g.x / c.x, g.y / c.y, g.z / c.z};
}

/// A launch of which some blocks are counted; the others run as `rest`.
struct SampledLaunch {
  explicit SampledLaunch(const LaunchRequest& request)
      : blocks(clusters_of(request), request.sample), rest_request(request) {
    rest_request.count = false;
    rest_request.sample = {};
  }
  const BlockSample blocks;
  SampleSums sums;
  LaunchRequest rest_request;
  LaunchState rest;
};

/// One worker's share of the blocks, a cluster (mostly of one block) at a time.
class BlockShare {
 public:
  /// `counters`: the worker's words; where `sample` is not null each counted cluster has its own instead.
  BlockShare(LaunchState& launch, Executor& executor, std::atomic<uint64_t>& next_cluster, unsigned worker,
             std::vector<uint64_t>& counters, SampledLaunch* sample)
      : launch_(launch),
        executor_(executor),
        next_cluster_(next_cluster),
        worker_(worker),
        counters_(counters),
        sample_(sample) {}

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
  /// Blocks side by side use memory side by side, which one core should have to itself: where shares meet, each core's
  /// prefetcher takes lines that the other is about to write (measured: axpy on two threads is 1.6 times as fast as on
  /// one with 16 at once, 1.88 with 64, 1.94 with 128, 1.97 with 512).
  static constexpr uint64_t kMostAtOnce = 512;

  /// Several at once of many, since workers ask for small blocks every 200 ns; in step where blocks may wait for
  /// others.
  bool take_more() {
    const uint64_t clusters = launch_.request->grid.count() / launch_.request->cluster.count();
    if (next_cluster_.load(std::memory_order_relaxed) >= clusters) return false;
    const uint64_t share = spins_ ? 1 : std::clamp<uint64_t>(clusters / (launch_.info.workers * 64), 1, kMostAtOnce);
    next_ = next_cluster_.fetch_add(share, std::memory_order_relaxed);
    end_ = std::min(next_ + share, clusters);
    if (next_ >= end_) next_ = end_ = 0;
    return next_ != end_;
  }

  /// Blocks that run at the same time, and where they count.
  struct Turn {
    std::unique_ptr<Gang> gang;
    std::vector<uint64_t> words;  ///< of a counted cluster of a sample
    std::optional<BlockSample::Stratum> stratum;
  };

  std::unique_ptr<Turn>& free_turn(bool counted) {
    std::unique_ptr<Turn>& turn = free_[counted];
    if (turn != nullptr) return turn;
    turn = std::make_unique<Turn>();
    // Interpreted warps may write words that nobody reads.
    if (sample_ != nullptr) turn->words.assign(counters_.size(), 0);
    uint64_t* words = sample_ != nullptr ? turn->words.data() : counters_.data();
    turn->gang = std::make_unique<Gang>(counted ? launch_ : sample_->rest, executor_, worker_, words);
    return turn;
  }

  bool begin_next() {
    if (next_ == end_ && !take_more()) return false;
    const uint64_t cluster = next_++;
    std::optional<BlockSample::Stratum> stratum;
    if (sample_ != nullptr) stratum = sample_->blocks.counted(cluster);
    std::unique_ptr<Turn>& turn = free_turn(sample_ == nullptr || stratum);
    turn->stratum = stratum;
    blocks_of_cluster(*launch_.request, cluster, blocks_);
    turn->gang->run(blocks_);
    turns_in_vain_ = 0;
    if (turn->gang->waits())
      waiting_.push_back(std::move(turn));
    else
      finish(*turn);
    return true;
  }

  void resume_oldest() {
    std::unique_ptr<Turn> turn = std::move(waiting_.front());
    waiting_.pop_front();
    turn->gang->resume();
    if (turn->gang->waits()) {
      waiting_.push_back(std::move(turn));
      // When all have been tried, what they wait for comes from another worker's block.
      if (++turns_in_vain_ > waiting_.size() + kTurnsInVain) sched_yield();
    } else {
      turns_in_vain_ = 0;
      finish(*turn);
      free_[sample_ == nullptr || turn->stratum] = std::move(turn);
    }
  }

  /// All its warps have ended, unless the launch is being ended.
  void finish(Turn& turn) {
    if (LaunchProgress* progress = launch_.request->progress) progress->add(worker_, launch_.request->cluster.count());
    if (!turn.stratum || launch_.stop.load() != 0) return;
    events::LaunchCounts counts;
    executor_.collect(launch_, turn.words, counts);
    sample_->sums.add(*turn.stratum, counts);
    std::fill(turn.words.begin(), turn.words.end(), 0);
  }

  /// The launch is being ended: each waiting block comes to its own end.
  void finish_waiting() {
    if (sample_ != nullptr) sample_->rest.stop.store(kStopFault);
    for (const auto& turn : waiting_) turn->gang->resume();
  }

  LaunchState& launch_;
  Executor& executor_;
  std::atomic<uint64_t>& next_cluster_;
  const unsigned worker_;
  std::vector<uint64_t>& counters_;
  SampledLaunch* const sample_;
  std::deque<std::unique_ptr<Turn>> waiting_;
  std::array<std::unique_ptr<Turn>, 2> free_;  ///< for blocks that are not counted, and for those that are
  std::vector<uint64_t> blocks_;
  uint64_t next_ = 0, end_ = 0;  ///< clusters that are this worker's, and have not begun
  const bool spins_ = launch_.request->kernel->any_loop_spins();
  size_t turns_in_vain_ = 0;
};

void run_blocks(LaunchState& launch, Executor& executor, std::vector<WorkerCounters>& counters, SampledLaunch* sample) {
  std::atomic<uint64_t> next_cluster{0};
  const SignalForwarder forwarder(launch.request->interrupt, &launch.stop);
  const SignalForwarder to_rest(sample != nullptr ? launch.request->interrupt : nullptr,
                                sample != nullptr ? &sample->rest.stop : nullptr);
  run_on_workers(launch.info.workers, [&](unsigned worker) {
    BlockShare(launch, executor, next_cluster, worker, counters[worker].words, sample).run();
  });
  // Both are told one after the other; the launch may have ended in between.
  if (sample == nullptr) return;
  uint32_t none = kStopNone;
  if (const uint32_t why = sample->rest.stop.load(); why != kStopNone) launch.stop.compare_exchange_strong(none, why);
}

void add_counts(LaunchState& launch, Executor& executor, std::vector<WorkerCounters>& counters, LaunchOutcome& out) {
  std::vector<uint64_t>& sum = counters[0].words;
  for (size_t i = 1; i < counters.size(); ++i)
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += counters[i].words[k];
  executor.collect(launch, sum, out.counts);
}

void add_sample(const LaunchState& launch, const SampledLaunch& sampled, LaunchOutcome& out) {
  const uint64_t size = launch.request->cluster.count();
  auto sample = std::make_shared<events::LaunchSample>();
  sample->choice = launch.request->sample;
  sample->blocks = launch.request->grid.count();
  sample->counted_blocks = sampled.sums.added() * size;
  sample->scaled = sampled.sums.added() == sampled.blocks.counted_units() && launch.stop.load() == 0;
  if (sample->scaled) sampled.sums.give_errors(*sample);
  out.counts = sample->scaled ? sampled.sums.estimates() : sampled.sums.sums();
  // Nothing was counted: as many zeros as there are sites.
  out.counts.sites.resize(launch.info.kernel->sites.size());
  out.counts.blocks.resize(launch.info.kernel->blocks.size());
  out.sample = std::move(sample);
}

/// The code of both kinds of blocks is made at the same time.
Status prepare(LaunchState& launch, Executor& executor, SampledLaunch* sample) {
  if (sample == nullptr) return executor.prepare(launch);
  if (sample->rest_request.listeners.empty()) executor.prepare_ahead(sample->rest_request);
  begin(sample->rest, sample->rest_request, *launch.arena);
  sample->rest.whole = &launch;
  if (Status ready = executor.prepare(launch); !ready) {
    executor.finish_ahead();
    return ready;
  }
  return executor.prepare(sample->rest);
}

/// Behind the last warp.
Preparation finish(LaunchState& launch, Executor& executor, SampledLaunch* sample) {
  executor.finish(launch);
  Preparation all = launch.preparation;
  if (sample == nullptr) return all;
  executor.finish(sample->rest);
  all.seconds += sample->rest.preparation.seconds;
  if (all.source == CodeSource::kReady) all.source = sample->rest.preparation.source;
  return all;
}

/// Null when all blocks are counted: no sample was asked for, or a launch is so small that all are chosen.
std::unique_ptr<SampledLaunch> sample_of(const LaunchRequest& request) {
  if (!request.count || request.sample.all()) return nullptr;
  auto sample = std::make_unique<SampledLaunch>(request);
  return sample->blocks.counted_units() == sample->blocks.units() ? nullptr : std::move(sample);
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
  WL_CHECK(!request.by_oracle || request.sample.all(), "the oracle counts every block");
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
  const std::unique_ptr<SampledLaunch> sample = sample_of(request);
  if (Status ready = prepare(launch, executor, sample.get()); !ready) {
    report_cannot_run(launch, ready.error());
    outcome.findings = std::move(launch.findings);
    return outcome;
  }
  for (events::Listener* listener : request.listeners) listener->on_launch_begin(launch.info);
  size_t words = executor.counter_words(launch);
  if (sample != nullptr) words = std::max(words, executor.counter_words(sample->rest));
  std::vector<WorkerCounters> counters(launch.info.workers);
  for (WorkerCounters& c : counters) c.words.assign(words + WorkerCounters::kApart, 0);
  if (request.progress != nullptr) request.progress->begin();
  run_blocks(launch, executor, counters, sample.get());
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (sample != nullptr)
    add_sample(launch, *sample, outcome);
  else
    add_counts(launch, executor, counters, outcome);
  outcome.preparation = finish(launch, executor, sample.get());
  for (events::Listener* listener : request.listeners) listener->on_launch_end(launch.info);
  report_stop(launch);
  outcome.findings = std::move(launch.findings);
  // In the order of the text: which warp comes first differs from run to run.
  std::ranges::sort(launch.remarks, {}, &events::Finding::pc);
  std::ranges::move(launch.remarks, std::back_inserter(outcome.findings));
  return outcome;
}

}  // namespace warplens::exec
