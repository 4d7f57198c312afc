// SPDX-License-Identifier: Apache-2.0
// A warp leaves generated code for the interpreter, for good: its registers are brought into the interpreter's form,
// and what the blocks have counted ahead is taken back. The code's side is codegen/deoptimise.cpp.
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/check.h"
#include "codegen/kept_register.h"
#include "exec/executor.h"
#include "exec/jit_hooks.h"
#include "exec/jit_prepared.h"

namespace warplens::exec {
namespace {

/// A run of a block stands for the constant costs of all its sites, but the interpreter counts those from `instr` on:
/// they are taken off again. Words are sums modulo 2^64, so a worker's word may pass below zero.
void take_back_constants(WarpContext& w, const codegen::CompiledKernel& compiled, uint32_t position, uint32_t mask,
                         uint32_t instr, bool full_clone) {
  const LoadedKernel& kernel = *w.launch->request->kernel;
  const ir::BlockId block = kernel.loops.layout[position];
  for (const codegen::ConstantCost& c : compiled.constants) {
    if (c.block != block || kernel.accesses.accesses[c.site].instr < instr) continue;
    uint64_t* words = w.counters + compiled.layout.site_word(c.site, 0);
    if (c.per == codegen::ConstantCost::Per::kRun) {
      words[0] -= 1;
      words[1] -= static_cast<uint64_t>(std::popcount(mask));
    } else if (full_clone) {
      const uint64_t cost[] = {
          c.cost.requests,        c.cost.lanes,      c.cost.sectors,          c.cost.lines,
          c.cost.ideal_sectors,   c.cost.wavefronts, c.cost.ideal_wavefronts, c.cost.repeated_sectors,
          c.cost.empty_wavefronts};
      for (size_t k = 0; k < std::size(cost); ++k) words[k] -= cost[k];
    }
  }
}

/// Widens `lanes`, which begin with 32 values of `bits`, in place; from the last on, since results are longer.
void widen_lanes(uint32_t bits, uint64_t* lanes) {
  uint32_t word = 0;
  std::memcpy(&word, lanes, sizeof word);
  const auto* bytes = reinterpret_cast<const uint8_t*>(lanes);
  for (size_t l = kWarpSize; l-- > 0;) {
    uint64_t value = 0;
    if (bits == 1)
      value = word >> l & 1;
    else
      std::memcpy(&value, bytes + l * bits / 8, bits / 8);
    lanes[l] = value;
  }
}

void widen(const codegen::KeptRegister& k, uint64_t* lanes) {
  if (k.in_lanes != 0) {
    widen_lanes(k.bits, lanes);
  } else {
    const uint64_t base = lanes[0], scale = lanes[1];
    for (size_t l = 0; l < kWarpSize; ++l) {
      const uint64_t step = k.steps != nullptr ? static_cast<uint64_t>(k.steps[l]) : 0;
      const uint64_t offset = k.offsets != nullptr ? static_cast<uint64_t>(k.offsets[l]) : 0;
      lanes[l] = (base + scale * step + offset) & low_bits(k.bits);
    }
  }
  if (k.infinity == 0) return;
  for (size_t l = 0; l < kWarpSize; ++l)
    if ((lanes[l] & low_bits(k.bits - 1)) > k.infinity) lanes[l] = k.nan;
}

}  // namespace
}  // namespace warplens::exec

using namespace warplens;        // NOLINT
using namespace warplens::exec;  // NOLINT

// Taken and used without a switch of warps in between, so one buffer a thread is enough.
void* wl_deoptimise_registers(void*, uint32_t count) {
  thread_local std::vector<uint64_t> buffer;
  constexpr size_t kAlign = 64;
  buffer.assign(size_t{count} * 32 + kAlign / 8, 0);
  void* at = buffer.data();
  size_t space = buffer.size() * 8;
  return std::align(kAlign, size_t{count} * 256, at, space);
}

void wl_widen_registers(void* registers, const void* kept, uint32_t count) {
  for (const codegen::KeptRegister& k : std::span(static_cast<const codegen::KeptRegister*>(kept), count))
    widen(k, static_cast<uint64_t*>(registers) + size_t{k.reg} * kWarpSize);
}

void wl_waiting_lanes(void* reg, void* values, void* pending, void* positions, uint32_t count) {
  uint32_t waiting = 0;
  for (uint32_t i = 0; i < count; ++i)
    waiting |= static_cast<const uint32_t*>(pending)[static_cast<const uint32_t*>(positions)[i]];
  for_each_lane(waiting, [&](int l) { static_cast<uint64_t*>(reg)[l] = static_cast<const uint64_t*>(values)[l]; });
}

void wl_deoptimise(void* warp, void* registers, uint32_t position, uint32_t mask, uint32_t instr, uint32_t full_clone,
                   void* pending) {
  WarpContext& w = *static_cast<WarpContext*>(warp);
  const JitPrepared& code = *w.code;
  static_cast<const JitPrepared*>(w.launch->prepared.get())->note_deoptimised(w);
  uint64_t* words = nullptr;
  if (w.launch->request->count) {
    words = w.counters + deoptimised_counter_offset(code.compiled().layout);
    take_back_constants(w, code.compiled(), position, mask, instr, full_clone != 0);
  }
  interpret_from(*w.launch, w, static_cast<const uint64_t*>(registers), position, mask, instr,
                 static_cast<const uint32_t*>(pending), words);
}
