// SPDX-License-Identifier: Apache-2.0
#include "exec/block_runner.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/bits.h"
#include "base/check.h"
#include "exec/access_check.h"
#include "memory/address_space.h"

namespace warplens::exec {
namespace {

/// What listeners, runtime hooks and references need on a warp's stack besides the executor's own frames.
constexpr uint64_t kStackReserve = 64 << 10;

/// Stacks are kept by their thread: making them costs more than a small launch.
thread_local std::vector<Stack> t_kept_stacks;

Stack take_stack(uint64_t bytes) {
  while (!t_kept_stacks.empty()) {
    Stack stack = std::move(t_kept_stacks.back());
    t_kept_stacks.pop_back();
    if (stack.bytes() >= bytes) return stack;
  }
  return Stack(bytes);
}

bool any_loop_spins(const LoadedKernel& kernel) {
  return std::find(kernel.spinning_loops.begin(), kernel.spinning_loops.end(), true) != kernel.spinning_loops.end();
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

BlockRunner::BlockRunner(LaunchState& launch, Executor& executor, unsigned worker, uint64_t* counters)
    : launch_(launch),
      executor_(executor),
      in_turns_(launch.request->kernel->has_barriers || any_loop_spins(*launch.request->kernel)) {
  const LoadedKernel& kernel = *launch.request->kernel;
  warps_ = static_cast<uint32_t>((launch.request->block.count() + 31) / 32);
  WL_CHECK(warps_ >= 1 && warps_ <= kMaxWarps, "{} warps in a block", warps_);
  contexts_.resize(warps_);
  ranges_.resize(std::max<size_t>(kernel.accesses.accesses.size(), 1));
  for (uint32_t i = 0; i < warps_; ++i) {
    WarpContext& w = contexts_[i];
    fill_context(w, launch, i);
    w.counters = counters;
    w.ranges = ranges_.data();
    w.runner = this;
    w.launch = &launch;
    w.worker = worker;
  }
  const uint64_t shared_bytes = contexts_[0].shared_end;
  if (shared_bytes > memory::kSharedReservedBytes) shared_ = std::make_unique<uint8_t[]>(shared_bytes);
  local_bytes_per_warp_ = uint64_t{kernel.local_bytes} * 32;
  const unsigned running = in_turns_ ? warps_ : 1;
  if (local_bytes_per_warp_ != 0) local_ = std::make_unique<uint8_t[]>(local_bytes_per_warp_ * running);
  for (uint32_t i = 0; i < warps_; ++i) {
    contexts_[i].shared = shared_.get();
    contexts_[i].local = local_.get() + (in_turns_ ? i * local_bytes_per_warp_ : 0);
  }
  const uint64_t stack_bytes = executor.stack_bytes(launch) + kStackReserve;
  for (unsigned i = 0; i < running; ++i) stacks_.push_back(take_stack(stack_bytes));
  adopt_thread(thread_);
}

BlockRunner::~BlockRunner() {
  for (WarpContext& w : contexts_)
    if (w.free_executor_state != nullptr) w.free_executor_state(w.executor_state);
  for (Fiber& fiber : fibers_) release_fiber(fiber);
  for (Stack& stack : stacks_) t_kept_stacks.push_back(std::move(stack));
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
  if (end > memory::kSharedReservedBytes)
    std::memset(shared_.get() + memory::kSharedReservedBytes, 0, end - memory::kSharedReservedBytes);
  for (Barrier& b : barriers_) b = {};
  live_ = ready_ = static_cast<uint32_t>(low_bits(warps_));
}

void BlockRunner::run_block(uint64_t block) {
  begin_block(block);
  if (in_turns_)
    run_in_turns();
  else
    run_one_by_one();
}

void BlockRunner::resume() {
  const uint32_t warp = std::exchange(suspended_, kNoWarp);
  switch_fiber(thread_, fibers_[warp]);
}

void BlockRunner::begin_warp(uint32_t warp) {
  if (local_bytes_per_warp_ != 0) std::memset(contexts_[warp].local, 0, local_bytes_per_warp_);
  prepare_fiber(fibers_[warp], stacks_[in_turns_ ? warp : 0], &BlockRunner::fiber_main, this);
}

void BlockRunner::run_in_turns() {
  for (uint32_t i = 0; i < warps_; ++i) begin_warp(i);
  starting_ = 0;
  switch_fiber(thread_, fibers_[0]);
}

void BlockRunner::run_one_by_one() {
  for (uint32_t i = 0; i < warps_ && !abandoned_; ++i) {
    begin_warp(i);
    starting_ = i;
    switch_fiber(thread_, fibers_[i]);
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
  live_ &= ~(uint32_t{1} << warp);
  ready_ &= ~(uint32_t{1} << warp);
  if (!in_turns_) leave_fiber(fibers_[warp], thread_);
  for (Barrier& b : barriers_)
    if (b.arrived != 0) open_if_complete(b);
  switch_away(warp, true);
}

/// Lets the waiting warps go when all have come.
void BlockRunner::open_if_complete(Barrier& barrier) {
  const auto needed = barrier.expected != 0 ? barrier.expected : static_cast<uint32_t>(std::popcount(live_));
  if (barrier.arrived < needed) return;
  ready_ |= barrier.waiting;
  for_each_lane(barrier.waiting, [&](int warp) { came_through_[static_cast<size_t>(warp)] = barrier.reduction; });
  barrier = {};
}

void BlockRunner::switch_away(uint32_t from, bool ended) {
  uint32_t next = 0;
  if (ready_ != 0) {
    // The next warp in the ring: at a barrier of all warps it is the neighbour.
    next = (from + 1 + static_cast<uint32_t>(std::countr_zero(std::rotr(ready_, static_cast<int>(from + 1))))) % 32;
  } else if (live_ != 0) {
    // Somebody waits for a warp that will never come.
    for (uint32_t id = 0; id < kBarriers; ++id) {
      if (barriers_[id].waiting == 0) continue;
      report_deadlock(contexts_[static_cast<size_t>(std::countr_zero(barriers_[id].waiting))], id);
      break;
    }
    abandoned_ = true;
  }
  Fiber& to = ready_ != 0 ? fibers_[next] : thread_;
  if (ready_ != 0) starting_ = next;
  if (ended || abandoned_) leave_fiber(fibers_[from], to);
  switch_fiber(fibers_[from], to);
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

void BlockRunner::yield(WarpContext& warp) {
  if (launch_.stop.load(std::memory_order_relaxed) != 0) abandon(warp);
  const uint32_t bit = uint32_t{1} << warp.warp;
  if (!in_turns_) {
    sched_yield();  // what it waits for comes from another worker's block
    return;
  }
  if ((ready_ & ~bit) != 0 && ++yields_ <= static_cast<uint32_t>(std::popcount(ready_))) {
    switch_away(warp.warp, false);
  } else {  // what they wait for comes from another block
    yields_ = 0;
    suspended_ = warp.warp;
    switch_fiber(fibers_[warp.warp], thread_);
  }
  if (launch_.stop.load(std::memory_order_relaxed) != 0) abandon(warp);
}

void BlockRunner::abandon(WarpContext& warp) {
  // The launch ends: none of the block's other warps need to run again.
  WL_CHECK(launch_.stop.load() != 0, "a warp was abandoned while the launch goes on");
  abandoned_ = true;
  leave_fiber(fibers_[warp.warp], thread_);
}

// --- the functions that executors call

void wait_at_barrier(WarpContext& warp, uint32_t barrier, uint32_t expected_threads, uint32_t mask, bool arrive_only) {
  warp.runner->barrier(warp, barrier, expected_threads, mask, 0, arrive_only);
}

uint32_t wait_at_barrier_reduce(WarpContext& warp, uint32_t barrier, uint32_t expected_threads, uint32_t mask,
                                uint32_t value_mask, int op) {
  warp.runner->barrier(warp, barrier, expected_threads, mask, value_mask, false);
  const BlockRunner::Reduction r = warp.runner->reduction_of(warp);
  if (op == 0) return r.popc;
  return op == 1 ? r.all : r.any;
}

void yield_warp(WarpContext& warp) { warp.runner->yield(warp); }

void abandon_warp(WarpContext& warp) { warp.runner->abandon(warp); }

}  // namespace warplens::exec
