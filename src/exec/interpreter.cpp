// SPDX-License-Identifier: Apache-2.0
// The reference interpreter: every instruction by its row's plain C++ reference, every access counted by the slow
// rules. It is what generated code is compared with, what takes over where generated code gives up, and what a reader
// should understand first. Order of blocks: schedule.h. Checks: access_check.h.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "base/bits.h"
#include "base/check.h"
#include "exec/access_check.h"
#include "exec/device_calls.h"
#include "exec/emit_events.h"
#include "exec/executor.h"
#include "exec/lane_memory.h"
#include "exec/program.h"
#include "exec/schedule.h"
#include "exec/special_registers.h"
#include "memory/coalescer.h"

namespace warplens::exec {
namespace {

using events::Space;
using ptx::Role;
using Lanes = std::array<uint64_t, 32>;

constexpr size_t kSiteWords = sizeof(events::SiteCounts) / sizeof(uint64_t);
constexpr size_t kBlockWords = sizeof(events::BlockCounts) / sizeof(uint64_t);

Space event_space(ptx::Space space) {
  switch (space) {
    case ptx::Space::kShared: return Space::kShared;
    case ptx::Space::kSharedCluster: return Space::kSharedCluster;
    case ptx::Space::kLocal: return Space::kLocal;
    case ptx::Space::kConst: return Space::kConst;
    case ptx::Space::kParam: return Space::kParam;
    default: return Space::kGlobal;
  }
}

/// One warp's registers and where its lanes are. Kept by its WarpContext, so that a warp that is abandoned in the
/// middle leaks nothing: nothing on its stack owns memory.
class Warp {
 public:
  explicit Warp(const LoadedKernel& kernel)
      : kernel_(kernel),
        program_(*kernel.program),
        schedule_(program_.plan),
        registers_(program_.registers),
        call_frames_(size_t{kernel.call_frame_bytes} * 32),
        in_(program_.most_sources + 1),
        out_(program_.most_destinations + 1),
        lane_in_(in_.size()),
        lane_out_(out_.size()) {}

  const LoadedKernel& kernel() const { return kernel_; }
  void run(WarpContext& context, uint64_t* words);
  void resume(WarpContext& context, uint64_t* words, const uint64_t* registers, uint32_t position, uint32_t mask,
              uint32_t instr, const uint32_t* waiting);

 private:
  void run_scheduled();
  void run_block(uint32_t first_instr);
  /// False: the block ends behind this instruction, and all lanes know where they go.
  bool execute(uint32_t pc, uint32_t& active);
  void count_block();

  uint64_t source(const Source& s, unsigned lane) const;
  void set(const Destination& d, unsigned lane, uint64_t value);
  uint32_t guarded(const Operation& op, uint32_t active) const;

  void value(const Operation& op, uint32_t lanes);
  void warp_wide(const Operation& op, uint32_t lanes);
  void memory(const Operation& op, uint32_t pc, uint32_t lanes);
  void access_lane(const Operation& op, unsigned lane, Space space, uint64_t address);
  void parameter_access(const Operation& op, uint32_t pc, uint32_t lanes);
  void prepare_access(const Operation& op, uint32_t pc, uint32_t lanes, Space space, const Lanes& address);
  void branch(const Operation& op, uint32_t taken);
  void barrier(const Operation& op, uint32_t pc, uint32_t lanes);
  void call(const Operation& op, uint32_t pc, uint32_t lanes);
  uint64_t argument_bits(const ptx::Operand& argument, const Source& s, unsigned lane) const;
  void go(uint32_t position, uint32_t lanes) {
    if (position != ptx::kNoIndex) schedule_.go(position, lanes);  // else these lanes have ended
  }

  const LoadedKernel& kernel_;
  const Program& program_;
  Schedule schedule_;
  WarpContext* context_ = nullptr;
  uint64_t* words_ = nullptr;
  uint32_t interest_ = 0;
  std::vector<Lanes> registers_;
  std::vector<uint8_t> call_frames_;  // lane by lane
  std::vector<Lanes> in_, out_;
  std::vector<uint64_t> lane_in_, lane_out_;
  Lanes address_{};
};

void Warp::run(WarpContext& context, uint64_t* words) {
  context_ = &context;
  words_ = words;
  interest_ = context.launch->interest;
  // Registers that were never written read as 0, which makes runs repeatable.
  for (Lanes& r : registers_) r.fill(0);
  schedule_.start(context.entry_mask);
  run_scheduled();
}

void Warp::resume(WarpContext& context, uint64_t* words, const uint64_t* registers, uint32_t position, uint32_t mask,
                  uint32_t instr, const uint32_t* waiting) {
  context_ = &context;
  words_ = words;
  interest_ = context.launch->interest;
  if (!registers_.empty()) std::memcpy(registers_.data(), registers, registers_.size() * sizeof(Lanes));
  schedule_.resume(position, mask, {waiting, program_.blocks.size()});
  run_block(instr);
  run_scheduled();
}

void Warp::run_scheduled() {
  while (schedule_.next()) {
    if (context_->stop->load(std::memory_order_relaxed) != 0) abandon_warp(*context_);
    if (schedule_.take_yield()) yield_warp(*context_);
    count_block();
    run_block(program_.blocks[schedule_.position()].begin);
  }
}

void Warp::count_block() {
  const uint32_t id = program_.blocks[schedule_.position()].id;
  if (words_ != nullptr) {
    uint64_t* block = words_ + kernel_.accesses.accesses.size() * kSiteWords + id * kBlockWords;
    block[0] += 1;
    block[1] += static_cast<uint64_t>(std::popcount(schedule_.mask()));
  }
  if (interest_ & events::kBlocks) emit_block_run(*context_, id, schedule_.mask());
}

void Warp::run_block(uint32_t first_instr) {
  const Program::Block& block = program_.blocks[schedule_.position()];
  uint32_t active = schedule_.mask();
  for (uint32_t pc = first_instr; pc < block.end; ++pc)
    if (!execute(pc, active)) return;
  go(block.next, active);
}

uint32_t Warp::guarded(const Operation& op, uint32_t active) const {
  if (op.guard == ptx::kNoReg) return active;
  uint32_t lanes = 0;
  for_each_lane(active, [&](int lane) {
    const bool is_true = (registers_[op.guard][static_cast<size_t>(lane)] & 1) != 0;
    if (is_true != op.guard_negated) lanes |= uint32_t{1} << lane;
  });
  return lanes;
}

bool Warp::execute(uint32_t pc, uint32_t& active) {
  const Operation& op = program_.operations[pc];
  const uint32_t lanes = guarded(op, active);
  if (lanes == 0) return true;
  switch (op.role) {
    case Role::kValue: value(op, lanes); break;
    case Role::kWarp: warp_wide(op, lanes); break;
    case Role::kLoad:
    case Role::kStore:
    case Role::kAtomic:
    case Role::kReduction: memory(op, pc, lanes); break;
    case Role::kBranch:
    case Role::kBranchIndexed:
      branch(op, lanes);
      active &= ~lanes;
      return active != 0;
    case Role::kReturn:
    case Role::kExit: active &= ~lanes; return active != 0;
    case Role::kCall: call(op, pc, lanes); break;
    case Role::kBarrier: barrier(op, pc, lanes); break;
    case Role::kFence: std::atomic_thread_fence(std::memory_order_seq_cst); break;
    case Role::kWarpBarrier:  // lanes of a warp never overtake each other within an instruction
    case Role::kNoEffect: break;
    case Role::kClusterBarrier: WL_CHECK(false, "refused when the kernel is loaded");
    case Role::kTrap: {
      context_->launch->fail([&] {
        events::Finding f =
            finding_at(*context_, events::FindingKind::kTrap, pc, static_cast<unsigned>(std::countr_zero(lanes)));
        f.message = "executes a trap instruction";
        return f;
      }());
      abandon_warp(*context_);
    }
  }
  return true;
}

uint64_t Warp::source(const Source& s, unsigned lane) const {
  switch (s.kind) {
    case Source::Kind::kRegister: return registers_[s.reg][lane] & s.mask;
    case Source::Kind::kNegated: return (registers_[s.reg][lane] & 1) ^ 1;
    case Source::Kind::kConstant: return s.constant & s.mask;
    case Source::Kind::kSpecial: return special_register(*context_, s.special, s.reg, lane) & s.mask;
  }
  return 0;
}

void Warp::set(const Destination& d, unsigned lane, uint64_t value) {
  if (d.reg == ptx::kNoReg) return;
  value &= low_bits(d.bits);
  if (d.sign_extends) value = static_cast<uint64_t>(static_cast<int64_t>(value << (64 - d.bits)) >> (64 - d.bits));
  registers_[d.reg][lane] = value & low_bits(d.register_bits);
}

void Warp::value(const Operation& op, uint32_t lanes) {
  const ptx::Windows windows{context_->shared_window, context_->local_window, context_->global_begin};
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<unsigned>(l);
    for (uint32_t i = 0; i < op.sources; ++i) lane_in_[i] = source(program_.sources[op.first_source + i], lane);
    op.instr->def->reference.lane(
        {*op.instr, {lane_in_.data(), op.sources}, {lane_out_.data(), op.destinations}, windows});
    for (uint32_t i = 0; i < op.destinations; ++i)
      set(program_.destinations[op.first_destination + i], lane, lane_out_[i]);
  });
}

void Warp::warp_wide(const Operation& op, uint32_t lanes) {
  for (uint32_t i = 0; i < op.sources; ++i)
    for (unsigned lane = 0; lane < 32; ++lane) in_[i][lane] = source(program_.sources[op.first_source + i], lane);
  op.instr->def->reference.warp({*op.instr, lanes, {in_.data(), op.sources}, {out_.data(), op.destinations}});
  for (uint32_t i = 0; i < op.destinations; ++i)
    for_each_lane(lanes, [&](int lane) {
      set(program_.destinations[op.first_destination + i], static_cast<unsigned>(lane),
          out_[i][static_cast<size_t>(lane)]);
    });
}

// --- memory

/// Checks, then reports and counts, one space's lanes of an access.
void Warp::prepare_access(const Operation& op, uint32_t pc, uint32_t lanes, Space space, const Lanes& address) {
  CheckedAccess checked;
  checked.pc = pc;
  checked.site = op.site;
  checked.mask = lanes;
  checked.bytes = unsigned{op.element_bytes} * op.elements;
  checked.space = space;
  checked.access = kernel_.info.sites[op.site].access;
  checked.address = &address;
  check_access(*context_, checked);
}

void Warp::memory(const Operation& op, uint32_t pc, uint32_t lanes) {
  const Address& a = op.address;
  for_each_lane(lanes, [&](int lane) {
    const auto l = static_cast<size_t>(lane);
    address_[l] = a.constant + (a.reg == ptx::kNoReg ? 0 : registers_[a.reg][l]);
    if (a.narrow) address_[l] &= 0xffffffff;
  });
  if (op.space == ptx::Space::kParam) return parameter_access(op, pc, lanes);
  std::array<std::pair<Space, uint32_t>, 3> parts{};
  size_t count = 0;
  if (op.space == ptx::Space::kGeneric) {
    const ResolvedLanes r = resolve_generic(*context_, lanes, address_);
    if (r.global != 0) parts[count++] = {Space::kGlobal, r.global};
    if (r.shared != 0) parts[count++] = {Space::kShared, r.shared};
    if (r.local != 0) parts[count++] = {Space::kLocal, r.local};
  } else {
    parts[count++] = {event_space(op.space), lanes};
  }
  for (size_t i = 0; i < count; ++i) prepare_access(op, pc, parts[i].second, parts[i].first, address_);
  for (size_t i = 0; i < count; ++i) {
    const auto [space, part] = parts[i];
    if (words_ != nullptr) {
      events::SiteCounts counts;
      memory::count_access(counts, {op.site, part, context_->block, context_->warp, space, &address_},
                           kernel_.info.sites[op.site]);
      std::array<uint64_t, kSiteWords> added;
      std::memcpy(added.data(), &counts, sizeof counts);
      for (size_t k = 0; k < kSiteWords; ++k) words_[op.site * kSiteWords + k] += added[k];
    }
    if (interest_ & events::kAccesses) emit_access(*context_, op.site, part, space, address_);
  }
  for_each_lane(lanes, [&](int lane) {
    Space space = parts[0].first;
    for (size_t i = 1; i < count; ++i)
      if (parts[i].second >> lane & 1) space = parts[i].first;
    access_lane(op, static_cast<unsigned>(lane), space, address_[static_cast<size_t>(lane)]);
  });
}

void Warp::access_lane(const Operation& op, unsigned lane, Space space, uint64_t address) {
  const LaneMemory memory(*context_, lane);
  const Source* sources = program_.sources.data() + op.first_source;
  const Destination* destinations = program_.destinations.data() + op.first_destination;
  for (unsigned e = 0; e < op.elements; ++e) {
    const uint64_t at = address + e * op.element_bytes;
    switch (op.role) {
      case Role::kLoad:
        // The register of the address may be one of the destinations: all addresses were computed before.
        set(destinations[e], lane, memory.read(space, at, op.element_bytes));
        break;
      case Role::kStore: memory.write(space, at, op.element_bytes, source(sources[e], lane)); break;
      default: {
        const uint64_t second = op.elements == 1 && op.sources > 1 ? source(sources[1], lane) : 0;
        const uint64_t old = memory.update(space, at, op.element_bytes, *op.instr, source(sources[e], lane), second);
        if (op.role == Role::kAtomic) set(destinations[e], lane, old);
      }
    }
  }
}

/// ld.param of the kernel's parameters, and both directions for arguments and results of calls.
void Warp::parameter_access(const Operation& op, uint32_t pc, uint32_t lanes) {
  const unsigned bytes = unsigned{op.element_bytes} * op.elements;
  const uint64_t size = op.call_frame ? kernel_.call_frame_bytes : kernel_.function->param_bytes;
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<unsigned>(l);
    const uint64_t offset = address_[lane];
    if (offset > size || bytes > size - offset || (!op.call_frame && op.role == Role::kStore)) {
      context_->launch->fail([&] {
        events::Finding f = finding_at(*context_, events::FindingKind::kOutOfBounds, pc, lane);
        f.address = offset;
        f.bytes = bytes;
        f.message = fmt::format("accesses {} bytes at offset {} of {} bytes of parameters", bytes, offset, size);
        return f;
      }());
      abandon_warp(*context_);
    }
    for (unsigned e = 0; e < op.elements; ++e) {
      const uint64_t at = offset + e * op.element_bytes;
      uint64_t value = 0;
      if (op.role == Role::kStore) {
        value = source(program_.sources[op.first_source + e], lane);
        std::memcpy(call_frames_.data() + lane * size + at, &value, op.element_bytes);
      } else {
        std::memcpy(&value, op.call_frame ? call_frames_.data() + lane * size + at : context_->params + at,
                    op.element_bytes);
        set(program_.destinations[op.first_destination + e], lane, value);
      }
    }
  });
}

// --- control

void Warp::branch(const Operation& op, uint32_t taken) {
  if (op.role == Role::kBranch) return go(op.target, taken);
  for_each_lane(taken, [&](int lane) {
    const uint64_t index = source(program_.sources[op.first_source], static_cast<unsigned>(lane));
    // The manual leaves an index beyond the table undefined; the lane ends here.
    if (index < op.targets.size()) go(op.targets[index], uint32_t{1} << lane);
  });
}

void Warp::barrier(const Operation& op, uint32_t pc, uint32_t lanes) {
  // Sources: barrier, then the number of threads if written; the predicate of a reduction wherever it stands.
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  uint32_t number[2] = {0, 0}, values = 0;
  size_t numbers = 0;
  for (size_t k = 0, s = 0; k < op.instr->operands.size(); ++k) {
    const ptx::OperandForm& form = op.instr->def->form.operands[k];
    if (form.is_dest) continue;
    const Source& src = program_.sources[op.first_source + s++];
    if (op.instr->operands[k].type == ptx::Type::kPred) {
      for_each_lane(lanes, [&](int lane) {
        values |= static_cast<uint32_t>(source(src, static_cast<unsigned>(lane)) & 1) << lane;
      });
    } else if (numbers < 2) {
      number[numbers++] = static_cast<uint32_t>(source(src, first));
    }
  }
  if (number[0] >= 16) {
    context_->launch->fail([&] {
      events::Finding f = finding_at(*context_, events::FindingKind::kUnsupported, pc, first);
      f.message = fmt::format("uses barrier {}; there are barriers 0 to 15", number[0]);
      return f;
    }());
    abandon_warp(*context_);
  }
  if (interest_ & events::kBarriers) emit_barrier(*context_, pc, number[0], lanes);
  context_->waiting_pc = pc;
  if (op.destinations == 0) return wait_at_barrier(*context_, number[0], number[1], lanes, op.instr->has("arrive"));
  const int how = op.instr->has("popc") ? 0 : op.instr->has("and") ? 1 : 2;
  const uint32_t result = wait_at_barrier_reduce(*context_, number[0], number[1], lanes, values, how);
  for_each_lane(
      lanes, [&](int lane) { set(program_.destinations[op.first_destination], static_cast<unsigned>(lane), result); });
}

uint64_t Warp::argument_bits(const ptx::Operand& argument, const Source& s, unsigned lane) const {
  if (argument.tag != ptx::OperandTag::kSymbol) return source(s, lane);
  uint64_t bits = 0;
  const ptx::Variable& v = kernel_.function->variables[argument.symbol.index];
  std::memcpy(&bits, call_frames_.data() + size_t{lane} * kernel_.call_frame_bytes + s.constant,
              std::min<uint64_t>(v.bytes, sizeof bits));
  return bits;
}

void Warp::call(const Operation& op, uint32_t pc, uint32_t lanes) {
  const ptx::Instr& in = *op.instr;
  const DeviceFunction& callee = program_.callees[op.callee];
  std::array<uint64_t, kMostCallParameters> arguments{}, results{};
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<unsigned>(l);
    const size_t count = in.args.size() - in.returns;
    const uint32_t first = op.first_source + op.sources - static_cast<uint32_t>(count);
    for (size_t k = 0; k < count; ++k)
      arguments[k] = argument_bits(in.args[in.returns + k], program_.sources[first + k], lane);
    results.fill(0);
    call_function(*context_, callee, pc, lane, {arguments.data(), count}, {results.data(), in.returns});
    // Results in registers are the last destinations, as arguments are the last sources.
    auto destination =
        op.first_destination + op.destinations -
        static_cast<uint32_t>(std::count_if(in.args.begin(), in.args.begin() + in.returns,
                                            [](const ptx::Operand& r) { return r.tag == ptx::OperandTag::kReg; }));
    for (uint32_t k = 0; k < in.returns; ++k) {
      const ptx::Operand& r = in.args[k];
      if (r.tag == ptx::OperandTag::kReg) {
        set(program_.destinations[destination++], lane, results[k]);
      } else if (r.tag == ptx::OperandTag::kSymbol) {
        const ptx::Variable& v = kernel_.function->variables[r.symbol.index];
        std::memcpy(
            call_frames_.data() + size_t{lane} * kernel_.call_frame_bytes + kernel_.variable_offsets[r.symbol.index],
            &results[k], std::min<uint64_t>(v.bytes, 8));
      }
    }
  });
}

/// The warp's interpreter, made at its first use.
Warp& warp_of(WarpContext& context) {
  const LoadedKernel& kernel = *context.launch->request->kernel;
  if (context.executor_state == nullptr) {
    context.executor_state = new Warp(kernel);
    context.free_executor_state = [](void* state) { delete static_cast<Warp*>(state); };
  }
  return *static_cast<Warp*>(context.executor_state);
}

class Interpreter : public Executor {
 public:
  const char* name() const override { return "interpreter"; }
  Status prepare(LaunchState&) override { return Done{}; }
  uint64_t stack_bytes(const LaunchState&) const override { return 192 << 10; }
  void run_warp(LaunchState& launch, WarpContext& warp) override {
    warp_of(warp).run(warp, launch.request->count ? warp.counters : nullptr);
  }
  size_t counter_words(const LaunchState& launch) const override {
    return interpreter_counter_words(*launch.request->kernel);
  }
  void collect(LaunchState& launch, const std::vector<uint64_t>& words, events::LaunchCounts& out) override {
    if (launch.request->count) add_interpreter_counts(*launch.request->kernel, words.data(), out);
  }
};

}  // namespace

std::unique_ptr<Executor> make_interpreter() { return std::make_unique<Interpreter>(); }

void interpret_from(LaunchState&, WarpContext& warp, const uint64_t* registers, uint32_t position, uint32_t mask,
                    uint32_t instr, const uint32_t* waiting, uint64_t* words) {
  warp_of(warp).resume(warp, words, registers, position, mask, instr, waiting);
}

size_t interpreter_counter_words(const LoadedKernel& kernel) {
  return kernel.accesses.accesses.size() * kSiteWords + kernel.graph.blocks.size() * kBlockWords;
}

void add_interpreter_counts(const LoadedKernel& kernel, const uint64_t* words, events::LaunchCounts& out) {
  const size_t sites = kernel.accesses.accesses.size(), blocks = kernel.graph.blocks.size();
  out.sites.resize(sites);
  out.blocks.resize(blocks);
  for (size_t i = 0; i < sites; ++i) {
    events::SiteCounts c;
    std::memcpy(static_cast<void*>(&c), words + i * kSiteWords, sizeof c);
    out.sites[i] += c;
  }
  for (size_t i = 0; i < blocks; ++i) {
    events::BlockCounts c;
    std::memcpy(static_cast<void*>(&c), words + sites * kSiteWords + i * kBlockWords, sizeof c);
    out.blocks[i] += c;
  }
}

}  // namespace warplens::exec
