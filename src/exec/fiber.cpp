// SPDX-License-Identifier: Apache-2.0
#include "exec/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#include "base/bits.h"
#include "base/check.h"

#ifdef WL_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WL_TSAN
#include <sanitizer/tsan_interface.h>
#endif

extern "C" {
/// Where a new fiber begins: calls entry(argument) from the registers that prepare_fiber put on its stack.
void wl_fiber_start();
}

namespace warplens::exec {
namespace {

std::atomic<uint64_t> g_reserved_bytes{0};

}  // namespace

uint64_t Stack::reserved_bytes() { return g_reserved_bytes.load(std::memory_order_relaxed); }

Stack::Stack(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  bytes_ = round_up(bytes, page);
  void* at = mmap(nullptr, bytes_ + page, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  WL_CHECK(at != MAP_FAILED, "no memory for a warp's stack of {} bytes", bytes_);
  WL_CHECK(mprotect(at, page, PROT_NONE) == 0);
  bottom_ = static_cast<uint8_t*>(at) + page;
  g_reserved_bytes.fetch_add(bytes_ + page, std::memory_order_relaxed);
}

Stack::~Stack() {
  if (bottom_ == nullptr) return;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  munmap(bottom_ - page, bytes_ + page);
  g_reserved_bytes.fetch_sub(bytes_ + page, std::memory_order_relaxed);
}

void Stack::swap(Stack& o) noexcept {
  std::swap(bottom_, o.bottom_);
  std::swap(bytes_, o.bytes_);
}

void prepare_fiber(Fiber& fiber, const Stack& stack, void (*entry)(void*), void* argument) {
#ifdef WL_ASAN
  // Frames of a fiber that was abandoned here left their red zones behind.
  ASAN_UNPOISON_MEMORY_REGION(stack.bottom(), stack.bytes());
#endif
  [[maybe_unused]] auto* top = reinterpret_cast<void**>(stack.bottom() + stack.bytes());
#if defined(WL_PORTABLE_SWITCH)
  void* sp = wl_portable_start(stack.bottom(), stack.bytes(), entry, argument);
#elif defined(__x86_64__)
  // r15 r14 r13 r12 rbx rbp, then the address to continue at; two words keep the stack 16-byte aligned.
  void** sp = top - 10;
  for (int i = 0; i < 10; ++i) sp[i] = nullptr;
  sp[2] = reinterpret_cast<void*>(entry);  // r13
  sp[3] = argument;                        // r12
  sp[6] = reinterpret_cast<void*>(&wl_fiber_start);
#elif defined(__aarch64__)
  // d8-d15, x19-x28, x29, x30 (the address to continue at).
  void** sp = top - 20;
  for (int i = 0; i < 20; ++i) sp[i] = nullptr;
  sp[8] = reinterpret_cast<void*>(entry);  // x19
  sp[9] = argument;                        // x20
  sp[19] = reinterpret_cast<void*>(&wl_fiber_start);
#endif
  fiber.sp = sp;
  fiber.stack = stack.bottom();
  fiber.stack_bytes = stack.bytes();
  fiber.fake_stack = nullptr;
#ifdef WL_TSAN
  if (fiber.tsan != nullptr) __tsan_destroy_fiber(fiber.tsan);
  fiber.tsan = __tsan_create_fiber(0);
#endif
}

void adopt_thread(Fiber& fiber) {
  fiber = {};
#ifdef WL_TSAN
  fiber.tsan = __tsan_get_current_fiber();
#endif
}

namespace {

#ifdef WL_ASAN
/// The fiber that switched here last: when it is the thread itself, its stack's extent becomes known on arrival.
thread_local Fiber* t_left = nullptr;
void arrived(void* fake_stack) {
  const void* bottom = nullptr;
  size_t size = 0;
  __sanitizer_finish_switch_fiber(fake_stack, &bottom, &size);
  if (t_left != nullptr && t_left->stack == nullptr) {
    t_left->stack = static_cast<const uint8_t*>(bottom);
    t_left->stack_bytes = size;
  }
}
#endif

}  // namespace

void fiber_entered() {
#ifdef WL_ASAN
  arrived(nullptr);
#endif
}

#if defined(WL_ASAN) || defined(WL_TSAN)
void switch_fiber(Fiber& from, Fiber& to) {
#ifdef WL_ASAN
  t_left = &from;
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#endif
#ifdef WL_TSAN
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
  wl_switch_stack(&from.sp, to.sp);
#ifdef WL_ASAN
  arrived(from.fake_stack);
#endif
}
#endif

void leave_fiber(Fiber& from, Fiber& to) {
#ifdef WL_ASAN
  t_left = &from;
  __sanitizer_start_switch_fiber(nullptr, to.stack, to.stack_bytes);
#endif
#ifdef WL_TSAN
  __tsan_switch_to_fiber(to.tsan, 0);
#endif
  wl_switch_stack(&from.sp, to.sp);
  std::abort();  // nothing switches to a fiber that ended
}

void release_fiber(Fiber& fiber) {
#ifdef WL_TSAN
  if (fiber.tsan != nullptr) __tsan_destroy_fiber(fiber.tsan);
#endif
  fiber.tsan = nullptr;
}

}  // namespace warplens::exec
