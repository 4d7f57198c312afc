// SPDX-License-Identifier: Apache-2.0
// What the engine needs beside the program's own data: it does not grow with the grid, and it keeps to the bounds that
// docs/speed.md states. Heap memory is counted by this program's own operator new, stacks by Stack.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "exec/block_sample.h"
#include "exec/fiber.h"
#include "support/ptx_launcher.h"

namespace {

std::atomic<uint64_t> live_bytes{0}, most_bytes{0};

void* counted_memory(size_t bytes, size_t align) {
  void* at = align <= alignof(std::max_align_t) ? std::malloc(bytes)
                                                : std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (at == nullptr) std::abort();
  const uint64_t live = live_bytes += malloc_usable_size(at);
  uint64_t most = most_bytes.load();
  while (live > most && !most_bytes.compare_exchange_weak(most, live)) {
  }
  return at;
}

void free_counted(void* at) {
  if (at != nullptr) live_bytes -= malloc_usable_size(at);
  std::free(at);
}

}  // namespace

void* operator new(size_t bytes) { return counted_memory(bytes, 1); }
void* operator new(size_t bytes, std::align_val_t align) { return counted_memory(bytes, static_cast<size_t>(align)); }
void operator delete(void* at) noexcept { free_counted(at); }
void operator delete(void* at, size_t) noexcept { free_counted(at); }
void operator delete(void* at, std::align_val_t) noexcept { free_counted(at); }
void operator delete(void* at, size_t, std::align_val_t) noexcept { free_counted(at); }

namespace warplens::exec {
namespace {

using test::kPtxHead;
using test::Params;
using test::PtxLauncher;

/// Shared and local memory, a barrier, a load of an address of which nothing is known, and a block that ends the
/// launch.
const std::string kKernel = kPtxHead + R"(
.visible .entry k(.param .u64 data, .param .u32 last) {
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<10>;
  .shared .align 4 .b8 tile[8192];
  .local .align 4 .b8 own[64];
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [last];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  shl.b32 %r4, %r3, 2;
  mov.u32 %r5, tile;
  add.u32 %r5, %r5, %r4;
  st.shared.u32 [%r5], %r3;
  mov.u64 %rd2, own;
  and.b32 %r6, %r3, 15;
  mul.wide.u32 %rd3, %r6, 4;
  add.s64 %rd2, %rd2, %rd3;
  st.local.u32 [%rd2], %r3;
  bar.sync 0;
  ld.local.u32 %r7, [%rd2];
  mul.lo.u32 %r8, %r7, 40503;
  and.b32 %r8, %r8, 1023;
  mul.wide.u32 %rd4, %r8, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.u32 %r9, [%rd5];
  st.shared.u32 [%r5], %r9;
  setp.ne.u32 %p1, %r2, %r1;
  @%p1 bra $done;
  trap;
$done:
  ret;
})";

struct Use {
  uint64_t heap = 0;    ///< the most that lived at once, above what lived before
  uint64_t stacks = 0;  ///< address space of stacks that were made for it and kept
};

constexpr uint64_t kWarps = 32;
/// A worker's block: what its warps see, shared memory (with the 1 KiB that the system has), 64 bytes of local memory a
/// thread; and 24 KiB for counters, cached ranges and the launch itself.
constexpr uint64_t kPerWorker = kWarps * sizeof(WarpContext) + 8192 + 1024 + kWarps * 32 * 64 + (24 << 10);
/// Frames of both parts of the code, hooks, listeners, guard page: less than 448 KiB for a small kernel.
constexpr uint64_t kStack = 448 << 10;

/// Blocks that run of large grids. Sanitizers clear each warp's whole stack: minutes for more.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WL_TEST_BLOCKS 200u
#endif
#endif
#ifndef WL_TEST_BLOCKS
#define WL_TEST_BLOCKS 10000u
#endif
constexpr uint32_t kMany = WL_TEST_BLOCKS;

class MemoryOverhead : public testing::Test {
 protected:
  MemoryOverhead() : launcher_(kKernel), data_(launcher_.zeros<uint32_t>(1024)) {
    use_of(64, 64, 2);       // code is compiled
    use_of(64, 64, 2, 0.3);  // and that of uncounted blocks
  }
  /// Of a launch that ends at block `last`.
  Use use_of(uint32_t grid, uint32_t last, unsigned workers, double share = 1) {
    PtxLauncher::Options options;
    options.grid = {grid, 1, 1};
    options.block = {1024, 1, 1};
    options.workers = workers;
    options.sample = {share, 0};
    const uint64_t before = live_bytes.load(), stacks = Stack::reserved_bytes();
    most_bytes = before;
    const LaunchOutcome outcome = launcher_.launch("k", options, Params().add(data_).add(last), jit_.get());
    EXPECT_EQ(outcome.complete(), last >= grid);
    const uint64_t stacks_now = Stack::reserved_bytes();
    return {most_bytes.load() - before, stacks_now > stacks ? stacks_now - stacks : 0};
  }
  std::unique_ptr<Executor> jit_ = make_jit({});
  PtxLauncher launcher_;
  uint32_t* data_;
};

TEST_F(MemoryOverhead, is_bounded_by_workers_whatever_the_grid) {
  for (const unsigned workers : {1u, 2u, 8u}) {
    for (const auto& [grid, last] : {std::pair(64u, 64u), std::pair(kMany, kMany), std::pair(2147483647u, kMany)}) {
      const Use use = use_of(grid, last, workers);
      EXPECT_LE(use.heap, kPerWorker * workers) << grid << " blocks, " << workers << " workers";
      EXPECT_LE(use.stacks, kStack * kWarps * workers);
    }
  }
}

TEST_F(MemoryOverhead, a_sample_takes_twice_that) {
  // Strata that are half counted: in each of the grid's parts one, and the blocks that run.
  for (const auto& [grid, last] : {std::pair(64u, 64u), std::pair(kMany, kMany), std::pair(2147483647u, kMany)}) {
    const Use use = use_of(grid, last, 2, 0.3);
    EXPECT_LE(use.heap, 2 * kPerWorker * 2) << grid << " blocks";
    EXPECT_LE(use.stacks, kStack * kWarps * 2 * 2);
  }
}

TEST_F(MemoryOverhead, stacks_that_are_kept_are_few) {
  // Blocks of a cluster run at the same time, each warp on a stack of its own: 16 x 32 here.
  PtxLauncher::Options options;
  options.grid = {16, 1, 1};
  options.block = {1024, 1, 1};
  options.cluster = {16, 1, 1};
  const uint64_t before = Stack::reserved_bytes();
  EXPECT_TRUE(launcher_.launch("k", options, Params().add(data_).add(uint32_t{16}), jit_.get()).complete());
  EXPECT_LE(Stack::reserved_bytes(), before + 128 * kStack);
}

}  // namespace
}  // namespace warplens::exec
