// SPDX-License-Identifier: Apache-2.0
// Arena: one mmap reservation is the virtual GPU's address space. The windows at its beginning stay inaccessible; the
// global part is readable and writable and the kernel commits its pages on first touch. Ranges that are not allocated
// are always zero, so an allocation needs no clearing: free() gives whole pages back and clears the edges by hand.
#include "memory/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/bits.h"
#include "base/check.h"

namespace warplens::memory {
namespace {

/// How many freed allocations are remembered for "freed here" messages.
constexpr size_t kRememberedFrees = 1024;

uint8_t* host(uint64_t address) { return reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address)); }

/// Makes [begin, end) zero: whole pages go back to the system, the parts of pages at the edges are cleared.
void clear_range(uint64_t begin, uint64_t end) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t first = round_up(begin, page);
  const uint64_t last = end / page * page;
  if (first >= last) {
    std::memset(host(begin), 0, end - begin);
    return;
  }
  std::memset(host(begin), 0, first - begin);
  std::memset(host(last), 0, end - last);
  WL_CHECK(madvise(host(first), last - first, MADV_DONTNEED) == 0);
}

/// Room that an allocation takes: its bytes rounded up, and the gap behind it.
uint64_t room_of(uint64_t bytes) { return round_up(bytes, kAllocationAlign) + kAllocationGap; }

}  // namespace

Result<std::unique_ptr<Arena>> Arena::create(uint64_t capacity_bytes) {
  // The reservation is made one window larger and trimmed, so that the windows begin at multiples of their size.
  const uint64_t asked = kReservedBytes + kWindowBytes;
  void* at = mmap(nullptr, asked, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return make_error(fmt::format("cannot reserve {} GiB of address space: {}", asked >> 30, std::strerror(errno)),
                      "raise the address space limit (ulimit -v unlimited)");
  std::unique_ptr<Arena> arena(new Arena(std::min(capacity_bytes, kGlobalBytes)));
  const uint64_t got = reinterpret_cast<uintptr_t>(at);
  arena->space_.base = round_up(got, kWindowBytes);
  const AddressSpace& s = arena->space_;
  if (s.base > got) munmap(host(got), s.base - got);
  if (got + asked > s.global_end()) munmap(host(s.global_end()), got + asked - s.global_end());
  void* global = mmap(host(s.global_begin()), kGlobalBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (global == MAP_FAILED)
    return make_error(fmt::format("cannot map device memory: {}", std::strerror(errno)),
                      "allow memory overcommit (vm.overcommit_memory = 0 or 1)");
  madvise(global, kGlobalBytes, MADV_DONTDUMP);  // only keeps core dumps small: failure does not matter
  arena->holes_[s.global_begin()] = kGlobalBytes;
  return arena;
}

Arena::~Arena() {
  if (space_.base != 0) munmap(host(space_.base), kReservedBytes);
}

std::optional<uint64_t> Arena::allocate(uint64_t bytes, std::string label, uint64_t align) {
  WL_CHECK(is_power_of_two(align));
  if (bytes == 0 || bytes > capacity_) return std::nullopt;
  const std::unique_lock lock(mutex_);
  const uint64_t room = room_of(bytes);
  if (used_ + (room - kAllocationGap) > capacity_) return std::nullopt;
  align = std::max(align, kAllocationAlign);
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {  // first fit
    const auto [begin, size] = *hole;
    const uint64_t base = round_up(begin, align);
    if (base + room > begin + size) continue;
    holes_.erase(hole);
    if (base > begin) holes_[begin] = base - begin;
    if (begin + size > base + room) holes_[base + room] = begin + size - (base + room);
    live_[base] = {base, bytes, std::move(label), true, next_id_++, false};
    used_ += room - kAllocationGap;
    ++version_;
    // What was freed here is forgotten: its addresses mean the new allocation now.
    auto old = freed_.lower_bound(base);
    if (old != freed_.begin()) {
      auto before = std::prev(old);
      if (before->first + before->second.bytes > base) freed_.erase(before);
    }
    while (old != freed_.end() && old->first < base + room) old = freed_.erase(old);
    return base;
  }
  return std::nullopt;
}

bool Arena::free(uint64_t base) {
  const std::unique_lock lock(mutex_);
  const auto it = live_.find(base);
  if (it == live_.end()) return false;
  if (it->second.adopted) {
    live_.erase(it);
    ++version_;
    return true;
  }
  const uint64_t room = room_of(it->second.bytes);
  clear_range(base, base + room);
  used_ -= room - kAllocationGap;
  ++version_;
  freed_[base] = std::move(it->second);
  live_.erase(it);
  if (freed_.size() > kRememberedFrees) {
    const auto oldest = std::min_element(freed_.begin(), freed_.end(),
                                         [](const auto& a, const auto& b) { return a.second.id < b.second.id; });
    freed_.erase(oldest);
  }
  // The hole grows by its neighbours.
  uint64_t begin = base, end = base + room;
  auto next = holes_.lower_bound(base);
  if (next != holes_.end() && next->first == end) {
    end += next->second;
    next = holes_.erase(next);
  }
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      holes_.erase(before);
    }
  }
  holes_[begin] = end - begin;
  return true;
}

namespace {

std::optional<Allocation> containing(const std::map<uint64_t, Allocation>& table, uint64_t address) {
  auto it = table.upper_bound(address);
  if (it == table.begin()) return std::nullopt;
  --it;
  if (address - it->first >= it->second.bytes) return std::nullopt;
  return it->second;
}

}  // namespace

bool Arena::adopt(uint64_t base, uint64_t bytes) {
  const std::unique_lock lock(mutex_);
  if (bytes == 0 || base + bytes < base) return false;
  if (base < space_.base + kReservedBytes && base + bytes > space_.base) return false;
  const auto next = live_.lower_bound(base);
  if (next != live_.end() && next->first < base + bytes) return false;
  if (next != live_.begin()) {
    const Allocation& before = std::prev(next)->second;
    if (before.base + before.bytes > base) return false;
  }
  live_[base] = {.base = base, .bytes = bytes, .label = "registered host memory", .id = next_id_++, .adopted = true};
  ++version_;
  return true;
}

std::optional<Allocation> Arena::find(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  return containing(live_, address);
}

std::optional<Allocation> Arena::freed_at(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  return containing(freed_, address);
}

std::optional<Allocation> Arena::nearest_below(uint64_t address) const {
  const std::shared_lock lock(mutex_);
  if (auto freed = containing(freed_, address)) return freed;
  const auto it = live_.upper_bound(address);
  if (it == live_.begin()) return std::nullopt;
  return std::prev(it)->second;
}

uint64_t Arena::used_bytes() const {
  const std::shared_lock lock(mutex_);
  return used_;
}

uint64_t Arena::version() const {
  const std::shared_lock lock(mutex_);
  return version_;
}

void Arena::reset() {
  const std::unique_lock lock(mutex_);
  for (const auto& [base, allocation] : live_)
    if (!allocation.adopted) clear_range(base, base + room_of(allocation.bytes));
  live_.clear();
  freed_.clear();
  holes_.clear();
  holes_[space_.global_begin()] = kGlobalBytes;
  used_ = 0;
  ++version_;
}

}  // namespace warplens::memory
