// SPDX-License-Identifier: Apache-2.0
#include "exec/block_runner.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bits.h"
#include "base/check.h"
#include "exec/access_check.h"
#include "exec/gang.h"
#include "exec/program.h"
#include "memory/address_space.h"

namespace warplens::exec {
namespace {

/// What listeners, runtime hooks and references need on a warp's stack besides the executor's own frames.
constexpr uint64_t kStackReserve = 64 << 10;

/// Stacks are kept by their thread: making them costs more than a small launch. Not more of them than four full blocks
/// need, though: a launch whose blocks all wait for each other may have had thousands.
constexpr size_t kMostKeptStacks = 128;
thread_local std::vector<Stack> t_kept_stacks;

Stack take_stack(uint64_t bytes) {
  while (!t_kept_stacks.empty()) {
    Stack stack = std::move(t_kept_stacks.back());
    t_kept_stacks.pop_back();
    if (stack.bytes() >= bytes) return stack;
  }
  return Stack(bytes);
}

void split(uint64_t index, const events::Dim3& dim, uint32_t (&out)[3]) {
  out[0] = static_cast<uint32_t>(index % dim.x);
  out[1] = static_cast<uint32_t>(index / dim.x % dim.y);
  out[2] = static_cast<uint32_t>(index / dim.x / dim.y);
}

/// What is the same for all blocks of a launch.
void fill_context(WarpContext& w, const LaunchState& launch, uint32_t warp) {
  const LaunchRequest& request = *launch.request;
  const LoadedKernel& kernel = *request.kernel;
  const memory::AddressSpace& space = launch.arena->space();
  w.params = request.params.data();
  w.shared_window = space.shared_window();
  w.local_window = space.local_window();
  w.global_begin = space.global_begin();
  w.static_shared_offset = memory::kSharedReservedBytes;
  w.dynamic_shared_offset = kernel.dynamic_shared_offset;
  w.shared_end = request.dynamic_shared_bytes != 0 ? kernel.dynamic_shared_offset + request.dynamic_shared_bytes
                                                   : memory::kSharedReservedBytes + kernel.static_shared_bytes;
  w.local_end = kernel.local_bytes;
  w.symbols = kernel.symbols.data();
  w.stop = &launch.stop;
  w.warp = warp;
  const events::Dim3& block = request.block;
  const uint32_t ntid[3] = {block.x, block.y, block.z};
  const uint32_t nctaid[3] = {request.grid.x, request.grid.y, request.grid.z};
  const uint32_t cluster[3] = {request.cluster.x, request.cluster.y, request.cluster.z};
  for (int i = 0; i < 3; ++i) {
    w.ntid[i] = ntid[i];
    w.nctaid[i] = nctaid[i];
    w.cluster_nctaid[i] = cluster[i];
    w.nclusterid[i] = nctaid[i] / cluster[i];
  }
  const uint64_t threads = block.count();
  w.entry_mask = static_cast<uint32_t>(low_bits(static_cast<unsigned>(std::min<uint64_t>(32, threads - warp * 32))));
  for (uint32_t lane = 0; lane < 32; ++lane) {
    // Lanes that do not exist get the numbers they would have: no code may depend on them, but patterns stay regular.
    uint32_t tid[3];
    split(uint64_t{warp} * 32 + lane, block, tid);
    w.tid_x[lane] = tid[0];
    w.tid_y[lane] = tid[1];
    w.tid_z[lane] = tid[2];
  }
}

}  // namespace

BlockRunner::BlockRunner(LaunchState& launch, Executor& executor, Place place, uint64_t* counters)
    : launch_(launch),
      executor_(executor),
      place_(place),
      in_turns_(place.has_neighbours || launch.request->kernel->has_barriers ||
                launch.request->kernel->any_loop_spins()) {
  const LoadedKernel& kernel = *launch.request->kernel;
  warps_ = static_cast<uint32_t>((launch.request->block.count() + 31) / 32);
  WL_CHECK(warps_ >= 1 && warps_ <= kMaxWarps, "{} warps in a block", warps_);
  contexts_.resize(warps_);
  ranges_.resize(std::max<size_t>(kernel.accesses.accesses.size(), 1));
  for (uint32_t i = 0; i < warps_; ++i) {
    WarpContext& w = contexts_[i];
    fill_context(w, launch, i);
    w.counters = w.worker_counters = counters;
    w.ranges = ranges_.data();
    w.runner = this;
    w.launch = &launch;
    w.worker = place.worker;
    w.cluster_rank = place.rank;
  }
  const uint64_t shared_bytes = contexts_[0].shared_end;
  if (shared_bytes > memory::kSharedReservedBytes || kernel.program->uses_reserved_shared)
    shared_ = std::make_unique<uint8_t[]>(shared_bytes);
  local_bytes_per_warp_ = uint64_t{kernel.local_bytes} * 32;
  const unsigned running = in_turns_ ? warps_ : 1;
  if (local_bytes_per_warp_ != 0) local_ = std::make_unique<uint8_t[]>(local_bytes_per_warp_ * running);
  for (uint32_t i = 0; i < warps_; ++i) {
    contexts_[i].shared = shared_.get();
    contexts_[i].local = local_.get() + (in_turns_ ? i * local_bytes_per_warp_ : 0);
  }
  const uint64_t stack_bytes = executor.stack_bytes(launch) + kStackReserve;
  for (unsigned i = 0; i < running; ++i) stacks_.push_back(take_stack(stack_bytes));
}

void BlockRunner::join_cluster() {
  for (WarpContext& w : contexts_) {
    w.cluster_shared = place_.cluster.shared.data();
    w.cluster_size = static_cast<uint32_t>(place_.cluster.shared.size());
    w.cluster_ended = place_.cluster.ended.data();
  }
}

BlockRunner::~BlockRunner() {
  for (WarpContext& w : contexts_)
    if (w.free_executor_state != nullptr) w.free_executor_state(w.executor_state);
  for (Fiber& fiber : fibers_) release_fiber(fiber);
  for (Stack& stack : stacks_)
    if (t_kept_stacks.size() < kMostKeptStacks) t_kept_stacks.push_back(std::move(stack));
}

void BlockRunner::begin_block(uint64_t block) {
  const LaunchRequest& request = *launch_.request;
  uint32_t ctaid[3];
  split(block, request.grid, ctaid);
  for (WarpContext& w : contexts_) {
    w.block = block;
    for (int i = 0; i < 3; ++i) {
      w.ctaid[i] = ctaid[i];
      w.cluster_ctaid[i] = ctaid[i] % w.cluster_nctaid[i];
      w.clusterid[i] = ctaid[i] / w.cluster_nctaid[i];
    }
  }
  // The hardware leaves shared memory as it was; zero makes every run the same.
  const uint32_t end = contexts_[0].shared_end;
  if (shared_) std::memset(shared_.get() + memory::kSharedReservedForCode, 0, end - memory::kSharedReservedForCode);
  for (Barrier& b : barriers_) b = {};
  at_cluster_barrier_ = cluster_waiting_ = 0;
  live_ = ready_ = static_cast<uint32_t>(low_bits(warps_));
  place_.cluster.ended[place_.rank] = 0;
  live_warps_ = warps_;
  if (!in_turns_) return;
  for (uint32_t i = 0; i < warps_; ++i) begin_warp(i);
}

void BlockRunner::run() {
  if (!in_turns_) return run_one_by_one();
  starting_ = 0;
  switch_fiber(place_.gang.thread(), fibers_[0]);
}

void BlockRunner::resume(uint32_t warp) { switch_fiber(place_.gang.thread(), fibers_[warp]); }

void BlockRunner::begin_warp(uint32_t warp) {
  if (local_bytes_per_warp_ != 0) std::memset(contexts_[warp].local, 0, local_bytes_per_warp_);
  prepare_fiber(fibers_[warp], stacks_[in_turns_ ? warp : 0], &BlockRunner::fiber_main, this);
}

void BlockRunner::run_one_by_one() {
  for (uint32_t i = 0; i < warps_ && !place_.gang.abandoned; ++i) {
    begin_warp(i);
    starting_ = i;
    switch_fiber(place_.gang.thread(), fibers_[i]);
  }
}

void BlockRunner::fiber_main(void* self) {
  fiber_entered();
  static_cast<BlockRunner*>(self)->warp_main();
}

void BlockRunner::warp_main() {
  const uint32_t warp = starting_;
  executor_.run_warp(launch_, contexts_[warp]);
  finish_warp(warp);
}

void BlockRunner::finish_warp(uint32_t warp) {
  if (!in_turns_) leave_fiber(fibers_[warp], place_.gang.thread());
  live_ &= ~(uint32_t{1} << warp);
  if (live_ == 0) place_.cluster.ended[place_.rank] = 1;
  --live_warps_;
  ready_ &= ~(uint32_t{1} << warp);
  for (Barrier& b : barriers_)
    if (b.arrived != 0) open_if_complete(b);
  place_.cluster.open_if_complete();
  switch_away(warp, true);
}

/// Lets the waiting warps go when all have come.
void BlockRunner::open_if_complete(Barrier& barrier) {
  const auto needed = barrier.expected != 0 ? barrier.expected : live_warps_;
  if (barrier.arrived < needed) return;
  ready_ |= barrier.waiting;
  for_each_lane(barrier.waiting, [&](int warp) { came_through_[static_cast<size_t>(warp)] = barrier.reduction; });
  barrier = {};
}

uint32_t BlockRunner::next_warp(uint32_t first) const {
  return (first + static_cast<uint32_t>(std::countr_zero(std::rotr(ready_, static_cast<int>(first % 32))))) % 32;
}

void BlockRunner::go_on(uint32_t from, bool ended, BlockRunner* block, uint32_t warp) {
  if (block != nullptr) block->starting_ = warp;
  Fiber& to = block != nullptr ? block->fibers_[warp] : place_.gang.thread();
  if (ended || place_.gang.abandoned) leave_fiber(fibers_[from], to);
  switch_fiber(fibers_[from], to);
}

void BlockRunner::switch_away(uint32_t from, bool ended) {
  // The next warp in the ring: at a barrier of all warps it is the neighbour.
  if (ready_ != 0) return go_on(from, ended, this, next_warp(from + 1));
  BlockRunner* other = place_.gang.next_ready(place_.index);
  // Nobody can run, but somebody waits: for a warp that will never come.
  if (other == nullptr && place_.gang.anyone_live()) place_.gang.report_deadlock();
  go_on(from, ended, other, other == nullptr ? 0 : other->next_warp(0));
}

bool BlockRunner::report_deadlock() {
  for (uint32_t id = 0; id < kBarriers; ++id) {
    if (barriers_[id].waiting == 0) continue;
    report_deadlock(contexts_[static_cast<size_t>(std::countr_zero(barriers_[id].waiting))], id);
    return true;
  }
  if (cluster_waiting_ == 0) return false;
  const WarpContext& warp = contexts_[static_cast<size_t>(std::countr_zero(cluster_waiting_))];
  events::Finding f = finding_at(warp, events::FindingKind::kDeadlock, warp.waiting_pc,
                                 static_cast<unsigned>(std::countr_zero(warp.entry_mask)));
  f.message = "waits at the cluster's barrier, and the others of its cluster wait elsewhere";
  launch_.fail(std::move(f));
  return true;
}

void BlockRunner::report_deadlock(const WarpContext& warp, uint32_t barrier) {
  const Barrier& b = barriers_[barrier];
  events::Finding f = finding_at(warp, events::FindingKind::kDeadlock, warp.waiting_pc,
                                 static_cast<unsigned>(std::countr_zero(warp.entry_mask)));
  f.message = b.expected != 0
                  ? fmt::format("barrier {} waits for {} warps, {} came, and no warp of the block can go on", barrier,
                                b.expected, b.arrived)
                  : fmt::format("{} of the block's {} running warps wait at barrier {}, and the others wait elsewhere",
                                b.arrived, std::popcount(live_), barrier);
  launch_.fail(std::move(f));
}

void BlockRunner::barrier(WarpContext& warp, uint32_t id, uint32_t expected_threads, uint32_t mask, uint32_t value_mask,
                          bool arrive_only) {
  WL_CHECK(in_turns_ && id < kBarriers);
  Barrier& b = barriers_[id];
  b.arrived += 1;
  if (expected_threads != 0) b.expected = (expected_threads + 31) / 32;
  b.reduction.popc += static_cast<uint32_t>(std::popcount(value_mask & mask));
  b.reduction.all = b.reduction.all && (value_mask & mask) == mask;
  b.reduction.any = b.reduction.any || (value_mask & mask) != 0;
  const uint32_t bit = uint32_t{1} << warp.warp;
  if (!arrive_only) {
    b.waiting |= bit;
    ready_ &= ~bit;
  }
  open_if_complete(b);
  if ((ready_ & bit) == 0) switch_away(warp.warp, false);
  if (launch_.stop.load(std::memory_order_relaxed) != 0) abandon(warp);
}

// Half the time of a kernel with many barriers goes by between them. The switch is this function's last act, so that
// the compiler makes it a jump: the warp then resumes in its kernel's code, with no returns on the way whose addresses
// a processor would predict from another warp's calls.
inline void BlockRunner::barrier_of_all(WarpContext& warp, uint32_t id) {
  Barrier& b = barriers_[id];
  const uint32_t bit = uint32_t{1} << warp.warp, others = ready_ & ~bit;
  if (b.arrived + 1 == live_warps_ && b.expected == 0) {
    ready_ |= b.waiting;
    b.arrived = b.waiting = 0;
    return;
  }
  if (others == 0 || b.expected != 0 || launch_.stop.load(std::memory_order_relaxed) != 0)
    return barrier(warp, id, 0, warp.entry_mask, 0, false);
  ++b.arrived;
  b.waiting |= bit;
  ready_ = others;
  starting_ = next_warp(warp.warp + 1);
  switch_fiber(fibers_[warp.warp], fibers_[starting_]);
}

void BlockRunner::yield(WarpContext& warp) {
  if (launch_.stop.load(std::memory_order_relaxed) != 0) abandon(warp);
  if (!in_turns_) {
    sched_yield();  // what it waits for comes from another worker's block
    return;
  }
  // In turn through the block and then through the gang.
  Gang& gang = place_.gang;
  const uint32_t behind = ready_ & ~static_cast<uint32_t>(low_bits(warp.warp + 1));
  BlockRunner* next = behind != 0 ? this : gang.next_ready(place_.index);
  if (next == nullptr) next = this;
  const uint32_t to = behind != 0 ? static_cast<uint32_t>(std::countr_zero(behind)) : next->next_warp(0);
  if ((next == this && to == warp.warp) || gang.all_have_yielded())
    gang.suspend(*this, warp.warp, fibers_[warp.warp]);
  else
    go_on(warp.warp, false, next, to);
  if (launch_.stop.load(std::memory_order_relaxed) != 0) abandon(warp);
}

void BlockRunner::abandon(WarpContext& warp) {
  // The launch ends: none of the block's other warps need to run again.
  WL_CHECK(launch_.stop.load() != 0, "a warp was abandoned while the launch goes on");
  place_.gang.abandoned = true;
  leave_fiber(fibers_[warp.warp], place_.gang.thread());
}

void BlockRunner::cluster_arrive(WarpContext& warp) {
  at_cluster_barrier_ |= uint32_t{1} << warp.warp;
  place_.cluster.open_if_complete();
}

void BlockRunner::cluster_wait(WarpContext& warp) {
  const uint32_t bit = uint32_t{1} << warp.warp;
  if (at_cluster_barrier_ & bit) {  // else it has opened since
    cluster_waiting_ |= bit;
    ready_ &= ~bit;
    switch_away(warp.warp, false);
  }
  if (launch_.stop.load(std::memory_order_relaxed) != 0) abandon(warp);
}

void BlockRunner::open_cluster_barrier() {
  ready_ |= cluster_waiting_;
  at_cluster_barrier_ = cluster_waiting_ = 0;
}

// --- the functions that executors call

void wait_at_barrier(WarpContext& warp, uint32_t barrier, uint32_t expected_threads, uint32_t mask, bool arrive_only) {
  warp.runner->barrier(warp, barrier, expected_threads, mask, 0, arrive_only);
}

void wait_for_block(WarpContext& warp, uint32_t barrier) { warp.runner->barrier_of_all(warp, barrier); }

uint32_t wait_at_barrier_reduce(WarpContext& warp, uint32_t barrier, uint32_t expected_threads, uint32_t mask,
                                uint32_t value_mask, int op) {
  warp.runner->barrier(warp, barrier, expected_threads, mask, value_mask, false);
  const BlockRunner::Reduction r = warp.runner->reduction_of(warp);
  if (op == 0) return r.popc;
  return op == 1 ? r.all : r.any;
}

void arrive_at_cluster_barrier(WarpContext& warp) { warp.runner->cluster_arrive(warp); }

void wait_at_cluster_barrier(WarpContext& warp) { warp.runner->cluster_wait(warp); }

void yield_warp(WarpContext& warp) { warp.runner->yield(warp); }

void abandon_warp(WarpContext& warp) { warp.runner->abandon(warp); }

}  // namespace warplens::exec
