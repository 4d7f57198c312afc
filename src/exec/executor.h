// SPDX-License-Identifier: Apache-2.0
// The two executors behind one interface. A LoadedKernel is a PTX entry made ready (control-flow graph, access sites);
// an Executor runs one warp of it to its end, calling back into the BlockRunner at barriers. The scheduler (grid.h)
// spreads blocks over worker threads and knows nothing of how a warp is executed.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/loops.h"
#include "base/file_cache.h"
#include "base/result.h"
#include "events/events.h"
#include "events/sample.h"
#include "exec/launch_progress.h"
#include "exec/warp_context.h"
#include "ir/kernel.h"
#include "machine/access_list.h"
#include "memory/arena.h"
#include "ptx/module.h"

namespace warplens::exec {

/// A module placed in device memory: variables allocated and initialised.
struct LoadedModule {
  std::shared_ptr<const ptx::Module> module;
  std::vector<uint64_t> symbols;  ///< by Module::variables index: device address of .global and .const, else 0
};
/// Allocates and fills the module's variables in `arena`. Fails when memory is used up.
Result<LoadedModule> load_module(std::shared_ptr<const ptx::Module> module, memory::Arena& arena);

class Program;  // the interpreter's form of a kernel (exec/program.h)

/// A kernel ready to run. Immutable; shared between launches.
struct LoadedKernel {
  const LoadedModule* module = nullptr;
  const ptx::Function* function = nullptr;       ///< the entry, or `inlined`
  std::shared_ptr<const ptx::Function> inlined;  ///< when a pass changed it: calls replaced, loops unrolled
  ir::Kernel graph;
  analysis::LoopForest loops;        ///< its layout is the order that docs/divergence.md speaks of
  std::vector<bool> spinning_loops;  ///< by loop (analysis/spin_loops.h)
  bool any_loop_spins() const {
    return std::find(spinning_loops.begin(), spinning_loops.end(), true) != spinning_loops.end();
  }
  bool has_barriers = false;  ///< of block or cluster, or in memory: warps of a block must take turns
  machine::AccessList accesses;
  events::KernelInfo info;
  /// By Module::variables index: LoadedModule::symbols, and offsets of the .shared variables that this kernel uses
  /// (as the GPU's assembler does, only those take shared memory). Addresses of unsized ones are dynamic_shared_offset.
  std::vector<uint64_t> symbols;
  uint32_t static_shared_bytes = 0;    ///< module-scope + function-scope
  uint32_t dynamic_shared_offset = 0;  ///< shared offset where unsized arrays begin
  uint32_t local_bytes = 0;            ///< per thread
  /// By Function::variables: shared offset / local offset / byte offset in the frame of call parameters (.param).
  std::vector<uint32_t> variable_offsets;
  uint32_t call_frame_bytes = 0;  ///< per thread: the .param variables of the body
  std::shared_ptr<const Program> program;
};
/// What is counted: the kernel as the GPU's assembler lays it out, as far as that is modelled (loops:
/// docs/unrolling.md), or as its PTX stands. Both compute the same.
enum class Level : uint8_t { kMachine, kPtx };
/// Diagnostics when the kernel needs what we lack (all of it at once).
Result<std::unique_ptr<LoadedKernel>> load_kernel(const LoadedModule& module, const ptx::Function& function,
                                                  Level level = Level::kMachine);

struct LaunchRequest {
  const LoadedKernel* kernel = nullptr;
  events::Dim3 grid, block, cluster;
  uint32_t dynamic_shared_bytes = 0;
  std::vector<uint8_t> params;  ///< Function::param_bytes bytes
  bool count = true;            ///< fill LaunchOutcome::counts
  /// Count access by access and lane by lane, by the plain rules (memory::CounterListener), instead of by closed forms
  /// in generated code: slow, and must give the same.
  bool by_oracle = false;
  /// Count so many of the blocks only, and scale (exec/block_sample.h). Not together with by_oracle.
  events::SampleChoice sample;
  std::vector<events::Listener*> listeners;
  unsigned workers = 0;  ///< 0: one per core
  /// Blocks that the device holds at once (occupancy): so many may wait for one another. Looked at for kernels that
  /// spin.
  uint64_t resident_blocks = 1024;
  /// What a cooperative launch's kernel finds in %envreg1 (high word) and %envreg2: the address of the 8 bytes that
  /// its grid barrier uses. 0: not a cooperative launch.
  uint64_t grid_workspace = 0;
  uint64_t id = 0;
  LaunchProgress* progress = nullptr;                ///< told of blocks that have ended; null: nobody looks
  const std::atomic<uint32_t>* interrupt = nullptr;  ///< set from outside: 1 = interrupted, 2 = timeout
  /// Receives what the kernel prints (vprintf), in whole calls, from any worker thread; empty: it goes to stdout.
  std::function<void(std::string_view)> print;
};

/// Where a launch's code came from.
enum class CodeSource : uint8_t {
  kReady,     ///< made for an earlier launch, or the interpreter needs none
  kCompiled,  ///< for this launch
  kCache,     ///< from the disk, for this launch
};
/// "compiled", "cache", or "" for code that was ready: as records and reports call it.
constexpr const char* word(CodeSource source) {
  return source == CodeSource::kCompiled ? "compiled" : source == CodeSource::kCache ? "cache" : "";
}
struct Preparation {
  CodeSource source = CodeSource::kReady;
  double seconds = 0;  ///< that compiling or loading took; part of it may have run beside earlier launches
  std::string slower;  ///< why the launch ran in the interpreter after all; empty: it did not
};

struct LaunchOutcome {
  std::vector<events::Finding> findings;  ///< first: what ended the launch, if anything did (events::ends_launch)
  events::LaunchCounts counts;            ///< of the warps that finished
  /// Null: every block was counted. Else `counts` are what it says.
  std::shared_ptr<const events::LaunchSample> sample;
  double seconds = 0;
  Preparation preparation;
  bool complete() const { return findings.empty() || !events::ends_launch(findings.front().kind); }
};

/// Values of LaunchState::stop and LaunchRequest::interrupt.
enum StopReason : uint32_t { kStopNone = 0, kStopInterrupt = 1, kStopTimeout = 2, kStopFault = 3 };

/// What the workers of one launch share.
struct LaunchState {
  const LaunchRequest* request = nullptr;
  events::LaunchInfo info;
  memory::Arena* arena = nullptr;
  std::atomic<uint32_t> stop{0};
  uint32_t interest = 0;  ///< OR of the listeners' interests
  std::mutex mutex;
  std::vector<events::Finding> findings;  ///< that end the launch
  std::vector<events::Finding> remarks;   ///< that let it go on: one an instruction
  std::vector<uint32_t> interests;        ///< by LaunchRequest::listeners
  std::shared_ptr<const void> prepared;   ///< the executor's own, from prepare()
  Preparation preparation;
  /// Of the blocks that a sample leaves out: the launch that they belong to.
  LaunchState* whole = nullptr;
  /// Records a finding (the first one wins the launch) and tells all warps to end. Called on a worker thread.
  void fail(events::Finding finding);
  /// Whether the instruction has a finding that lets the launch go on.
  bool has_remark(uint32_t pc);
  /// Records such a finding, unless its instruction has one. Called on a worker thread.
  void remark(events::Finding finding);
};

/// Runs warps of kernels; one instance serves all worker threads.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual const char* name() const = 0;
  /// Called once before a launch's warps run, on one thread: compile, size counters. Diagnostics: cannot run.
  virtual Status prepare(LaunchState& launch) = 0;
  /// A launch without listeners will come: its code may be made on other threads until then. The kernel must live until
  /// that launch has been prepared, or finish_ahead() was called.
  virtual void prepare_ahead(const LaunchRequest&) {}
  /// Returns when nothing is prepared ahead any more.
  virtual void finish_ahead() {}
  /// Bytes of stack that one warp of the prepared kernel needs.
  virtual uint64_t stack_bytes(const LaunchState& launch) const = 0;
  /// Runs one warp from entry to its end. Called on the warp's own stack.
  virtual void run_warp(LaunchState& launch, WarpContext& warp) = 0;
  /// Number of 64-bit words of WarpContext::counters, and of CachedRanges, that a worker needs.
  virtual size_t counter_words(const LaunchState& launch) const = 0;
  /// Called once when all warps of a prepared launch have ended: its kernel may go. Completes LaunchState::preparation.
  virtual void finish(LaunchState&) {}
  /// Turns the summed counter words of all workers into counts.
  virtual void collect(LaunchState& launch, const std::vector<uint64_t>& words, events::LaunchCounts& out) = 0;
};

/// Sees what registers hold while the interpreter runs, on its worker threads.
class RegisterObserver {
 public:
  virtual ~RegisterObserver() = default;
  /// Behind each instruction that some lanes (`lanes`) executed. `registers`: by Function::registers.
  virtual void after(const WarpContext& warp, uint32_t pc, uint32_t lanes,
                     std::span<const std::array<uint64_t, 32>> registers) = 0;
};
/// `observer` may be null, and must outlive the executor.
std::unique_ptr<Executor> make_interpreter(RegisterObserver* observer = nullptr);
/// A kernel's code is there twice, for full warps and under masks (codegen/kernel_writer.h).
enum class JitCopies : uint8_t {
  kAsNeeded,     ///< the masked copy is made when a warp needs it
  kOneFunction,  ///< both at once
  kMaskedOnly,
};
struct JitOptions {
  bool lane_classes =
      true;  ///< off: every register a vector, every block masked (differential tests, deoptimised kernels)
  JitCopies copies = JitCopies::kAsNeeded;
  size_t most_instructions = 20'000;  ///< of a kernel; larger ones run in the interpreter
  uint64_t many_warps = 512;          ///< that leave the full-mask copy, before both are made as one function
  uint64_t many_deoptimised = 16;     ///< warps that leave for the interpreter, before other code is made
  bool bounds = true;                 ///< find accesses out of bounds (benchmarks look at what that costs)
  bool avx512 = true;                 ///< use it where the machine has it
  std::shared_ptr<FileCache> cache;   ///< where compiled code is kept; null: nowhere
  std::string dump_after;             ///< pass name: print its result to stderr
};
std::unique_ptr<Executor> make_jit(JitOptions options);
/// The user's cache of compiled code (base/file_cache.h says where); null when it is switched off or has no place.
std::shared_ptr<FileCache> open_code_cache();

/// Takes a warp over from generated code that met a case it does not handle, and runs it to its end (same events, same
/// counts from here on). `registers` is [register][32 lanes], raw bits; lanes `mask` are about to execute instruction
/// `instr` of the block at layout position `position`; the others wait as `waiting` says, by position (at or before
/// `position`: they have taken the back edge to that loop header), followed by analysis::SpinWords where loops spin.
/// Counts go to `words`, in the interpreter's layout (interpreter_counter_words).
void interpret_from(LaunchState& launch, WarpContext& warp, const uint64_t* registers, uint32_t position, uint32_t mask,
                    uint32_t instr, const uint32_t* waiting, uint64_t* words);
/// The interpreter's counters: events::SiteCounts' eight words a site, then two words a block.
size_t interpreter_counter_words(const LoadedKernel& kernel);
void add_interpreter_counts(const LoadedKernel& kernel, const uint64_t* words, events::LaunchCounts& out);

/// Runs a launch to its end: checks limits are the caller's; blocks are spread over workers.
LaunchOutcome run_launch(const LaunchRequest& request, memory::Arena& arena, Executor& executor);

/// At a block barrier, called from the warp's stack by either executor. `expected` = 0: all threads of the block.
/// Returns when the barrier opens; does not return (unwinds by switching stacks for good) when the launch is being
/// ended.
void wait_at_barrier(WarpContext& warp, uint32_t barrier, uint32_t expected_threads, uint32_t mask, bool arrive_only);
/// The same for all threads of the block and a barrier number below 16, when no listener asks for barriers.
void wait_for_block(WarpContext& warp, uint32_t barrier);
/// bar.red: as above, and returns popc / and / or over all threads of `value_mask` (lanes whose predicate is true).
uint32_t wait_at_barrier_reduce(WarpContext& warp, uint32_t barrier, uint32_t expected_threads, uint32_t mask,
                                uint32_t value_mask, int op /*0 popc, 1 and, 2 or*/);
/// barrier.cluster.arrive and .wait of the warp. Return or not as wait_at_barrier.
void arrive_at_cluster_barrier(WarpContext& warp);
void wait_at_cluster_barrier(WarpContext& warp);
/// Lets other warps run (spinning, nanosleep); ends the warp when the launch is being ended.
void yield_warp(WarpContext& warp);
/// Ends the warp for good (after a fault): switches to the scheduler and never returns.
[[noreturn]] void abandon_warp(WarpContext& warp);

}  // namespace warplens::exec
