// SPDX-License-Identifier: Apache-2.0
#include "exec/lane_memory.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <cstring>

#include "base/check.h"
#include "exec/executor.h"
#include "memory/address_space.h"

namespace warplens::exec {
namespace {

using events::Space;

template <typename T>
T* global(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

/// Calls f with an integer of that many bytes.
template <typename F>
uint64_t with_width(unsigned bytes, F&& f) {
  WL_CHECK(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8, "an access of {} bytes", bytes);
  switch (bytes) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    default: return f(uint64_t{});
  }
}

bool is_shared(Space space) { return space == Space::kShared || space == Space::kSharedCluster; }

}  // namespace

uint8_t* shared_byte(const WarpContext& warp, Space space, uint64_t address) {
  const uint64_t named = space == Space::kSharedCluster ? address >> memory::kClusterRankShift : 0;
  if (named == 0) return warp.shared + address;
  return warp.cluster_shared[named - 1] + (address & memory::kClusterOffsetMask);
}

// Not a C++ atomic, since there is none of 16 bytes without a lock; aligned moves of 16 bytes are whole on every
// processor with AVX. The thread sanitizer cannot know.
__attribute__((no_sanitize("thread"))) Bytes16 load_16_bytes(const void* memory) {
  Bytes16 out;
#if defined(__x86_64__)
  // volatile: a compiler may split a plain move in two.
  const __m128i whole = *static_cast<const volatile __m128i*>(memory);
  std::memcpy(out.bytes, &whole, sizeof out.bytes);
#else
  for (size_t i = 0; i < 2; ++i) {
    const uint64_t half = __atomic_load_n(static_cast<const uint64_t*>(memory) + i, __ATOMIC_ACQUIRE);
    std::memcpy(out.bytes + 8 * i, &half, 8);
  }
#endif
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return out;
}

__attribute__((no_sanitize("thread"))) void store_16_bytes(void* memory, const Bytes16& value) {
  __atomic_thread_fence(__ATOMIC_RELEASE);
#if defined(__x86_64__)
  __m128i whole;
  std::memcpy(&whole, value.bytes, sizeof whole);
  *static_cast<volatile __m128i*>(memory) = whole;
#else
  for (size_t i = 0; i < 2; ++i) {
    uint64_t half = 0;
    std::memcpy(&half, value.bytes + 8 * i, 8);
    __atomic_store_n(static_cast<uint64_t*>(memory) + i, half, __ATOMIC_RELEASE);
  }
#endif
}

uint64_t LaneMemory::read(Space space, uint64_t address, unsigned bytes) const {
  if (space == Space::kLocal) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= uint64_t{warp_.local[local_byte(address + i, lane_)]} << (8 * i);
    return value;
  }
  return with_width(bytes, [&](auto width) -> uint64_t {
    using T = decltype(width);
    if (!is_shared(space)) return __atomic_load_n(global<T>(address), __ATOMIC_ACQUIRE);
    T value;
    std::memcpy(&value, shared_byte(warp_, space, address), sizeof value);
    return value;
  });
}

void LaneMemory::write(Space space, uint64_t address, unsigned bytes, uint64_t value) const {
  if (space == Space::kLocal) {
    for (unsigned i = 0; i < bytes; ++i)
      warp_.local[local_byte(address + i, lane_)] = static_cast<uint8_t>(value >> (8 * i));
    return;
  }
  with_width(bytes, [&](auto width) -> uint64_t {
    using T = decltype(width);
    const T cut = static_cast<T>(value);
    if (is_shared(space))
      std::memcpy(shared_byte(warp_, space, address), &cut, sizeof cut);
    else
      __atomic_store_n(global<T>(address), cut, __ATOMIC_RELEASE);
    return 0;
  });
}

uint64_t LaneMemory::update(Space space, uint64_t address, unsigned bytes, const ptx::Instr& in, uint64_t a,
                            uint64_t b) const {
  const auto combine = [&](uint64_t old) { return in.def->reference.atomic(ptx::AtomicArgs{in, old, a, b}); };
  if (space == Space::kLocal || is_shared(space)) {
    const uint64_t old = read(space, address, bytes);
    write(space, address, bytes, combine(old));
    return old;
  }
  return with_width(bytes, [&](auto width) -> uint64_t {
    using T = decltype(width);
    T* const at = global<T>(address);
    T old = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(at, &old, static_cast<T>(combine(old)), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_ACQUIRE)) {
    }
    return old;
  });
}

bool LaneMemory::locate(uint64_t& address, uint64_t bytes, Space& space) const {
  if (address - warp_.shared_window < memory::kWindowBytes) {
    address -= warp_.shared_window;
    space = Space::kSharedCluster;
    const uint64_t offset = address & memory::kClusterOffsetMask;
    return offset >= memory::kSharedReservedBytes && offset + bytes <= warp_.shared_end &&
           address >> memory::kClusterRankShift <= warp_.cluster_size;
  }
  if (address - warp_.local_window < memory::kWindowBytes) {
    address -= warp_.local_window;
    space = Space::kLocal;
    return address + bytes <= warp_.local_end;
  }
  space = Space::kGlobal;
  const auto allocation = warp_.launch->arena->find(address);
  return allocation && address + bytes <= allocation->base + allocation->bytes;
}

bool LaneMemory::read_generic(uint64_t address, void* to, uint64_t bytes) const {
  Space space;
  if (!locate(address, bytes, space)) return false;
  for (uint64_t i = 0; i < bytes; ++i) static_cast<uint8_t*>(to)[i] = static_cast<uint8_t>(read(space, address + i, 1));
  return true;
}

bool LaneMemory::write_generic(uint64_t address, const void* from, uint64_t bytes) const {
  Space space;
  if (!locate(address, bytes, space)) return false;
  for (uint64_t i = 0; i < bytes; ++i) write(space, address + i, 1, static_cast<const uint8_t*>(from)[i]);
  return true;
}

std::string LaneMemory::read_text(uint64_t address) const {
  constexpr size_t kLongest = 64 << 10;
  std::string text;
  char c = 0;
  while (text.size() < kLongest && read_generic(address + text.size(), &c, 1) && c != 0) text += c;
  return text;
}

}  // namespace warplens::exec
