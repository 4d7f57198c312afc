// SPDX-License-Identifier: Apache-2.0
#include "exec/jit_hooks.h"

#include <array>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/spin_loops.h"
#include "base/bits.h"
#include "codegen/rounded_op.h"
#include "exec/access_check.h"
#include "exec/device_calls.h"
#include "exec/emit_events.h"
#include "exec/executor.h"
#include "exec/jit_memory_hooks.h"
#include "exec/jit_prepared.h"
#include "exec/program.h"
#include "exec/special_registers.h"

namespace warplens::exec {
namespace {

using Lanes = std::array<uint64_t, 32>;

WarpContext& context(void* warp) { return *static_cast<WarpContext*>(warp); }

const codegen::HookAddress kHooks[] = {
#define HOOK(name, ...) {#name, reinterpret_cast<void*>(&name)},
#include "codegen/runtime_hooks.def"
#undef HOOK
};

struct OperandCount {
  size_t in = 0, out = 0;
};
/// Scalar sources and destinations of a reference, as call_reference of the code generator lays them out.
OperandCount count_operands(const ptx::Instr& in) {
  OperandCount n;
  for (size_t i = 0; i < in.operands.size(); ++i) {
    const ptx::Operand& o = in.operands[i];
    if (o.tag == ptx::OperandTag::kAddress) continue;
    (in.def->form.operands[i].is_dest ? n.out : n.in) += o.tag == ptx::OperandTag::kVector ? o.count : 1;
  }
  return n;
}

template <typename T>
T rounded_value(codegen::RoundedOp op, T a, T b, T c) {
  switch (op) {
    case codegen::RoundedOp::kAdd: return a + b;
    case codegen::RoundedOp::kSub: return a - b;
    case codegen::RoundedOp::kMul: return a * b;
    case codegen::RoundedOp::kDiv: return a / b;
    case codegen::RoundedOp::kFma: return std::fma(a, b, c);
    case codegen::RoundedOp::kSqrt: return std::sqrt(a);
    default: return a;
  }
}

template <typename T, typename Bits>
void rounded_lanes(codegen::RoundedOp op, const Lanes* in, Lanes& out) {
  for (size_t l = 0; l < 32; ++l) {
    // volatile: the compiler must not move the arithmetic out of the rounding mode it is done in.
    volatile T a = std::bit_cast<T>(static_cast<Bits>(in[0][l])), b = std::bit_cast<T>(static_cast<Bits>(in[1][l])),
               c = std::bit_cast<T>(static_cast<Bits>(in[2][l]));
    volatile T r = 0;
    if (op == codegen::RoundedOp::kFromSigned)
      r = static_cast<T>(static_cast<int64_t>(in[0][l]));
    else if (op == codegen::RoundedOp::kFromUnsigned)
      r = static_cast<T>(in[0][l]);
    else
      r = rounded_value<T>(op, a, b, c);
    out[l] = std::bit_cast<Bits>(T{r});
  }
}

analysis::SpinWords spin_words(const SchedulePlan& plan) {
  return {plan.positions, static_cast<uint32_t>(plan.loops.size())};
}

/// Whether a lane waits outside of the loop at whose end the walk is; as Schedule does, where lanes that have taken an
/// outer loop's back edge wait for its header here.
bool anyone_outside(const SchedulePlan& plan, const SchedulePlan::LoopRange& range, const uint32_t* words) {
  for (uint32_t p = 0; p < plan.positions; ++p)
    if ((p < range.first || p >= range.last) && words[p] != 0 && !plan.stops_at_barrier[p]) return true;
  const analysis::SpinWords at = spin_words(plan);
  for (uint32_t i = 0; i < at.loops; ++i) {
    const bool inside = plan.loops[i].first >= range.first && plan.loops[i].last <= range.last;
    if (!inside && words[at.parked(i)] != 0) return true;
  }
  return false;
}

}  // namespace

std::span<const codegen::HookAddress> jit_hooks() { return kHooks; }

size_t deoptimised_counter_offset(const codegen::CounterLayout& layout) { return layout.words(); }

}  // namespace warplens::exec

using namespace warplens;        // NOLINT: the hooks below are C functions
using namespace warplens::exec;  // NOLINT

void wl_reference(void* warp, uint32_t pc, uint32_t mask, void* inputs, void* outputs) {
  const WarpContext& w = context(warp);
  const ptx::Instr& in = w.launch->request->kernel->function->body[pc];
  const auto [sources, destinations] = count_operands(in);
  auto* from = static_cast<const Lanes*>(inputs);
  auto* to = static_cast<Lanes*>(outputs);
  const ptx::Reference& reference = in.def->reference;
  if (reference.lane == nullptr) {
    reference.warp({in, mask, {from, sources}, {to, destinations}});
    return;
  }
  const ptx::Windows windows{w.shared_window, w.local_window, w.global_begin, w.cluster_rank};
  std::array<uint64_t, 24> lane_in, lane_out;
  for_each_lane(mask, [&](int l) {
    const auto lane = static_cast<size_t>(l);
    for (size_t i = 0; i < sources; ++i) lane_in[i] = from[i][lane];
    reference.lane({in, {lane_in.data(), sources}, {lane_out.data(), destinations}, windows});
    for (size_t i = 0; i < destinations; ++i) to[i][lane] = lane_out[i];
  });
}

void wl_rounded(uint32_t operation, uint32_t rounding, void* inputs, void* output) {
  constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};  // codegen::Rounding's order
  const int before = std::fegetround();
  std::fesetround(kModes[rounding & 3]);
  const auto op = static_cast<codegen::RoundedOp>(operation & 255);
  const auto* in = static_cast<const Lanes*>(inputs);
  auto& out = *static_cast<Lanes*>(output);
  if (operation & 256)
    rounded_lanes<double, uint64_t>(op, in, out);
  else
    rounded_lanes<float, uint32_t>(op, in, out);
  std::fesetround(before);
}

uint64_t wl_special_register(void* warp, uint32_t which, uint32_t index) {
  return special_register(context(warp), static_cast<ptx::SpecialReg>(which), index, 0);
}

void wl_block_run(void* warp, uint32_t block, uint32_t mask) {
  WarpContext& w = context(warp);
  if (w.launch->interest & events::kBlocks) emit_block_run(w, block, mask);
}

void wl_yield(void* warp) { yield_warp(context(warp)); }

uint32_t wl_spin_round(void* warp, void* waiting, uint32_t loop) {
  auto* const words = static_cast<uint32_t*>(waiting);
  const SchedulePlan& plan = context(warp).launch->request->kernel->program->plan;
  const analysis::SpinWords at = spin_words(plan);
  SpinCount count{words[at.rounds(loop)], words[at.turns(loop)]};
  bool yields = words[at.yields()] != 0;
  const bool goes = count.go_round(anyone_outside(plan, plan.loops[loop], words), yields);
  words[at.rounds(loop)] = count.rounds;
  words[at.turns(loop)] = count.turns;
  words[at.yields()] = yields;
  if (!goes) words[at.parked(loop)] |= std::exchange(words[plan.loops[loop].first], 0);
  return goes;
}

uint32_t wl_walk_again(void* warp, void* waiting) {
  auto* const words = static_cast<uint32_t*>(waiting);
  const SchedulePlan& plan = context(warp).launch->request->kernel->program->plan;
  const analysis::SpinWords at = spin_words(plan);
  uint32_t parked = 0;
  for (uint32_t i = 0; i < at.loops; ++i) {
    parked |= words[at.parked(i)];
    words[plan.loops[i].first] |= std::exchange(words[at.parked(i)], 0);
  }
  if (parked != 0) words[at.yields()] = 1;
  return parked;
}

void wl_abandon(void* warp) { abandon_warp(context(warp)); }

void wl_call(void* warp, uint32_t pc, uint32_t mask, void* arguments, void* results) {
  WarpContext& w = context(warp);
  const Program& program = *w.launch->request->kernel->program;
  const Operation& op = program.operations[pc];
  const ptx::Instr& in = *op.instr;
  const DeviceFunction& callee = program.callees[op.callee];
  const size_t count = in.args.size() - in.returns;
  auto* from = static_cast<const Lanes*>(arguments);
  auto* to = static_cast<Lanes*>(results);
  std::array<uint64_t, kMostCallParameters> lane_arguments{}, lane_results{};
  for_each_lane(mask, [&](int l) {
    const auto lane = static_cast<size_t>(l);
    for (size_t k = 0; k < count; ++k) lane_arguments[k] = from[k][lane];
    lane_results.fill(0);
    call_function(w, callee, pc, static_cast<unsigned>(l), {lane_arguments.data(), count},
                  {lane_results.data(), in.returns});
    for (size_t k = 0; k < in.returns; ++k) to[k][lane] = lane_results[k];
  });
}

uint32_t wl_barrier(void* warp, uint32_t pc, uint32_t barrier, uint32_t threads, uint32_t mask, uint32_t values,
                    uint32_t kind) {
  WarpContext& w = context(warp);
  if (barrier >= 16) {
    const auto first = static_cast<unsigned>(std::countr_zero(mask));
    events::Finding f = finding_at(w, events::FindingKind::kUnsupported, pc, first);
    f.message = fmt::format("uses barrier {}; there are barriers 0 to 15", barrier);
    fail_warp(w, std::move(f));
  }
  if (w.launch->interest & events::kBarriers) emit_barrier(w, pc, barrier, mask);
  w.waiting_pc = pc;
  if (kind < 3) return wait_at_barrier_reduce(w, barrier, threads, mask, values, static_cast<int>(kind));
  wait_at_barrier(w, barrier, threads, mask, kind == 4);
  return 0;
}

void wl_barrier_of_all(void* warp, uint32_t pc, uint32_t barrier) {
  WarpContext& w = context(warp);
  w.waiting_pc = pc;
  wait_for_block(w, barrier);
}

uint32_t wl_lanes_elsewhere(void* pending, uint32_t blocks) {
  uint32_t lanes = 0;
  for (uint32_t i = 0; i < blocks; ++i) lanes |= static_cast<const uint32_t*>(pending)[i];
  return lanes;
}

void wl_cluster_barrier(void* warp, uint32_t pc, uint32_t waits) {
  WarpContext& w = context(warp);
  w.waiting_pc = pc;
  if (waits != 0)
    wait_at_cluster_barrier(w);
  else
    arrive_at_cluster_barrier(w);
}

void wl_divergent_barrier(void* warp, uint32_t pc, uint32_t mask, uint32_t others, void* pending, uint32_t blocks) {
  WarpContext& w = context(warp);
  const Program& program = *w.launch->request->kernel->program;
  const auto* const words = static_cast<const uint32_t*>(pending);
  for (uint32_t i = 0; i < blocks; ++i) {
    // Behind the lanes that wait by position: those parked in a loop.
    const uint32_t positions = program.plan.positions;
    if (words[i] != 0 && program.missing(pc, i < positions ? i : program.plan.loops[i - positions].first))
      others |= words[i];
  }
  if (others != 0) remark_divergent_barrier(w, pc, mask, others);
}

void wl_trap(void* warp, uint32_t pc, uint32_t mask) {
  WarpContext& w = context(warp);
  events::Finding f = finding_at(w, events::FindingKind::kTrap, pc, static_cast<unsigned>(std::countr_zero(mask)));
  f.message = "executes a trap instruction";
  fail_warp(w, std::move(f));
}

void wl_run_masked(void* warp, void* handover) {
  WarpContext& w = context(warp);
  w.code->run_parted(w, handover);
}
