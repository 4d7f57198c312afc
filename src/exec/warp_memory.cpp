// SPDX-License-Identifier: Apache-2.0
#include "exec/warp_memory.h"

#include <cstring>

#include "base/bits.h"
#include "base/check.h"
#include "exec/access_check.h"
#include "exec/emit_events.h"
#include "exec/executor.h"
#include "exec/lane_memory.h"
#include "machine/access_list.h"

namespace warplens::exec {
namespace {

using events::Space;

/// What one call of a reference sees. Lives on the warp's stack and owns nothing: a failed check never returns.
class CheckedMemory final : public ptx::WarpMemory {
 public:
  CheckedMemory(WarpContext& warp, uint32_t pc, RequestCounter* counter)
      : warp_(warp), kernel_(*warp.launch->request->kernel), pc_(pc), counter_(counter) {}

  void load(unsigned access, uint32_t mask, const ptx::LaneBits& address, void* to) override {
    auto* bytes = static_cast<uint8_t*>(to);
    const unsigned width = request(access, mask, address);
    for_each_piece(mask, width, [&](LaneMemory& memory, unsigned lane, Space space, unsigned at, unsigned piece) {
      const uint64_t value = memory.read(space, address_[lane] + at, piece);
      std::memcpy(bytes + lane * width + at, &value, piece);
    });
  }
  void store(unsigned access, uint32_t mask, const ptx::LaneBits& address, const void* from) override {
    const auto* bytes = static_cast<const uint8_t*>(from);
    const unsigned width = request(access, mask, address);
    for_each_piece(mask, width, [&](LaneMemory& memory, unsigned lane, Space space, unsigned at, unsigned piece) {
      uint64_t value = 0;
      std::memcpy(&value, bytes + lane * width + at, piece);
      memory.write(space, address_[lane] + at, piece, value);
    });
  }
  void store_copy(unsigned access, uint32_t mask, const ptx::LaneBits& address, const void* from, uint32_t reading,
                  const ptx::LaneBits& source) override {
    reading_ = reading;
    source_ = &source;
    store(access, mask, address, from);
    source_ = nullptr;
  }
  void touch(unsigned access, uint32_t mask, const ptx::LaneBits& address) override { request(access, mask, address); }
  uint64_t peek(unsigned access, unsigned lane, uint64_t address) override {
    const Space space = space_of(access, address);
    return LaneMemory(warp_, lane).read(space, address, 8);
  }
  void poke(unsigned access, unsigned lane, uint64_t address, uint64_t value) override {
    const Space space = space_of(access, address);
    LaneMemory(warp_, lane).write(space, address, 8, value);
  }
  void yield() override { yield_warp(warp_); }

 private:
  uint32_t site(unsigned access) const {
    const auto& sites = kernel_.accesses.of_instr[pc_];
    WL_CHECK(access < sites.size(), "access {} of instruction {}", access, pc_);
    return sites[access];
  }

  /// Space of one address, which becomes an offset when it is generic.
  Space space_of(unsigned access, uint64_t& address) {
    const events::AccessSite& description = kernel_.info.sites[site(access)];
    if (!description.generic) return description.space;
    ptx::LaneBits one{};
    one[0] = address;
    const SpaceParts parts = parts_of(resolve_generic(warp_, 1, one));
    address = one[0];
    return parts.parts[0].first;
  }

  /// Checks, counts and reports; returns the bytes of each lane.
  unsigned request(unsigned access, uint32_t mask, const ptx::LaneBits& address) {
    const uint32_t number = site(access);
    const events::AccessSite& description = kernel_.info.sites[number];
    address_ = address;
    parts_ = {{{{description.space, mask}}}, 1};
    if (description.generic) parts_ = parts_of(resolve_generic(warp_, mask, address_));
    name_own_memory(warp_, description.space, mask, address_);
    for (const auto& [space, lanes] : parts_)
      check_access(warp_, {pc_, number, lanes, description.bytes, space, description.access, &address_});
    for (const auto& [space, lanes] : parts_) {
      if (lanes == 0) continue;  // those that hold addresses are not among the active ones
      const uint32_t resolved = events::resolved_site(number, description.generic, space);
      events::WarpAccess event{resolved, lanes, warp_.block, warp_.warp, space, &address_};
      event.reading = reading_;
      event.source = source_;
      if (counter_ != nullptr) counter_->count(event, description);
      if (warp_.launch->interest & events::kAccesses) emit_access(warp_, event);
    }
    return description.bytes;
  }

  template <typename F>
  void for_each_piece(uint32_t mask, unsigned width, F&& f) {
    const unsigned piece = width < 8 ? width : 8;
    for_each_lane(mask, [&](int l) {
      const auto lane = static_cast<unsigned>(l);
      LaneMemory memory(warp_, lane);
      Space space = Space::kShared;
      for (const auto& [candidate, lanes] : parts_)
        if (lanes >> lane & 1) space = candidate;
      for (unsigned at = 0; at < width; at += piece) f(memory, lane, space, at, piece);
    });
  }

  WarpContext& warp_;
  const LoadedKernel& kernel_;
  uint32_t pc_;
  RequestCounter* counter_;
  ptx::LaneBits address_{};
  SpaceParts parts_;
  uint32_t reading_ = 0;                   // of a copy that is being stored
  const ptx::LaneBits* source_ = nullptr;  // likewise; else null
};

}  // namespace

void run_warp_memory(WarpContext& warp, const WarpMemoryCall& call, RequestCounter* counter) {
  const ptx::Instr& in = warp.launch->request->kernel->function->body[call.pc];
  CheckedMemory memory(warp, call.pc, counter);
  in.def->reference.memory({in, call.mask, call.in, call.out, call.addresses, memory});
}

}  // namespace warplens::exec
