// SPDX-License-Identifier: Apache-2.0
// Kernels whose threads wait for each other in loops, by both executors. With one worker everything is determined, so
// memory, counts and events are compared; with several only what the program promises, which is checked against plain
// C++ everywhere. On an H200 every case ended as promised, 200 times of 200.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "jit_variants.h"
#include "two_executors.h"

namespace warplens::test {
namespace {

using Words = std::vector<uint32_t>;

struct Case {
  const char* name;
  events::Dim3 grid, block;
  size_t words;      ///< of `data`, zero at the start
  const char* body;  ///< %rd1: data, %r1: thread, %r2: block, %r3: threads of a block
  bool (*holds)(const Words& data, const Case& c);
  uint32_t threads() const { return static_cast<uint32_t>(grid.count() * block.count()); }
};

std::string kernel_of(const char* body) {
  return kPtxHead + fmt::format(R"(
.visible .entry k(.param .u64 data) {{
  .reg .pred %p<16>; .reg .b32 %r<40>; .reg .b64 %rd<24>;
  .shared .align 4 .u32 word;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 4;
  add.s64 %rd2, %rd1, %rd2;
{}
  ret;
}})",
                                body);
}

/// data[0]: lock; data[1]: counted under the lock.
constexpr const char* kLaneLock = R"(
$spin:
  atom.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra $spin;
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r11, %r11, 1;
  st.volatile.global.u32 [%rd1+4], %r11;
  membar.gl;
  atom.global.exch.b32 %r12, [%rd1], 0;)";

/// The same with the critical section inside the loop, as `while (!done) if (got it) { ...; done = true; }`.
constexpr const char* kLockInsideTheLoop = R"(
  mov.u32 %r15, 0;
$again:
  atom.acquire.gpu.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra $not_mine;
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r11, %r11, 1;
  st.volatile.global.u32 [%rd1+4], %r11;
  mov.u32 %r15, 1;
  membar.gl;
  st.release.gpu.global.u32 [%rd1], 0;
$not_mine:
  setp.eq.u32 %p2, %r15, 0;
  @%p2 bra $again;)";

/// Each lane takes the lock in each of five rounds: the round's number is the same for lanes that go together only.
constexpr const char* kLockInRounds = R"(
  mov.u32 %r20, 0;
  mov.u32 %r21, 0;
$round:
$spin:
  atom.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra $spin;
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r11, %r11, %r20;
  st.volatile.global.u32 [%rd1+4], %r11;
  membar.gl;
  atom.global.exch.b32 %r12, [%rd1], 0;
  mad.lo.u32 %r21, %r20, 7, %r21;
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p2, %r20, 5;
  @%p2 bra $round;
  add.u32 %r21, %r21, %r4;
  st.global.u32 [%rd2+8], %r21;)";

/// The same with a loop of its own for the lock.
constexpr const char* kLoopInRounds = R"(
  mov.u32 %r20, 0;
  mov.u32 %r21, 0;
$round:
  mul.lo.u32 %r22, %r20, 7;
$spin:
  atom.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra $spin;
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r11, %r11, %r20;
  st.volatile.global.u32 [%rd1+4], %r11;
  membar.gl;
  atom.global.exch.b32 %r12, [%rd1], 0;
  add.u32 %r21, %r21, %r22;
  add.u32 %r20, %r20, 1;
  setp.lt.u32 %p2, %r20, 5;
  @%p2 bra $round;
  add.u32 %r21, %r21, %r4;
  st.global.u32 [%rd2+8], %r21;)";

/// A number drawn under one lock is kept while another lock is waited for: the load is of one address, but lanes that
/// come at different times get different numbers.
constexpr const char* kTwoLocks = R"(
$spin:
  atom.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra $spin;
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r12, %r11, 1;
  st.volatile.global.u32 [%rd1+4], %r12;
  membar.gl;
  atom.global.exch.b32 %r13, [%rd1], 0;
$spin2:
  atom.global.cas.b32 %r14, [%rd1+8], 0, 1;
  setp.ne.u32 %p2, %r14, 0;
  @%p2 bra $spin2;
  st.global.u32 [%rd2+12], %r11;
  membar.gl;
  atom.global.exch.b32 %r15, [%rd1+8], 0;)";

/// Odd lanes wait for what even lanes store where all of them meet.
constexpr const char* kWaitForLanesBehind = R"(
  and.b32 %r10, %r1, 1;
  setp.eq.u32 %p1, %r10, 0;
  @%p1 bra $meet;
$wait:
  ld.volatile.global.u32 %r11, [%rd1];
  setp.eq.u32 %p2, %r11, 0;
  @%p2 bra $wait;
$meet:
  mov.u32 %r12, 5;
  st.volatile.global.u32 [%rd1], %r12;
  st.global.u32 [%rd2+4], %r12;)";

/// A lock that thread 0 of each block takes; the others wait at a barrier.
constexpr const char* kBlockLock = R"(
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $inside;
$spin:
  atom.acquire.gpu.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.ne.u32 %p2, %r10, 0;
  @%p2 bra $spin;
$inside:
  bar.sync 0;
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r12, %r11, 1;
  bar.sync 0;
  st.volatile.global.u32 [%rd1+4], %r12;
  membar.gl;
  bar.sync 0;
  st.global.u32 [%rd2+8], %r11;
  @%p1 bra $out;
  st.release.gpu.global.u32 [%rd1], 0;
$out:)";

/// All wait, with pauses, for what the last block says.
constexpr const char* kNanosleep = R"(
  mov.u32 %r10, %nctaid.x;
  sub.u32 %r10, %r10, 1;
  setp.eq.u32 %p1, %r2, %r10;
  @%p1 bra $say;
  mov.u32 %r13, 8;
$wait:
  ld.relaxed.gpu.global.u32 %r11, [%rd1];
  setp.ne.u32 %p2, %r11, 0;
  @%p2 bra $heard;
  nanosleep.u32 %r13;
  shl.b32 %r13, %r13, 1;
  min.u32 %r13, %r13, 256;
  bra $wait;
$heard:
  st.global.u32 [%rd2+4], %r11;
  ret;
$say:
  mov.u32 %r12, 77;
  st.global.u32 [%rd2+4], %r12;
  setp.ne.u32 %p3, %r1, 0;
  @%p3 bra $said;
  st.relaxed.gpu.global.u32 [%rd1], %r12;
$said:)";

/// Barrier of all blocks, three times: in each phase a thread adds what a thread of the next block has stored.
constexpr const char* kGridBarrier = R"(
  mov.u32 %r10, %nctaid.x;
  mul.lo.u32 %r11, %r10, %r3;
  mul.wide.u32 %rd10, %r11, 4;
  add.u32 %r17, %r4, %r3;
  setp.ge.u32 %p3, %r17, %r11;
  @%p3 sub.u32 %r17, %r17, %r11;
  mul.wide.u32 %rd3, %r17, 4;
  add.s64 %rd3, %rd1, %rd3;
  add.u32 %r12, %r4, 1;
  mov.u32 %r13, %r10;
  setp.ne.u32 %p1, %r1, 0;
$phase:
  st.global.u32 [%rd2+4], %r12;
  membar.gl;
  bar.sync 0;
  @%p1 bra $met;
  atom.release.gpu.global.add.u32 %r15, [%rd1], 1;
$wait:
  ld.acquire.gpu.global.u32 %r16, [%rd1];
  setp.lt.u32 %p2, %r16, %r13;
  @%p2 bra $wait;
$met:
  bar.sync 0;
  ld.volatile.global.u32 %r18, [%rd3+4];
  add.u32 %r12, %r12, %r18;
  add.s64 %rd2, %rd2, %rd10;
  add.s64 %rd3, %rd3, %rd10;
  add.u32 %r13, %r13, %r10;
  shl.b32 %r14, %r10, 2;
  setp.lt.u32 %p4, %r13, %r14;
  @%p4 bra $phase;
  st.global.u32 [%rd2+4], %r12;)";

/// Inclusive scan of 1 + i % 5 over all threads, a block waiting for its predecessor. data: sums by block with states
/// behind them (1: there), then the results.
constexpr const char* kChainedScan = R"(
  mov.u32 %r10, %nctaid.x;
  rem.u32 %r11, %r4, 5;
  add.u32 %r11, %r11, 1;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd3, %rd1, %rd3;
  mul.wide.u32 %rd4, %r10, 4;
  add.s64 %rd5, %rd3, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd6, %rd6, %rd4;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $share;
  mov.u32 %r12, 0;
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra $known;
$wait:
  ld.acquire.gpu.global.u32 %r13, [%rd5+-4];
  setp.eq.u32 %p3, %r13, 0;
  @%p3 bra $wait;
  ld.global.u32 %r12, [%rd3+-4];
$known:
  st.shared.u32 [word], %r12;
  mul.lo.u32 %r14, %r2, %r3;
  add.u32 %r15, %r14, %r3;
$sum:
  rem.u32 %r16, %r14, 5;
  add.u32 %r12, %r12, %r16;
  add.u32 %r12, %r12, 1;
  add.u32 %r14, %r14, 1;
  setp.lt.u32 %p4, %r14, %r15;
  @%p4 bra $sum;
  st.global.u32 [%rd3], %r12;
  st.release.gpu.global.u32 [%rd5], 1;
$share:
  bar.sync 0;
  ld.shared.u32 %r17, [word];
  mul.lo.u32 %r14, %r2, %r3;
$mine:
  rem.u32 %r16, %r14, 5;
  add.u32 %r17, %r17, %r16;
  add.u32 %r17, %r17, 1;
  add.u32 %r14, %r14, 1;
  setp.le.u32 %p5, %r14, %r4;
  @%p5 bra $mine;
  st.global.u32 [%rd6], %r17;)";

/// Decoupled look-back over blocks of one warp (Merrill and Garland, "Single-pass parallel prefix scan with decoupled
/// look-back"): the lanes look at 32 predecessors at once. data: states (1: own sum there, 2: prefix there), own sums,
/// inclusive prefixes. A block's own sum is 1 + block % 7.
constexpr const char* kLookBack = R"(
  mov.u32 %r10, %nctaid.x;
  mul.wide.u32 %rd4, %r10, 4;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd3, %rd1, %rd3;
  add.s64 %rd5, %rd3, %rd4;
  add.s64 %rd6, %rd5, %rd4;
  rem.u32 %r11, %r2, 7;
  add.u32 %r11, %r11, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra $look;
  st.global.u32 [%rd5], %r11;
  st.release.gpu.global.u32 [%rd3], 1;
$look:
  mov.u32 %r12, %r11;
  sub.s32 %r13, %r2, 1;
  sub.s32 %r13, %r13, %r1;
$window:
  setp.ge.s32 %p2, %r13, 0;
  max.s32 %r30, %r13, 0;
  mul.wide.u32 %rd7, %r30, 4;
  add.s64 %rd7, %rd1, %rd7;
  add.s64 %rd8, %rd7, %rd4;
  add.s64 %rd9, %rd8, %rd4;
$wait:
  mov.u32 %r14, 2;
  @%p2 ld.acquire.gpu.global.u32 %r14, [%rd7];
  setp.eq.u32 %p3, %r14, 0;
  vote.sync.any.pred %p4, %p3, 0xffffffff;
  @%p4 bra $wait;
  setp.eq.u32 %p5, %r14, 2;
  mov.u32 %r15, 0;
  mov.u32 %r16, 0;
  @%p2 ld.global.u32 %r15, [%rd8];
  @%p2 ld.global.u32 %r16, [%rd9];
  selp.b32 %r15, %r16, %r15, %p5;
  vote.sync.ballot.b32 %r17, %p5, 0xffffffff;
  brev.b32 %r18, %r17;
  clz.b32 %r18, %r18;
  setp.gt.u32 %p6, %r1, %r18;
  selp.b32 %r15, 0, %r15, %p6;
  redux.sync.add.u32 %r19, %r15, 0xffffffff;
  add.u32 %r12, %r12, %r19;
  sub.s32 %r13, %r13, 32;
  setp.eq.u32 %p7, %r17, 0;
  @%p7 bra $window;
  @%p1 bra $out;
  st.global.u32 [%rd6], %r12;
  st.release.gpu.global.u32 [%rd3], 2;
$out:)";

/// Threads of the first block hand numbers to those of the second, each in 16 bytes with twice the number: nobody may
/// see a half. data: 4 words a thread, then what was seen wrong, then the last number seen.
constexpr const char* kWholeVectors = R"(
  mul.wide.u32 %rd3, %r1, 16;
  add.s64 %rd3, %rd1, %rd3;
  mul.wide.u32 %rd4, %r3, 16;
  add.s64 %rd4, %rd1, %rd4;
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd4, %rd4, %rd5;
  mov.u64 %rd10, 0;
  mov.u32 %r10, 0;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra $look;
$next:
  add.u64 %rd10, %rd10, 1;
  shl.b64 %rd11, %rd10, 1;
  st.relaxed.gpu.global.v2.u64 [%rd3], {%rd11, %rd10};
  setp.lt.u64 %p2, %rd10, 3000;
  @%p2 bra $next;
  ret;
$look:
  ld.relaxed.gpu.global.v2.u64 {%rd12, %rd13}, [%rd3];
  shl.b64 %rd14, %rd13, 1;
  setp.ne.u64 %p3, %rd14, %rd12;
  @%p3 add.u32 %r10, %r10, 1;
  setp.lt.u64 %p4, %rd13, 3000;
  @%p4 bra $look;
  st.global.u32 [%rd4], %r10;)";

bool nothing_seen_wrong(const Words& d, const Case& c) {
  const auto threads = static_cast<uint32_t>(c.block.count());
  for (uint32_t t = 0; t < threads; ++t)
    if (d[4 * t] != 6000 || d[4 * t + 2] != 3000 || d[4 * threads + t] != 0) return false;
  return true;
}

/// Two counted loops with one header, the inner one with another number of rounds in each lane: t, then once more.
constexpr const char* kOneHeader = R"(
  mov.u32 %r10, 0;
  mov.u32 %r11, 0;
  add.u32 %r14, %r1, 3;
$both:
  add.u32 %r10, %r10, 1;
  setp.lt.u32 %p1, %r10, %r1;
  @%p1 bra $both;
  add.u32 %r11, %r11, 1000;
  setp.lt.u32 %p2, %r10, %r14;
  @%p2 bra $both;
  add.u32 %r11, %r11, %r10;
  st.global.u32 [%rd2], %r11;)";

bool rounds_of_each(const Words& d, const Case& c) {
  for (uint32_t t = 0; t < c.threads(); ++t)
    if (d[t] != (t == 0 ? 3 : 4) * 1000 + t + 3) return false;
  return true;
}

/// A 32-bit index that wraps inside the warp, under the lock: the warp leaves generated code while lanes are parked.
constexpr const char* kLeavesWhileParked = R"(
  ld.volatile.global.u32 %r20, [%rd1+8];
  add.u32 %r21, %r20, 4294967280;
  mov.u32 %r22, 0;
$spin:
  add.u32 %r22, %r22, 1;
  atom.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra $spin;
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r23, %r21, %r1;
  cvt.u64.u32 %rd11, %r23;
  shr.u64 %rd11, %rd11, 32;
  cvt.u32.u64 %r24, %rd11;
  add.u32 %r11, %r11, 1;
  add.u32 %r11, %r11, %r24;
  st.volatile.global.u32 [%rd1+4], %r11;
  membar.gl;
  atom.global.exch.b32 %r12, [%rd1], 0;
  st.global.u32 [%rd2+12], %r23;)";

/// Warps of a block hand a word of shared memory round; the lanes go on in halves.
constexpr const char* kWarpsInTurn = R"(
  setp.eq.u32 %p3, %r1, 0;
  mov.u32 %r14, 0;
  @%p3 st.volatile.shared.u32 [word], %r14;
  bar.sync 0;
  shr.u32 %r10, %r1, 5;
  and.b32 %r11, %r1, 16;
  setp.ne.u32 %p1, %r11, 0;
  shl.b32 %r12, %r10, 1;
  @%p1 add.u32 %r12, %r12, 1;
$wait:
  ld.volatile.shared.u32 %r13, [word];
  setp.ne.u32 %p2, %r13, %r12;
  @%p2 bra $wait;
  add.u32 %r13, %r13, 1;
  st.volatile.shared.u32 [word], %r13;
  st.global.u32 [%rd2], %r13;)";

/// Each lane takes a lock, stores, and all threads meet: nobody reads before all have stored.
constexpr const char* kLockThenBarrier = R"(
$spin:
  atom.global.cas.b32 %r10, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r10, 0;
  @%p1 bra $spin;
  ld.volatile.global.u32 %r11, [%rd1+4];
  add.u32 %r12, %r11, 1;
  st.volatile.global.u32 [%rd1+4], %r12;
  membar.gl;
  atom.global.exch.b32 %r13, [%rd1], 0;
  st.global.u32 [%rd2+12], %r12;
  bar.sync 0;
  xor.b32 %r20, %r1, 33;
  mul.wide.u32 %rd3, %r20, 4;
  add.s64 %rd3, %rd1, %rd3;
  ld.global.u32 %r21, [%rd3+12];
  add.s64 %rd4, %rd2, 12;
  mul.wide.u32 %rd5, %r3, 4;
  add.s64 %rd4, %rd4, %rd5;
  st.global.u32 [%rd4], %r21;)";

bool sees_what_others_stored(const Words& d, const Case& c) {
  const auto threads = static_cast<uint32_t>(c.block.count());
  for (uint32_t t = 0; t < threads; ++t)
    if (d[3 + t] == 0 || d[3 + threads + t] != d[3 + (t ^ 33)]) return false;
  return d[1] == threads;
}

bool counts_threads(const Words& d, const Case& c) { return d[0] == 0 && d[1] == c.threads(); }

bool rounds_add_up(const Words& d, const Case& c) {
  if (d[0] != 0 || d[1] != c.threads() * (0 + 1 + 2 + 3 + 4)) return false;
  for (uint32_t t = 0; t < c.threads(); ++t)
    if (d[2 + t] != 7 * (0 + 1 + 2 + 3 + 4) + t) return false;
  return true;
}

bool each_draws_another_number(const Words& d, const Case& c) {
  Words drawn(d.begin() + 3, d.begin() + 3 + c.threads()), want(c.threads());
  std::sort(drawn.begin(), drawn.end());
  std::iota(want.begin(), want.end(), 0u);
  return drawn == want && d[0] == 0 && d[1] == c.threads() && d[2] == 0;
}

bool all_store_5(const Words& d, const Case& c) {
  return std::all_of(d.begin(), d.begin() + 1 + c.threads(), [](uint32_t v) { return v == 5; });
}

bool blocks_take_turns(const Words& d, const Case& c) {
  const auto blocks = static_cast<uint32_t>(c.grid.count()), threads = static_cast<uint32_t>(c.block.count());
  Words turns;
  for (uint32_t b = 0; b < blocks; ++b) {
    turns.push_back(d[2 + b * threads]);
    for (uint32_t t = 0; t < threads; ++t)
      if (d[2 + b * threads + t] != turns.back()) return false;
  }
  std::sort(turns.begin(), turns.end());
  Words want(blocks);
  std::iota(want.begin(), want.end(), 0u);
  return turns == want && d[0] == 0 && d[1] == blocks;
}

bool all_hear_77(const Words& d, const Case& c) {
  return std::all_of(d.begin(), d.begin() + 1 + c.threads(), [](uint32_t v) { return v == 77; });
}

bool phases_add_up(const Words& d, const Case& c) {
  const uint32_t threads = c.threads(), block = static_cast<uint32_t>(c.block.count());
  Words now(threads);
  std::iota(now.begin(), now.end(), 1u);
  for (int phase = 0; phase < 4; ++phase) {
    if (!std::equal(now.begin(), now.end(), d.begin() + 1 + phase * threads)) return false;
    Words next(threads);
    for (uint32_t t = 0; t < threads; ++t) next[t] = now[t] + now[(t + block) % threads];
    now = next;
  }
  return d[0] == 3 * c.grid.count();
}

bool sums_of_threads(const Words& d, const Case& c) {
  uint32_t sum = 0;
  for (uint32_t t = 0; t < c.threads(); ++t) {
    sum += 1 + t % 5;
    if (d[2 * c.grid.count() + t] != sum) return false;
  }
  return true;
}

bool prefixes_of_blocks(const Words& d, const Case& c) {
  uint32_t sum = 0;
  for (uint32_t b = 0; b < c.grid.count(); ++b) {
    sum += 1 + b % 7;
    if (d[2 * c.grid.count() + b] != sum) return false;
  }
  return true;
}

bool indices_wrap(const Words& d, const Case& c) {
  for (uint32_t t = 0; t < c.block.count(); ++t)
    if (d[3 + t] != 0xfffffff0u + t) return false;
  return d[0] == 0 && d[1] == c.threads();
}

bool halves_in_turn(const Words& d, const Case& c) {
  for (uint32_t t = 0; t < c.block.count(); ++t)
    if (d[t] != t / 16 + 1) return false;
  return true;
}

const Case kCases[] = {
    {"lane_lock", {2, 1, 1}, {64, 1, 1}, 2, kLaneLock, counts_threads},
    {"lane_lock_of_a_partial_warp", {2, 1, 1}, {45, 1, 1}, 2, kLaneLock, counts_threads},
    {"lock_inside_the_loop", {3, 1, 1}, {64, 1, 1}, 2, kLockInsideTheLoop, counts_threads},
    {"lock_in_rounds", {2, 1, 1}, {64, 1, 1}, 130, kLockInRounds, rounds_add_up},
    {"loop_in_rounds", {1, 1, 1}, {64, 1, 1}, 66, kLoopInRounds, rounds_add_up},
    {"lock_then_barrier", {1, 1, 1}, {128, 1, 1}, 3 + 2 * 128, kLockThenBarrier, sees_what_others_stored},
    {"two_locks", {2, 1, 1}, {40, 1, 1}, 83, kTwoLocks, each_draws_another_number},
    {"wait_for_lanes_behind", {1, 1, 1}, {32, 1, 1}, 33, kWaitForLanesBehind, all_store_5},
    {"block_lock", {7, 1, 1}, {96, 1, 1}, 2 + 7 * 96, kBlockLock, blocks_take_turns},
    {"nanosleep", {6, 1, 1}, {64, 1, 1}, 1 + 6 * 64, kNanosleep, all_hear_77},
    {"grid_barrier", {9, 1, 1}, {64, 1, 1}, 1 + 4 * 9 * 64, kGridBarrier, phases_add_up},
    {"grid_barrier_of_partial_warps", {5, 1, 1}, {40, 1, 1}, 1 + 4 * 5 * 40, kGridBarrier, phases_add_up},
    {"chained_scan", {40, 1, 1}, {64, 1, 1}, 2 * 40 + 40 * 64, kChainedScan, sums_of_threads},
    {"look_back", {150, 1, 1}, {32, 1, 1}, 3 * 150, kLookBack, prefixes_of_blocks},
    {"whole_vectors", {2, 1, 1}, {32, 1, 1}, 5 * 32, kWholeVectors, nothing_seen_wrong},
    {"one_header", {1, 1, 1}, {64, 1, 1}, 64, kOneHeader, rounds_of_each},
    {"leaves_while_parked", {1, 1, 1}, {32, 1, 1}, 40, kLeavesWhileParked, indices_wrap},
    {"warps_in_turn", {1, 1, 1}, {128, 1, 1}, 128, kWarpsInTurn, halves_in_turn},
};

class Spinning : public testing::TestWithParam<Case> {
 protected:
  /// Runs the case again from zeros; whether it ended and its memory is as promised.
  testing::AssertionResult ends_well(exec::Executor& executor, unsigned workers) {
    const Case& c = GetParam();
    TwoExecutors two(kernel_of(c.body));
    const uint64_t data = two.array(std::vector<uint8_t>(c.words * 4));
    const auto seen =
        two.run("k", {.grid = c.grid, .block = c.block, .workers = workers}, Params().add(data), executor, false);
    if (!seen.outcome.complete()) return testing::AssertionFailure() << seen.outcome.findings[0].message;
    Words words(c.words);
    std::memcpy(words.data(), seen.memory[0].data(), c.words * 4);
    if (c.holds(words, c)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << fmt::format(
               "with {} workers memory is {}", workers,
               fmt::join(words.begin(), words.begin() + std::min<ptrdiff_t>(64, words.end() - words.begin()), " "));
  }
};

TEST_P(Spinning, ends_with_what_the_program_promises) {
  const auto interpreter = exec::make_interpreter();
  for (const unsigned workers : {1u, 2u, 5u}) EXPECT_TRUE(ends_well(*interpreter, workers));
  for (const auto& [name, options] : jit_variants()) {
    const auto jit = exec::make_jit(options);
    for (const unsigned workers : {1u, 2u, 5u}) EXPECT_TRUE(ends_well(*jit, workers));
  }
}

TEST_P(Spinning, is_the_same_by_both_executors) {
  const Case& c = GetParam();
  const auto interpreter = exec::make_interpreter();
  for (const auto& [name, options] : jit_variants()) {
    TwoExecutors two(kernel_of(c.body));
    Params params;
    params.add(two.array(std::vector<uint8_t>(c.words * 4)));
    const auto jit = exec::make_jit(options);
    const PtxLauncher::Options launch{.grid = c.grid, .block = c.block};
    // Twice: code that met a case it excludes is made again.
    for (int i = 0; i < 2; ++i) two.compare("k", launch, params, *interpreter, *jit, false);
    two.compare("k", launch, params, *interpreter, *jit, true);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Spinning, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SpinningForEver, ends_when_the_launch_is_ended) {
  for (const char* body : {kLaneLock, kLockInsideTheLoop, kBlockLock}) {
    for (const auto& [name, options] : jit_variants()) {
      TwoExecutors two(kernel_of(body));
      std::vector<uint8_t> held(4096);
      held[0] = 1;  // by nobody who would let it go
      const std::atomic<uint32_t> interrupt{exec::kStopTimeout};
      const auto jit = exec::make_jit(options);
      const auto seen = two.run("k", {.grid = {5, 1, 1}, .block = {40, 1, 1}, .workers = 2, .interrupt = &interrupt},
                                Params().add(two.array(held)), *jit, false);
      ASSERT_EQ(seen.outcome.findings.size(), 1u);
      EXPECT_EQ(seen.outcome.findings[0].kind, events::FindingKind::kTimeout);
    }
  }
}

}  // namespace
}  // namespace warplens::test
