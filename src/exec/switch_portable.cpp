// SPDX-License-Identifier: Apache-2.0
// Stack switch for processors without one of our own, by the C library's ucontext. A fiber that does not run has its
// context in its own frame here, so that the interface is the assembly's. Slow: swapcontext sets the signal mask, which
// is a system call.
#include "exec/fiber.h"

#ifdef WL_PORTABLE_SWITCH
#include <ucontext.h>

#include <cstdlib>
#include <new>

namespace {

/// makecontext hands over ints.
void begin(unsigned entry_low, unsigned entry_high, unsigned argument_low, unsigned argument_high) {
  const auto joined = [](unsigned low, unsigned high) {
    return static_cast<uintptr_t>(uint64_t{low} | uint64_t{high} << 32);
  };
  reinterpret_cast<void (*)(void*)>(joined(entry_low, entry_high))(
      reinterpret_cast<void*>(joined(argument_low, argument_high)));
  std::abort();  // entry functions never return
}

}  // namespace

extern "C" void wl_switch_stack(void** save, void* sp) {
  ucontext_t here;
  *save = &here;
  if (swapcontext(&here, static_cast<ucontext_t*>(sp)) != 0) std::abort();
}

extern "C" void* wl_portable_start(uint8_t* bottom, size_t bytes, void (*entry)(void*), void* argument) {
  constexpr size_t kContext = (sizeof(ucontext_t) + 63) / 64 * 64;
  auto* context = new (bottom + bytes - kContext) ucontext_t;
  if (getcontext(context) != 0) std::abort();
  context->uc_stack.ss_sp = bottom;
  context->uc_stack.ss_size = bytes - kContext;
  context->uc_link = nullptr;
  const auto e = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(entry)),
             a = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(argument));
  makecontext(context, reinterpret_cast<void (*)()>(&begin), 4, static_cast<unsigned>(e),
              static_cast<unsigned>(e >> 32), static_cast<unsigned>(a), static_cast<unsigned>(a >> 32));
  return context;
}
#endif
