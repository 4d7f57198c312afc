// SPDX-License-Identifier: Apache-2.0
// Functions that generated code calls, by the names of codegen/runtime_hooks.def: everything that is cold or needs the
// rest of exec. `warp` is always the WarpContext. Memory has its own: jit_memory_hooks.h.
#pragma once
#include <cstdint>
#include <span>

#include "codegen/compiler.h"

extern "C" {
void wl_reference(void* warp, uint32_t pc, uint32_t mask, void* inputs, void* outputs);
void wl_rounded(uint32_t operation, uint32_t rounding, void* inputs, void* output);
uint64_t wl_special_register(void* warp, uint32_t which, uint32_t index);
void wl_block_run(void* warp, uint32_t block, uint32_t mask);
void wl_yield(void* warp);
/// Lanes have taken the back edge of a spinning loop: 0 when they are parked instead. `waiting`: analysis::SpinWords.
uint32_t wl_spin_round(void* warp, void* waiting, uint32_t loop);
/// At the end of the walk: parked lanes wait for their loops' headers again. 0: there are none.
uint32_t wl_walk_again(void* warp, void* waiting);
void wl_abandon(void* warp);
void wl_call(void* warp, uint32_t pc, uint32_t mask, void* arguments, void* results);
void wl_barrier_of_all(void* warp, uint32_t pc, uint32_t barrier);
uint32_t wl_barrier(void* warp, uint32_t pc, uint32_t barrier, uint32_t threads, uint32_t mask, uint32_t values,
                    uint32_t kind);
uint32_t wl_lanes_elsewhere(void* pending, uint32_t blocks);
void wl_cluster_barrier(void* warp, uint32_t pc, uint32_t waits);
/// An aligned barrier that lanes `mask` execute: `others` are missing, and pending ones may be.
void wl_divergent_barrier(void* warp, uint32_t pc, uint32_t mask, uint32_t others, void* pending, uint32_t blocks);
void wl_trap(void* warp, uint32_t pc, uint32_t mask);
/// A warp leaves the full-mask part of its code (codegen/handover.cpp); returns when it has ended.
void wl_run_masked(void* warp, void* handover);
void* wl_deoptimise_registers(void* warp, uint32_t count);
/// Brings what `kept` (codegen::KeptRegister) describes into the form of the interpreter, in place.
void wl_widen_registers(void* registers, const void* kept, uint32_t count);
/// Lanes that wait at one of `positions` take their value of a register from `values`.
void wl_waiting_lanes(void* reg, void* values, void* pending, void* positions, uint32_t count);
void wl_deoptimise(void* warp, void* registers, uint32_t position, uint32_t mask, uint32_t instr, uint32_t full_clone,
                   void* pending);
}

namespace warplens::exec {

/// All hooks with their addresses.
std::span<const codegen::HookAddress> jit_hooks();
/// Offset of the interpreter's counter words behind those of generated code.
size_t deoptimised_counter_offset(const codegen::CounterLayout& layout);

}  // namespace warplens::exec
