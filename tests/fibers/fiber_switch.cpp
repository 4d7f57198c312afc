// SPDX-License-Identifier: Apache-2.0
// Switching between fibers, on the processor that this is compiled for: registers that a call must keep, the rounding
// mode, many fibers, deep stacks, guard pages. No GoogleTest, so that it can be built for another processor and run
// under an emulator. Prints "all checks passed".
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "exec/fiber.h"

namespace {

using namespace warplens::exec;

int failures = 0;
void check(bool good, const char* what) {
  if (good) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}

/// A ring of fibers: each does `rounds` rounds and hands over to the next, the last to the thread.
struct Ring {
  Fiber thread;
  std::vector<Stack> stacks;
  std::vector<Fiber> fibers;
  size_t live = 0, rounds = 0, running = 0;
  std::vector<uint64_t> results;
  void (*work)(Ring&, size_t) = nullptr;

  Fiber& next(size_t self) { return self + 1 < fibers.size() ? fibers[self + 1] : thread; }
};
Ring* ring = nullptr;

void pass_on(Ring& r, size_t self) {
  r.running = self + 1;
  switch_fiber(r.fibers[self], r.next(self));
}

void fiber_main(void* argument) {
  fiber_entered();
  Ring& r = *static_cast<Ring*>(argument);
  const size_t self = r.running;
  r.work(r, self);
  --r.live;
  r.running = self + 1;
  leave_fiber(r.fibers[self], r.next(self));
}

/// Gives the results, by fiber.
std::vector<uint64_t> run_ring(size_t count, size_t rounds, size_t stack_bytes, void (*work)(Ring&, size_t)) {
  Ring r;
  ring = &r;
  adopt_thread(r.thread);
  r.rounds = rounds;
  r.work = work;
  r.results.assign(count, 0);
  r.live = count;
  r.fibers.resize(count);
  for (size_t i = 0; i < count; ++i) {
    r.stacks.emplace_back(stack_bytes);
    prepare_fiber(r.fibers[i], r.stacks[i], &fiber_main, &r);
  }
  while (r.live != 0) {
    r.running = 0;
    switch_fiber(r.thread, r.fibers[0]);
  }
  for (Fiber& f : r.fibers) release_fiber(f);
  return r.results;
}

/// A call, to the compiler, that keeps what calls keep and no more.
__attribute__((noinline)) void switch_away(void* self) { pass_on(*ring, reinterpret_cast<size_t>(self)); }

#if defined(__aarch64__)
/// Fills x19-x28 and d8-d15 with values of its own, switches, and says how many came back changed.
uint64_t lost_registers(uint64_t seed, size_t self) {
  uint64_t before[18], after[18];
  for (uint64_t i = 0; i < 18; ++i) before[i] = seed * 0x9e3779b97f4a7c15 + i * 0x123456789;
  register uint64_t x0 asm("x0") = self;
  register uint64_t* x1 asm("x1") = before;
  register uint64_t* x2 asm("x2") = after;
  register void (*x3)(void*) asm("x3") = &switch_away;
  asm volatile(
      "str x2, [sp, #-16]!\n"
      "ldp x19, x20, [x1, #0]\n ldp x21, x22, [x1, #16]\n ldp x23, x24, [x1, #32]\n"
      "ldp x25, x26, [x1, #48]\n ldp x27, x28, [x1, #64]\n"
      "ldp d8, d9, [x1, #80]\n ldp d10, d11, [x1, #96]\n ldp d12, d13, [x1, #112]\n ldp d14, d15, [x1, #128]\n"
      "blr x3\n"
      "ldr x2, [sp], #16\n"
      "stp x19, x20, [x2, #0]\n stp x21, x22, [x2, #16]\n stp x23, x24, [x2, #32]\n"
      "stp x25, x26, [x2, #48]\n stp x27, x28, [x2, #64]\n"
      "stp d8, d9, [x2, #80]\n stp d10, d11, [x2, #96]\n stp d12, d13, [x2, #112]\n stp d14, d15, [x2, #128]\n"
      : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)
      :
      // All that a call may change, and what is loaded here.
      : "memory", "cc", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
        "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3",
        "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
        "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
  uint64_t lost = 0;
  for (int i = 0; i < 18; ++i) lost += before[i] != after[i];
  return lost;
}
#elif defined(__x86_64__)
/// The same for rbx and r12-r15. (rbp is the frame's, without which nothing goes on.)
uint64_t lost_registers(uint64_t seed, size_t self) {
  uint64_t values[10];
  for (uint64_t i = 0; i < 5; ++i) values[i] = seed * 0x9e3779b97f4a7c15 + i * 0x123456789;
  uint64_t* at = values;
  void (*away)(void*) = &switch_away;
  asm volatile(
      "movq %%rsp, %%r11\n subq $256, %%rsp\n andq $-32, %%rsp\n"  // past the red zone
      "movq %%r11, 8(%%rsp)\n movq %%rdx, 16(%%rsp)\n"
      "movq 0(%%rdx), %%rbx\n movq 8(%%rdx), %%r12\n movq 16(%%rdx), %%r13\n movq 24(%%rdx), %%r14\n"
      "movq 32(%%rdx), %%r15\n"
      "callq *%%rax\n"
      "movq 16(%%rsp), %%rdx\n"
      "movq %%rbx, 40(%%rdx)\n movq %%r12, 48(%%rdx)\n movq %%r13, 56(%%rdx)\n movq %%r14, 64(%%rdx)\n"
      "movq %%r15, 72(%%rdx)\n"
      "movq 8(%%rsp), %%rsp\n"
      : "+d"(at), "+a"(away), "+D"(self)
      :
      : "memory", "cc", "rbx", "rcx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
        "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15");
  uint64_t lost = 0;
  for (int i = 0; i < 5; ++i) lost += values[i] != values[i + 5];
  return lost;
}
#else
uint64_t lost_registers(uint64_t, size_t self) {
  switch_away(reinterpret_cast<void*>(self));
  return 0;
}
#endif

void keep_registers(Ring& r, size_t self) {
  for (size_t round = 0; round < r.rounds; ++round) r.results[self] += lost_registers(self * 1000 + round + 1, self);
}

/// 1 + 2^-30, which the nearest float is not above.
bool rounds_up() {
  volatile float one = 1, little = 0x1p-30f;
  return one + little > 1;
}

/// Nobody changes the mode between switches, so all must find the thread's.
void keep_rounding(Ring& r, size_t self) {
  for (size_t round = 0; round < r.rounds; ++round) {
    r.results[self] += std::fegetround() == FE_UPWARD && rounds_up() ? 1 : 0;
    pass_on(r, self);
  }
}

/// Frames all the way down, and a switch in each.
__attribute__((noinline)) uint64_t descend(Ring& r, size_t self, int depth) {
  volatile uint64_t frame[32];
  for (uint64_t i = 0; i < 32; ++i) frame[i] = self * 100000 + static_cast<uint64_t>(depth) * 100 + i;
  pass_on(r, self);
  const uint64_t below = depth == 0 ? 0 : descend(r, self, depth - 1);
  uint64_t wrong = below;
  for (uint64_t i = 0; i < 32; ++i) wrong += frame[i] != self * 100000 + static_cast<uint64_t>(depth) * 100 + i;
  return wrong;
}
void go_deep(Ring& r, size_t self) { r.results[self] = descend(r, self, 400); }

/// Recursion that does not end in time: must hit the guard page, not the neighbour's stack.
volatile int most_frames = 1 << 30;
__attribute__((noinline)) int descend_without_end(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  return depth == most_frames ? 0 : descend_without_end(depth + 1) + frame[0];
}
void overflow(Ring& r, size_t self) { r.results[self] = static_cast<uint64_t>(descend_without_end(0)); }

/// Ends with SIGSEGV in a child. Sanitizers catch that signal themselves.
[[maybe_unused]] bool overflow_is_caught() {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    run_ring(3, 1, 16 << 10, &overflow);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
}

}  // namespace

int main() {
  for (const uint64_t lost : run_ring(32, 200, 64 << 10, &keep_registers)) check(lost == 0, "registers survive");
  std::fesetround(FE_UPWARD);
  for (const uint64_t rounds : run_ring(5, 20, 64 << 10, &keep_rounding))
    check(rounds == 20, "the rounding mode survives");
  check(std::fegetround() == FE_UPWARD, "the rounding mode survives in the thread");
  std::fesetround(FE_TONEAREST);
  for (const uint64_t wrong : run_ring(8, 1, 512 << 10, &go_deep)) check(wrong == 0, "deep frames keep their values");
  check(run_ring(1000, 3, 16 << 10, &keep_registers).size() == 1000, "a thousand fibers");
#if !defined(WL_ASAN) && !defined(WL_TSAN)
  check(overflow_is_caught(), "a stack that overflows hits its guard page");
#endif
  if (failures == 0) std::printf("all checks passed\n");
  return failures == 0 ? 0 : 1;
}
