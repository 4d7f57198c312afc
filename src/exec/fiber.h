// SPDX-License-Identifier: Apache-2.0
// Fibers: each warp of a block that has barriers runs on its own small stack. Switching is hand-written (switch_*.S)
// and ends in an indirect jump, not in a return: a warp resumes at the *previous* barrier's return address, which a
// return-stack predictor always gets wrong (measured: twice the speed on a tiled matrix product). Other processors than
// x86-64 and AArch64 switch by the C library's ucontext (switch_portable.cpp), which costs a system call.
#pragma once
#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__) && !defined(WL_PORTABLE_SWITCH)
#define WL_PORTABLE_SWITCH 1  ///< tests define it elsewhere too
#endif

#if defined(__SANITIZE_ADDRESS__)
#define WL_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WL_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define WL_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define WL_TSAN 1
#endif

extern "C" {
/// Saves the callee-saved registers and the stack pointer to *save, then continues at `sp`. The rounding mode is the
/// thread's: it goes on as it is. (switch_x86_64.S, switch_aarch64.S, switch_portable.cpp)
void wl_switch_stack(void** save, void* sp);
#ifdef WL_PORTABLE_SWITCH
/// What wl_switch_stack takes for a fiber that is to begin with entry(argument).
void* wl_portable_start(uint8_t* bottom, size_t bytes, void (*entry)(void*), void* argument);
#endif
}

namespace warplens::exec {

/// One stack with a guard page below it.
class Stack {
 public:
  Stack() = default;
  explicit Stack(size_t bytes);  ///< aborts when the system gives none
  ~Stack();
  Stack(Stack&& o) noexcept { swap(o); }
  Stack& operator=(Stack&& o) noexcept {
    swap(o);
    return *this;
  }
  uint8_t* bottom() const { return bottom_; }
  size_t bytes() const { return bytes_; }
  /// Address space that all stacks of the process take now; of that, what was touched takes memory.
  static uint64_t reserved_bytes();

 private:
  void swap(Stack& o) noexcept;
  uint8_t* bottom_ = nullptr;
  size_t bytes_ = 0;
};

/// A place to continue at: a fiber that does not run, or the scheduler's own thread while fibers run.
struct Fiber {
  void* sp = nullptr;
  const uint8_t* stack = nullptr;  ///< for the sanitizers
  size_t stack_bytes = 0;
  void* fake_stack = nullptr;  ///< AddressSanitizer's
  void* tsan = nullptr;        ///< ThreadSanitizer's
};

/// Makes `fiber` begin with entry(argument) on `stack` when it is switched to; entry must never return.
void prepare_fiber(Fiber& fiber, const Stack& stack, void (*entry)(void*), void* argument);
/// Makes `fiber` stand for the running thread, so that fibers can switch back to it.
void adopt_thread(Fiber& fiber);
/// Leaves `from` and continues `to`; returns when something switches back to `from`.
#if defined(WL_ASAN) || defined(WL_TSAN)
void switch_fiber(Fiber& from, Fiber& to);
#else
inline void switch_fiber(Fiber& from, Fiber& to) { wl_switch_stack(&from.sp, to.sp); }
#endif
/// The same for a fiber that ends here.
[[noreturn]] void leave_fiber(Fiber& from, Fiber& to);
/// First thing that an entry function does.
void fiber_entered();
/// Frees what the sanitizers keep of a fiber.
void release_fiber(Fiber& fiber);

}  // namespace warplens::exec
